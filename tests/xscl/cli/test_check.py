"""`xscl check`, `explain` and `why` of patterns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xscl.cli.main import cli
from xscl.language import parse
from xscl.times import no_unit

RISE = "EVENT SEQ(A a, !C c, B b) WHERE [k] AND b.p-1 > a.p"
EVENTS = """{"stream": "A", "id": "a", "timestamp": 1, "json": {"k": "u", "p": 1}}
{"stream": "C", "id": "c", "timestamp": 2, "json": {"k": "u"}}
{"stream": "B", "id": "b", "timestamp": 3, "json": {"k": "u", "p-1": 3}}
"""


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_check_notes_what_a_pattern_may_not_mean() -> None:
    done = typed("check", "-q", RISE, "-q", "EVENT SEQ(A a, B b) WITHIN 5")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "2 queries, no error",
        "q1: no WITHIN: every event is kept for good, so that state only grows",
        "q1: `p-1` is the name of an attribute: a subtraction is written `p - 1`",
    ]


@pytest.mark.parametrize(
    ("condition", "contradicts"),
    [
        ("a.p > 5 AND a.p < 3", True),
        ("a.p > 5 AND b.p = 1 AND 5 >= a.p", True),
        ("a.p = 'x' AND a.p = 'y'", True),
        ("a.p = 4 AND a.p != 4", True),
        ("a.p > 3 AND a.p < 5", False),
        ("a.p >= 5 AND a.p <= 5", False),
        ("a.p > 5 AND b.p < 3", False),
        ("a.p != 0 AND a.p > 1700000000000000000", False),
        ("(a.p > 5 OR b.p = 1) AND a.p < 3", False),
    ],
)
def test_check_notes_conditions_that_contradict_each_other(
    condition: str, contradicts: bool
) -> None:
    done = typed("check", "-q", f"EVENT SEQ(A a, B b) WHERE {condition} WITHIN 5")
    assert done.exit_code == 0, done.output
    assert ("of the condition never hold together" in done.stdout) is contradicts


def test_check_numbers_conjuncts_as_they_are_written() -> None:
    """A test is one."""
    text = "EVENT SEQ(A a, B b) WHERE [k] AND a.p > 5 AND a.p < 3 AND 1 = 2 WITHIN 5"
    done = typed("check", "-q", text)
    assert "conjuncts 2 and 3 of the condition never hold together" in done.stdout
    assert "conjunct 4 of the condition never holds" in done.stdout


def test_a_unit_that_there_is_not_is_one_error() -> None:
    _, errors = parse("EVENT SEQ(A a, !B b) WITHIN 7 dayz")
    assert [error.problem for error in errors] == [no_unit("dayz")]


def test_check_notes_a_pattern_of_every_choice_of_events() -> None:
    query = "PATTERN V+ a[] WHERE skip_till_any_match { a[i].p > a[i-1].p } WITHIN 1 h"
    done = typed("check", "-q", query)
    assert done.exit_code == 0, done.output
    assert "q1: skip_till_any_match with `+` is of every choice of events: matches grow" in (
        done.stdout
    )


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "sql"])
def test_explain(form: str) -> None:
    done = typed("explain", "-q", RISE, "--format", form)
    assert done.exit_code == 0, done.output
    if form == "json":
        (made,) = json.loads(done.stdout)
        assert [state["name"] for state in made["states"]] == ["a", "b"]
        assert made["negated"][0]["interval"] == "(a, b)"
        assert (made["kind"], made["strategy"]) == ("event", "skip_till_any_match")
        assert (made["monotone"], made["within"], made["consistency"]) == (False, None, "strong")


def test_why(tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    events.write_text(EVENTS)
    query = tmp_path / "q.xscl"
    query.write_text(RISE)
    done = typed("why", str(query), "a", "b", "--events", str(events), "--format", "json")
    assert done.exit_code == 0, done.output
    reported = json.loads(done.stdout)
    assert not reported["holds"]
    assert reported["findings"][reported["cause"]]["text"] == "no C c"
    done = typed("why", str(query), "a", "--events", str(events))
    assert done.exit_code == 2
    assert "takes 2 documents" in done.output


def test_a_document_that_is_named_twice_is_no_match_of_itself(tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    events.write_text('{"id": "d", "xml": "<a>1</a>"}')
    pair = "S/a->x JOIN {x = y} S/a->y"
    done = typed("why", "-q", pair, "d", "d", "--events", str(events), "--format", "json")
    assert not json.loads(done.stdout)["holds"]


def test_the_cause_names_the_values_of_all_events(tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    before, middle, after = EVENTS.rpartition('"k": "u"')
    assert middle
    events.write_text(f'{before}"k": "v"{after}')
    query = tmp_path / "q.xscl"
    query.write_text("EVENT SEQ(A a, B b) WHERE [k] WITHIN 5")
    done = typed("why", str(query), "a", "b", "--events", str(events))
    assert "Cause: [k] fails: 'u' and 'v'." in done.stdout


QUERIES = """-- name: promo
S//a->x FOLLOWED BY {x = y, 7 days} T//b->y PUBLISH promos;
-- name: reader
promos//result;
-- name: other
S//a
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_cells_of_one_query_are_those_that_it_has_among_all(tmp_path: Path, form: str) -> None:
    """It may read what others publish, with which it is evaluated."""
    file = tmp_path / "q.xscl"
    file.write_text(QUERIES)
    every, one = (
        typed("explain", str(file), "--spark", "--format", form, *only).stdout
        for only in ((), ("--query", "reader"))
    )
    if form == "json":
        (shown,) = json.loads(one)
        (cells,) = (cells for cells in json.loads(every) if "reader" in cells["queries"])
        assert shown == cells | {"queries": ["reader"]}
    else:
        assert "promo, reader" in every
        cells = every.partition("promo, reader\n")[2].splitlines()[:2]
        assert one.splitlines()[2:] == ["reader", *cells]
        assert "7 days" in one


@pytest.mark.parametrize("table", [False, True])
def test_queries_from_standard_input_are_read_once(tmp_path: Path, table: bool) -> None:
    events = tmp_path / "e.jsonl"
    events.write_text(EVENTS)
    (tmp_path / "words.csv").write_text("least\n1\n3\n")
    query = "-- name: q\nA/*[p >= :least]" if table else "-- name: q\nA/*[p >= 1]"
    params = ["--params", f"q={tmp_path / 'words.csv'}"] if table else []
    done = CliRunner().invoke(
        cli, ["check", "-", "--events", str(events), *params], input=query, standalone_mode=False
    )
    assert not done.return_value, done.output
    assert done.stdout.splitlines()[0] == "1 query, no error"
    found = ["q[0]: 1 match", "q[1]: 0 matches"] if table else ["q: 1 match"]
    assert done.stdout.splitlines()[1:3] == found
