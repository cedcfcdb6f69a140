"""Queries on the command line (`-q`), wherever a query file may be named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xscl.cli.main import cli

EVENTS = """{"id": "d1", "timestamp": 1, "xml": "<a>v</a>"}
{"id": "d2", "timestamp": 2, "xml": "<b>v</b>"}
"""
PAIR = "S//a->x FOLLOWED BY {x = y, 1 day} S//b->y"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.jsonl").write_text(EVENTS)
    Path("q.xscl").write_text("-- name: filed\nS//b")
    Path("o.opml").write_text(
        '<opml version="2.0"><body><outline xmlUrl="http://127.0.0.1:9/"/></body></opml>'
    )


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def found(done: Result) -> list[tuple[str, list[str]]]:
    assert done.exit_code == 0, done.output
    lines = map(json.loads, done.stdout.splitlines())
    return [(line["query"], line["documents"]) for line in lines]


def test_run() -> None:
    done = typed("run", "-q", PAIR, "--events", "e.jsonl")
    assert found(done) == [("q1", ["d1", "d2"])]


def test_several_and_a_file() -> None:
    done = typed("run", "q.xscl", "-q", "S//a", "--events", "e.jsonl", "-q", "-- name: two\nS//b")
    assert sorted(found(done)) == [("filed", ["d2"]), ("q2", ["d1"]), ("two", ["d2"])]


def test_parameters_and_a_state() -> None:
    Path("p.csv").write_text("wanted\nv\n")
    query = ("-q", "-- name: n\nS//a[. = :wanted]", "--params", "n=p.csv", "--state", "s.duckdb")
    assert found(typed("run", *query, "--events", "e.jsonl")) == [("n[0]", ["d1"])]
    again = typed("run", *query, "--events", "e.jsonl")
    assert (found(again), "n[0]" in again.stderr) == ([], True)


def test_check_reports_the_place() -> None:
    assert typed("check", "-q", "S//a").stdout == "1 query, no error\n"
    wrong = CliRunner().invoke(cli, ["check", "-q", "S//a["], standalone_mode=False)
    assert (wrong.return_value, wrong.stderr.startswith("-q: query 'q1', line 1")) == (2, True)


def test_explain() -> None:
    assert "tree pattern of block 1" in typed("explain", "-q", PAIR, "--query", "q1").stdout


@pytest.mark.parametrize("documents", [(), ("d1", "d2"), ("d1", "d9")])
def test_why(documents: tuple[str, ...]) -> None:
    done = typed("why", *documents, "-q", PAIR, "--events", "e.jsonl")
    assert "q1" in done.stdout or "'d9'" in done.stderr
    Path("pair.xscl").write_text(PAIR)
    assert done.stdout == typed("why", "pair.xscl", *documents, "--events", "e.jsonl").stdout


def test_watch_remembers_nothing_without_a_file() -> None:
    watch = ("watch", "-q", "S/item", "--feed", "S=o.opml", "--once")
    assert "--feeds-db FILE keeps it" in typed(*watch).stderr
    done = typed(*watch, "--feeds-db", "f.duckdb", "-o", "out.xml", "--format", "atom")
    assert "127.0.0.1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("run", "--events", "e.jsonl"), "name a query file, or give a query with -q"),
        (("check",), "name a query file, or give a query with -q"),
        (("explain",), "name a query file, or give a query with -q"),
        (("why", "--events", "e.jsonl"), "name a query file, or give a query with -q"),
        (("why", "-q", "S//a", "-q", "S//b", "--events", "e.jsonl"), "give one query"),
        (("run", "no.xscl", "--events", "e.jsonl"), "'no.xscl' does not exist"),
        (("why", "no.xscl", "d1", "--events", "e.jsonl"), "'no.xscl' does not exist"),
        (("run", "-q", "", "--events", "e.jsonl"), ""),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], problem: str) -> None:
    done = CliRunner().invoke(cli, arguments)
    assert problem in done.stderr
    assert "Traceback" not in done.output


def test_the_title_of_a_feed() -> None:
    done = typed("run", "-q", "S//a", "--events", "e.jsonl", "--format", "jsonfeed")
    assert json.loads(done.stdout)["title"] == "queries"
