"""The reports at sizes that show nothing but that they work, and the page that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from benchmarks import reports
from benchmarks.record import Record, read, write
from benchmarks.report import Bars, Plot, Report, Statement, Table, markdown, statements_table
from benchmarks.scale import Scale

TINY = Scale(
    command="tiny",
    queries=(5, 10),
    limit=0.2,
    patience=1,
    rounds=1,
    items=40,
    patterns=20,
    subscriptions=40,
)

QUICKEST = (
    "figure_6_08",
    "figure_6_11",
    "figure_6_15",
    "figure_6_16",
    "feed_rates",
    "stage_one_items",
    "personalised",
    "adversarial",
)


@pytest.mark.parametrize("name", QUICKEST)
def test_a_report(name: str) -> None:
    report = reports.run(name, TINY)
    assert report.name == name
    assert report.tables[0].rows
    assert markdown(report).startswith(f"## {report.title}\n")
    assert {type(statement.holds) for statement in report.statements} <= {bool, type(None)}


def test_there_is_a_module_for_each_name() -> None:
    folder = Path(reports.__file__).parent
    assert sorted(reports.NAMES) == sorted(
        file.stem for file in folder.glob("*.py") if file.stem != "__init__"
    )


SOME = Report(
    "some",
    "Some figure",
    "What was measured.",
    (Table(("way", "n", "s"), (("a|b", 1_000, 0.01234), ("c", 2, None))),),
    (
        Plot("n", "seconds", {"a": [(1, 0.1), (10, 1.0)], "none": []}, log_x=True),
        Bars("seconds", {"a": 1.0, "b": 0.5}),
    ),
    (Statement("6.6", "it is so", True, "2 times"), Statement("6.6", "or so", None, "—")),
)


def test_markdown() -> None:
    assert markdown(SOME).splitlines() == [
        "## Some figure",
        "",
        "What was measured.",
        "",
        "| way | n | s |",
        "| --- | --- | --- |",
        "| a\\|b | 1,000 | 0.0123 |",
        "| c | 2 | — |",
        "",
        "![Some figure](benchmarks/some.svg)",
        "",
        "![Some figure](benchmarks/some_2.svg)",
    ]
    assert statements_table(SOME.statements).splitlines() == [
        "| where | statement | here | measured |",
        "| --- | --- | --- | --- |",
        "| 6.6 | it is so | holds | 2 times |",
        "| 6.6 | or so | not measured | — |",
    ]


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="cell for each column"):
        Table(("a", "b"), (("c",),))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Record(SOME, "make bench", "a machine", 0.5)
    write(written, tmp_path)
    assert read(["none", "some"], tmp_path) == [written]


def test_the_page_and_its_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks import page

    page.write([Record(SOME, "make bench-quick", "a machine", 0.5)], tmp_path)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "- `make bench-quick` on a machine, with a load of up to 0.5: all figures" in text
    plots = [tmp_path / "benchmarks" / f"{name}.svg" for name in ("some", "some_2")]
    for file in plots:
        assert etree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    first = [file.read_bytes() for file in plots]
    page.write([Record(SOME, "make bench", "another", 1.5)], tmp_path)
    assert [file.read_bytes() for file in plots] == first
