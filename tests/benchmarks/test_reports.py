"""The reports at sizes that show nothing but that they work, and the page that they make."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from benchmarks import guard, reports
from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.sequential import Sequential
from benchmarks.baselines.view_cache import ViewCache
from benchmarks.record import Record, read, write
from benchmarks.report import Bars, Plot, Report, Statement, Table, markdown, statements_table
from benchmarks.reports import growth
from benchmarks.scale import FULL, QUICK, Scale
from benchmarks.users import by_hand, inputs, turns, worker
from datasets import ITEM, feed_stream, query_text, random_joins
from tests.drawn import seeded, times

TINY = Scale(
    command="tiny",
    queries=(5, 10),
    limit=0.05,
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
    "stage_one_items",
    "personalised",
    "pattern_speed",
    "automata",
    "automata_levels",
    "automata_ignorable",
    "adversarial",
    "durability",
    "sase_stacks",
    "sase_joins",
    "sase_tests",
    "sase_plus",
    *reports.EVENTS,
    *reports.NEXT,
)


@pytest.mark.drawn
def test_some_reports() -> None:
    """All of them with `make fuzz`."""
    for name in seeded("reports").sample(QUICKEST, min(len(QUICKEST), times(5))):
        print(name)
        report = reports.run(name, TINY)
        assert report.name == name
        assert report.tables[0].rows
        assert markdown(report).startswith(f"## {report.title}\n")
        assert {type(statement.holds) for statement in report.statements} <= {bool, type(None)}


def test_another_checkout_takes_its_turns() -> None:
    here = str(Path(reports.__file__).parents[2])
    report = reports.run("user_table", replace(TINY, rows="import", against=here))
    (row,) = report.tables[0].rows
    cells = dict(zip(report.tables[0].columns, row, strict=True))
    assert all(cells[way] for way in ("by hand", "XSCL", "times by hand", "then", "then : now"))


def test_a_worker_that_fails_stops_the_run(tmp_path: Path) -> None:
    failing = turns.Worker(turns.HERE, "no such work", tmp_path)
    with pytest.raises(RuntimeError, match="ended with 1"):
        failing()
    failing.close()


@pytest.mark.parametrize(
    "work", ["load", "total", "groups", "plain", "alone", "durable", "delayed"]
)
def test_a_worker_finds_what_the_join_by_hand_does(work: str, tmp_path: Path) -> None:
    documents = list(feed_stream(60))
    joins = random_joins(ITEM, 40, window=None)
    folder = inputs.write(tmp_path / "input", documents, query_text(ITEM, joins))
    hand = by_hand.loaded(folder) if work == "load" else by_hand.batches(documents, joins)
    _, matches, p99 = worker.WORK[work](folder)
    assert matches == hand.matches
    assert (p99 is not None) == (work in ("alone", "durable", "delayed"))


@pytest.mark.parametrize(
    ("name", "baseline", "way"),
    [
        ("figure_6_08", Sequential, "evaluate"),
        ("figure_6_08", MMQJP, "evaluate"),
        ("figure_6_14", MMQJP, "evaluate"),
        ("figure_6_15", MMQJP, "evaluate"),
        ("figure_6_16", Sequential, "evaluate"),
        ("figure_6_16", ViewCache, "process"),
    ],
)
def test_a_way_that_finds_something_else_stops_the_run(
    name: str, baseline: type, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the ways finds one match too many."""
    truly = getattr(baseline, way)

    def stray(*arguments: object) -> Counter[str]:
        results = Counter(truly(*arguments))
        return results + Counter({min(results, default="q1"): 1})

    monkeypatch.setattr(baseline, way, stray)
    with pytest.raises(AssertionError, match="matches"):
        reports.run(name, TINY)


def test_a_run_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "BATCH", 10)
    report = growth.run(replace(TINY, limit=0))
    table = report.tables[-1]
    assert {row[table.columns.index("items met")] for row in table.rows} == {"10 of 40"}
    assert "No batch begins when 0 s have gone" in report.text


def test_the_guard_sees_a_row_that_became_slow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ("what a user does", "times by hand")
    rows = (("load", 2.0), ("batches", 4.1), ("new", 9.0), ("not by hand", None))
    table = replace(SOME, tables=(Table(columns, rows),))
    monkeypatch.setattr(guard, "RECORD", tmp_path / "guard.json")
    guard.RECORD.write_text('{"load": 1.5, "batches": 2, "gone": 1}')
    assert not guard.check(table)
    assert capsys.readouterr().out.splitlines() == [
        "guard: batches: 4.1 times by hand; recorded are 2, at most 2 times that is allowed: "
        "EXCEEDED",
        "guard: 1 of 2 rows kept",
    ]


def test_a_limit_of_ones_own_is_part_of_the_command() -> None:
    assert FULL.with_limit(None) is FULL
    assert FULL.with_limit(20).command == "python -m benchmarks --limit 20"
    assert QUICK.with_limit(2).command == "python -m benchmarks --quick --limit 2"


def test_every_result_has_its_commit_and_date() -> None:
    for record in read(reports.NAMES, Path(__file__).parents[2] / "docs" / "benchmarks"):
        assert record.commit
        assert record.date


def test_there_is_a_module_for_each_name() -> None:
    folder = Path(reports.__file__).parent
    assert sorted(reports.NAMES) == sorted(
        file.stem for file in folder.rglob("*.py") if file.stem != "__init__"
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
    assert statements_table(zip(SOME.statements, (True, False), strict=True)).splitlines() == [
        "| where | statement | here | measured |",
        "| --- | --- | --- | --- |",
        "| 6.6 | it is so | holds, at reduced size | 2 times |",
        "| 6.6 | or so | not measured | — |",
    ]


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="cell for each column"):
        Table(("a", "b"), (("c",),))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Record(SOME, "make bench", "a machine", 0.5, "1234567", "2026-11-22", False)
    write(written, tmp_path)
    assert read(["none", "some"], tmp_path) == [written]


def test_the_page_and_its_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks import page

    record = Record(SOME, "make bench-quick", "a machine", 0.5, "1234567", "2026-11-22", True)
    page.write([record], tmp_path)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "\n- a machine\n" in text
    assert (
        "*Measured by `make bench-quick`, reduced size, at commit 1234567, on 2026-11-22, with a "
        "load of 0.5.*"
    ) in text
    assert "| holds, at reduced size |" in text
    plots = [tmp_path / "benchmarks" / f"{name}.svg" for name in ("some", "some_2")]
    for file in plots:
        assert etree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    first = [file.read_bytes() for file in plots]
    page.write([replace(record, machine="another", load=1.5)], tmp_path)
    assert [file.read_bytes() for file in plots] == first
