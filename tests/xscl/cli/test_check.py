"""`xscl check`, `explain` and `why` of patterns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xscl.cli.main import cli

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
    told = json.loads(done.stdout)
    assert not told["holds"]
    assert told["findings"][told["cause"]]["text"] == "no C c"
    done = typed("why", str(query), "a", "--events", str(events))
    assert done.exit_code == 2
    assert "takes 2 documents" in done.output
