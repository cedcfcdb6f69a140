"""Documents of two streams that have one id, and other names that are used again: each is taken for
itself, wherever it is asked for."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import numpy
import pandas
import pytest
from click.testing import CliRunner, Result

import xscl
from xscl.cli.main import cli

PAIRS = {
    "a pattern": "EVENT SEQ(A a, B b) WHERE [k] WITHIN 1 hour",
    "a composition": "SELECT A.k FROM (A; B) WHERE FILTER(A.k = B.k)",
    "a join": "A/json->x[k->k] FOLLOWED BY {k = l} B/json->y[k->l]",
}


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize("query", PAIRS)
def test_why_takes_the_documents_of_a_match(query: str) -> None:
    engine = xscl.Engine()
    engine.subscribe("Z/*->x JOIN {x = y} Y/*->y", name="hold")
    engine.subscribe(PAIRS[query], name="q")
    for number, stream in enumerate("ZAB"):
        engine.publish(stream, {"k": "u" if stream != "Z" else "v"}, id="1", timestamp=number)
    found = [*engine.publish("B", {"k": "v"}, id="2", timestamp=3), *engine.flush()]
    assert all(one.documents == ("1", "1") for one in found)
    assert engine.why("q", "1", "1").holds
    assert not engine.why("q", "1", "2").holds


def test_why_knows_what_came_between_whatever_its_id() -> None:
    engine = xscl.Engine()
    engine.subscribe(PAIRS["a composition"], name="q")
    for number, (stream, id) in enumerate([("A", "1"), ("B", "1"), ("B", "2")]):
        engine.publish(stream, {"k": "u"}, id=id, timestamp=number)
    assert {one.documents for one in engine.flush()} == {("1", "1")}
    assert not engine.why("q", "1", "2").holds


def test_a_command_asks_why_of_the_documents_of_its_query(tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    lines: list[dict[str, Any]] = [
        {"stream": "T", "id": "1", "timestamp": 0, "json": {"p": 1}},
        {"stream": "S", "id": "1", "timestamp": 1, "json": {"p": 9}},
        {"advance": 2},
    ]
    events.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for query in ("S/json[p > 5]", "FILTER{p > 5}(S)"):
        done = typed("why", "-q", query, "1", "--events", str(events), "--format", "json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["holds"] is True


@pytest.mark.parametrize(
    "line",
    [
        '{"stream": "A", "id": "b", "timestamp": 1, "xml": "<a><k>"}',
        '{"advance": 1}',
        '{"retract": "zzz", "stream": "A"}',
        '{"stream": "A", "id": "a", "timestamp": 0, "json": {"k": "u", "p": 1}}',
    ],
)
def test_what_is_no_document_costs_no_answer(line: str, tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    first = '{"stream": "A", "id": "a", "timestamp": 0, "json": {"k": "u", "p": 1}}'
    last = '{"stream": "A", "id": "c", "timestamp": 2, "json": {"k": "u", "p": 4}}'
    query = "FILTER{p < 3}(A) NEXT{$2.k = $1.k} FILTER{p > 1}(A)"
    said = []
    for lines in ([first, last], [first, line, last]):
        events.write_text("".join(f"{one}\n" for one in lines))
        done = typed("why", "-q", query, "--events", str(events), "--format", "json")
        assert done.exit_code == 0, done.output
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]


def test_a_malformed_document_costs_no_hint(tmp_path: Path) -> None:
    events = tmp_path / "e.jsonl"
    good = '{"id": "1", "timestamp": 0, "xml": "<b><t>x</t></b>"}\n'
    for more in ("", '{"id": "2", "timestamp": 1, "xml": "<b><t>"}\n', '{"automaton": "m"}\n'):
        events.write_text(good + more)
        done = typed("run", "-q", "S/b[t = 'y']", "--events", str(events), "--format", "counts")
        assert "found nothing" in done.stderr, done.stderr


@pytest.mark.parametrize("opened", [False, True])
def test_counts_are_net_whoever_reads_a_stream(opened: bool) -> None:
    engine = xscl.Engine(revisable={"S"}, consistency="middle")
    engine.subscribe("EVENT SEQ(S a, S b) WHERE [k] WITHIN 1 hour", name="pair")
    engine.subscribe("SELECT <n>{t}</n> FROM T/x/title->t PUBLISH news", name="news")
    keep = engine.stream("news") if opened else None
    lines = [
        {"stream": "S", "id": id, "timestamp": n, "json": {"k": "u"}} for n, id in enumerate("12")
    ]
    assert engine.count(lines, flush=False)["pair"] == 1
    assert engine.count([{"retract": "2", "stream": "S"}], flush=False)["pair"] == -1
    del keep


def test_a_parameter_of_any_name_in_check_and_explain(tmp_path: Path) -> None:
    queries = tmp_path / "p.xscl"
    queries.write_text("-- name: one\nS/a[x = :name];\n-- name: two\nS/b[y = :name]\n")
    done = typed("check", str(queries))
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "2 queries, no error")
    assert typed("explain", str(queries), "--query", "one").exit_code == 0


def test_check_says_what_a_run_would_refuse(tmp_path: Path) -> None:
    queries, events = tmp_path / "q.xscl", tmp_path / "e.jsonl"
    queries.write_text("-- name: q\nS/a[x = :v]\n")
    events.write_text('{"xml": "<a/>"}\n')

    def check(*options: str) -> Result:
        arguments = ["check", str(queries), *options]
        return CliRunner().invoke(cli, arguments, standalone_mode=False)

    assert check().return_value == 0
    done = check("--events", str(events))
    assert done.return_value == 2
    assert "`:v` has no value" in done.stderr
    done = check("--params", f"typo={tmp_path}/missing.csv")
    assert isinstance(done.exception, click.ClickException | xscl.XSCLError)
    (tmp_path / "t.csv").write_text("w\n1\n")
    done = check("--params", f"q={tmp_path}/t.csv")
    assert done.return_value == 2
    assert "`:v` has no value" in done.stderr


def test_a_column_may_be_called_as_a_files_time() -> None:
    engine = xscl.Engine()
    engine.subscribe("V/json", name="q")
    found = engine.publish_many([{"a": 1, "mtime": 60}], stream="V", timestamp="mtime")
    assert [one.time for one in found] == [60]
    assert engine.skipped.malformed == 0


def test_scalars_of_tables_are_json() -> None:
    engine = xscl.Engine()
    engine.subscribe("V/json", name="q")
    rows = [
        {"n": 1, "a": numpy.int64(20), "b": numpy.True_, "c": pandas.NA, "d": numpy.float64(0.5)},
        {"n": 2, "a": Decimal("Infinity")},
        {"n": 3, "a": Decimal("sNaN")},
        {"n": 4, "a": numpy.float64("inf")},
        {"n": 5, "a": Decimal("1.50")},
    ]
    found = engine.publish_many(rows, stream="V")
    assert [one.result for one in found] == [
        {"n": 1, "a": 20, "b": True, "c": None, "d": 0.5},
        {"n": 5, "a": 1.5},
    ]
    assert engine.skipped.malformed == 3
