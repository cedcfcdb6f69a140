"""The reports at sizes that show nothing but that they work, and the page that they make."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from benchmarks import __main__ as book
from benchmarks import guard, quiet, reports
from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.sequential import Sequential
from benchmarks.baselines.view_cache import ViewCache
from benchmarks.pages import misses
from benchmarks.record import Record, read, write
from benchmarks.report import Bars, Plot, Report, Statement, Table, markdown, statements_table
from benchmarks.reports import growth
from benchmarks.scale import FULL, Scale
from benchmarks.users import by_hand, inputs, turns, worker
from datasets import ITEM, feed_stream, query_text, random_joins
from tests.drawn import seeded, times

TINY = Scale(
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
    "likeness_quality",
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
    for name in seeded("reports").sample(QUICKEST, min(len(QUICKEST), times(4))):
        print(name)
        report = reports.run(name, TINY)
        assert report.name == name
        assert report.tables[0].rows
        assert markdown(report).startswith(f"## {report.title}\n")
        assert {type(statement.holds) for statement in report.statements} <= {bool, type(None)}


@pytest.fixture
def without_archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else some 25,000 items are read for rows that are not asked for."""
    monkeypatch.setattr(inputs, "ARCHIVES", tmp_path)


@pytest.mark.usefixtures("without_archives")
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
    assert "A row stops after 0 s" in report.text


def guarded(*rows: tuple[str, float | None]) -> Report:
    table = Table(("what a user does", "times by hand"), rows)
    return Report("user_table", "What users do", "", (table,))


def test_the_guard_sees_a_row_that_became_slow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guard, "RECORD", tmp_path / "guard.json")
    guard.RECORD.write_text("{}")
    guard.write(guarded(("load", 1.5), ("batches", 2.0), ("gone", 1.0), ("not by hand", None)))
    now = guarded(("load", 2.0), ("batches", 3.1), ("new", 9.0), ("not by hand", None))
    assert guard.check(guarded(("load", 2.0), ("batches", 2.9)))
    assert not guard.check(now)
    assert capsys.readouterr().out.splitlines() == [
        "guard: user_table: 2 of 2 rows kept",
        "guard: batches: 3.1 times as long; recorded are 2, at most 1.5 times that is allowed: "
        "EXCEEDED",
        "guard: user_table: 1 of 2 rows kept",
    ]


@pytest.mark.parametrize(("times", "kept"), [(2.5, True), (3.5, False)])
def test_what_exceeds_the_guard_is_measured_once_more(
    times: float, kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(guard, "RECORD", tmp_path / "guard.json")
    guard.RECORD.write_text('{"user_table": {"load": 1.5, "batches": 2}}')
    asked = []

    def again(row: str) -> Report:
        asked.append(row)
        return guarded((row, times))

    assert guard.check(guarded(("load", 1.5), ("batches", 9.0)), again) is kept
    assert asked == ["batches"]


@pytest.mark.usefixtures("without_archives")
def test_the_guard_knows_each_of_its_sections() -> None:
    for name in guard.SECTIONS:
        report = reports.run(name, TINY if name != "user_table" else replace(TINY, rows="import"))
        assert guard.ratios(report)


def test_a_limit_of_ones_own() -> None:
    assert FULL.with_limit(None) is FULL
    assert FULL.with_limit(20).limit == 20


def test_other_processes_are_seen_and_ones_own_are_not() -> None:
    """A process that works counts unless it is below this one.  In a process of its own: what other
    tests have started, and what of it is somebody else's child now, is no part of it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.watching"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seen = json.loads(done.stdout)
    # They are read one after another, on a machine that has other work meanwhile.
    assert seen["others"] > seen["foreign"] / 2
    assert seen["busy"] - seen["others"] > seen["own"] / 2
    assert seen["cores"] > 0


def run_book(docs: Path, *arguments: str) -> int:
    return book.main(["--docs", str(docs), *arguments])


def test_what_is_recorded_for_this_commit_is_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    measured = []

    def shown(name: str, scale: Scale) -> Report:
        measured.append(name)
        return replace(SOME, name=name)

    monkeypatch.setattr(book, "shown", shown)
    monkeypatch.setattr(quiet, "wait", lambda report: None)
    monkeypatch.setattr(quiet, "MOST", 99.0)
    monkeypatch.setattr(book, "product_commit", lambda: "1234567")
    two = ["figure_6_08", "automata"]
    assert run_book(tmp_path, two[0]) == 0
    assert run_book(tmp_path, *two) == 0
    assert measured == two
    assert run_book(tmp_path, "--again", two[0]) == 0
    assert measured == [*two, two[0]]
    monkeypatch.setattr(book, "product_commit", lambda: "7654321")
    monkeypatch.setattr(quiet, "MOST", -1.0)
    assert run_book(tmp_path, *two) == 1
    (record, _) = read(two, tmp_path / "benchmarks")
    assert record.commit == "1234567"
    monkeypatch.setattr(book, "product_commit", lambda: "7654321+")
    assert run_book(tmp_path, *two) == 1
    assert (tmp_path / "performance.md").exists()


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
        "![Some figure: seconds by n](benchmarks/some.svg)",
        "",
        "![Some figure: seconds](benchmarks/some_2.svg)",
    ]
    assert statements_table(zip(SOME.statements, (True, False), strict=True)).splitlines() == [
        "| where | statement | here | measured |",
        "| --- | --- | --- | --- |",
        "| 6.6 | it is so | reached, at reduced size | 2 times |",
        "| 6.6 | or so | not judged | — |",
    ]


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="cell for each column"):
        Table(("a", "b"), (("c",),))


def record(**changes: object) -> Record:
    one = Record(SOME, "python -m benchmarks some", "a machine", 0.5, "1234567", "2026-11-22", 61)
    return replace(one, **changes)  # type: ignore[arg-type]


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(record(), tmp_path)
    assert read(["none", "some"], tmp_path) == [record()]


def test_each_section_has_its_place_on_the_page() -> None:
    from benchmarks.pages import figures

    assert [name for chapter in figures.CHAPTERS for name in chapter.names] == [*reports.NAMES]


def test_the_page_of_figures_and_its_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.pages import figures

    here = replace(SOME, name="automata")
    figures.write([record(report=here)], tmp_path)
    text = (tmp_path / "figures.md").read_text(encoding="utf-8")
    assert "\n1. a machine\n" in text
    assert "| AFA | 1 | 0 | 0 | 0 | 1 |" in text
    assert (
        "*Measured by `python -m benchmarks some`, at commit 1234567, on 2026-11-22, in 61 s, "
        "with a load of 0.5.*"
    ) in text
    assert "| 6.6 | it is so | reached | 2 times |" in text
    plots = [tmp_path / "benchmarks" / f"{name}.svg" for name in ("automata", "automata_2")]
    for file in plots:
        assert etree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    first = [file.read_bytes() for file in plots]
    figures.write([record(report=here, machine="another", load=1.5)], tmp_path)
    assert [file.read_bytes() for file in plots] == first
    figures.write([record(report=here, reduced=True)], tmp_path)
    assert "| AFA | 0 | 0 | 0 | 0 | 2 |" in (tmp_path / "figures.md").read_text(encoding="utf-8")


def test_what_is_missed_has_its_reason() -> None:
    """In the sections that were measured with the first one."""
    records = read(reports.NAMES, book.DOCS / "benchmarks")
    for one in records:
        name, statements = one.report.name, one.report.statements
        if one.commit == records[0].commit and name in misses.REASONS:
            missed = [s.text for s in statements if s.holds is False]
            assert len(misses.explained(name, statements)) == len(missed), (name, missed)
            for words in misses.REASONS[name]:
                assert any(words in s.text for s in statements), (name, words)


def test_the_page_for_users_says_nothing_of_a_reduced_size(tmp_path: Path) -> None:
    from benchmarks.pages import performance

    columns = ("what a user does", "a second", "times the floor", "times by hand")
    rows = (("items one by one", "9,000", 16.7, 2.95),)
    users = replace(SOME, name="user_table", tables=(Table(columns, rows),))
    performance.write([record(report=users)], tmp_path)
    page = tmp_path / "performance.md"
    assert " | one by one | 9,000 | 16.7 | 2.95 |" in page.read_text()
    performance.write([record(report=users, reduced=True)], tmp_path)
    assert "9,000" not in page.read_text()
