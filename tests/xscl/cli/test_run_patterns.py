"""`xscl run` with patterns: lines that say how far time has come, and the end of the input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from xscl.cli.main import cli

QUERY = "-- name: unpaid\nEVENT SEQ(O o, !P p) WHERE [id] WITHIN 10"
LINES: list[dict[str, object]] = [
    {"stream": "O", "id": "o0", "timestamp": 0, "json": {"id": 1}},
    {"stream": "O", "id": "o9", "timestamp": 9, "json": {"id": 2}},
    {"advance": 12},
    {"stream": "P", "id": "late", "timestamp": 11, "json": {"id": 1}},
    {"advance": "soon"},
    {"stream": "P", "id": "p", "timestamp": 13, "json": {"id": 3}},
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    query, events = tmp_path / "q.xscl", tmp_path / "e.jsonl"
    query.write_text(QUERY)
    events.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return [str(query), "--events", str(events)]


@pytest.mark.parametrize("size", ["1", "1000"])
def test_the_end_of_the_input_reports_what_was_pending(files: list[str], size: str) -> None:
    done = CliRunner().invoke(cli, ["run", *files, "--batch", size, "--format", "jsonl"])
    reported = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["documents"], one["start"], one["time"]) for one in reported] == [
        (["o0"], 0, 10),
        (["o9"], 9, 19),
    ]
    assert "`advance`: timestamp 'soon' is neither seconds nor ISO 8601" in done.stderr
    done = CliRunner().invoke(cli, ["run", *files, "--batch", size, "--format", "counts"])
    assert done.stdout == "unpaid\t2\n"


def test_a_state_file_continues(files: list[str], tmp_path: Path) -> None:
    state = ["--state", str(tmp_path / "state"), "--format", "jsonl"]
    assert CliRunner().invoke(cli, ["run", *files, *state]).stdout.count("\n") == 2
    assert CliRunner().invoke(cli, ["run", *files, *state]).stdout == ""


def test_each_stream_is_looked_at_for_what_found_nothing(tmp_path: Path) -> None:
    """Also one that comes after very many documents of another, and of which most are not seen."""
    rows = [{"stream": stream, "json": {"n": n}} for stream in "AB" for n in range(200)]
    events = tmp_path / "e.jsonl"
    events.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    query = "SELECT m_1 AS m FROM FILTER{n >= 0}(A) NEXT{$2.m = 1} B"
    done = CliRunner().invoke(cli, ["run", "-q", query, "--events", str(events)])
    assert done.stderr.splitlines()[0] == (
        "query 'q1' found nothing: of the 100 documents looked at: no document of B had `m`; "
        "there is `n`"
    )


CHANGES: list[dict[str, object]] = [
    {"stream": "S", "id": "a", "timestamp": 1, "json": {"p": 1}},
    {"stream": "S", "id": "b", "timestamp": 2, "json": {"p": 5}},
    {
        "automaton": "high",
        "replace": "a0",
        "with": {"from": "q0", "to": "q1", "event": "e"},
        "at": 3,
    },
    {"retract": "b", "stream": "S"},
    {"stream": "S", "id": "c", "timestamp": 3, "json": {"p": 1}},
    {"advance": 9, "where": "S/json[p = 1]"},
    {"stream": "S", "id": "d", "timestamp": 8, "json": {"p": 1}},
    {"stream": "S", "id": "e", "timestamp": 8, "json": {"p": 2}},
    {"automaton": "high", "delete": "a7"},
]


@pytest.mark.parametrize("size", ["1", "2", "1000"])
def test_lines_that_are_no_documents(size: str, tmp_path: Path) -> None:
    query, events = tmp_path / "q.xscl", tmp_path / "e.jsonl"
    arc = {"from": "q0", "to": "q1", "event": "e", "when": "e.p > 4"}
    automaton = {"events": {"e": "S"}, "final": ["q1"], "arcs": [arc], "keep": True}
    query.write_text(f"-- name: high\nAUTOMATON {json.dumps(automaton)}")
    events.write_text("".join(f"{json.dumps(line)}\n" for line in CHANGES))
    files = [str(query), "--events", str(events), "--revisable", "S", "--batch", size]
    done = CliRunner().invoke(cli, ["run", *files, "--format", "jsonl"])
    reported = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["documents"] for one in reported] == [["c"], ["e"]]
    assert "no arc is named `a7`; there are a0" in done.stderr
    assert "2 skipped (1 malformed, 1 late)" in done.stderr


def run(tmp_path: Path, *arguments: str, lines: str | None = None) -> str:
    if lines is not None:
        (tmp_path / "e.jsonl").write_text(lines)
    events = ["--events", str(tmp_path / "e.jsonl")]
    done = CliRunner().invoke(cli, ["run", *events, *arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("size", ["1", "2", "100"])
def test_counts_are_of_what_stands(size: str, tmp_path: Path) -> None:
    """Whatever was found and taken back on the way; also those of a state's earlier runs."""
    query = "EVENT SEQ(S a, !T b, S c) WITHIN 9 s CONSISTENCY middle"
    lines = [
        {"stream": stream, "id": id, "timestamp": at, "json": {}}
        for stream, id, at in [("S", "a", 1), ("S", "c", 3), ("T", "b", 2), ("S", "d", 4)]
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    options = ["-q", query, "--format", "counts", "--batch", size]
    assert run(tmp_path, *options, lines=text) == "q1\t1\n"
    state = ["--state", str(tmp_path / "s.duckdb")]
    for end in range(1, 5):
        part = "".join(text.splitlines(keepends=True)[:end])
        # The end of the input is none of the stream's.
        run(tmp_path, *options, *state, lines=part)
    assert run(tmp_path, *options, *state) == "q1\t1\n"


@pytest.mark.parametrize("query", ["S/json", "S/json->a[k->k] JOIN {k = l} S/json->b[k->l]"])
def test_the_end_of_the_input_is_one_for_streams_that_are_revisable(
    query: str, tmp_path: Path
) -> None:
    line = {"stream": "S", "id": "a", "timestamp": 1, "json": {"k": 1}}
    text = f"{json.dumps(line)}\n" + f"{json.dumps({**line, 'id': 'b'})}\n"
    many = {"S/json": "q1\t2\n"}.get(query)
    plain = run(tmp_path, "-q", query, "--format", "counts", lines=text)
    assert many in (None, plain)
    options = ["-q", query, "--revisable", "S"]
    assert run(tmp_path, *options, "--format", "counts") == plain
    said = run(tmp_path, *options, "--format", "jsonl")
    assert f"q1\t{said.count(chr(10))}\n" == plain


def test_a_stopped_query_is_said_and_the_run_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xscl.pattern_stage.bounds.MOST", 200)
    much = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match {}"
    (tmp_path / "q.xscl").write_text(f"-- name: much\n{much};\n-- name: other\nS/json")
    lines = ({"id": f"d{n}", "timestamp": n, "json": {}} for n in range(30))
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    run = ["run", str(tmp_path / "q.xscl"), "--events", str(tmp_path / "e.jsonl")]
    done = CliRunner().invoke(cli, [*run, "--format", "jsonl"], standalone_mode=False)
    assert done.return_value == 1
    assert done.stderr.count("query 'much' was stopped: more than 200 ") == 1
    assert [json.loads(one)["query"] for one in done.stdout.splitlines()].count("other") == 30
    assert "not written" not in done.stderr


GOOD = {
    "events": {"e": "S"},
    "final": ["q1"],
    "arcs": [{"from": "q0", "to": "q1", "event": "e", "when": "e.p > 4"}],
}
BAD = json.loads(json.dumps(GOOD).replace("p > 4", "p >> 4"))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.json", json.dumps(BAD), 1),
        ("a.json", json.dumps(BAD, indent=1), 1),
        ("a.jsonl", "\n\n".join([json.dumps(GOOD), json.dumps(BAD), json.dumps(GOOD)]), 3),
        ("a.jsonl", f"\ufeff\n{json.dumps(GOOD)} {json.dumps(GOOD)}\r\n{json.dumps(BAD)}\n\n", 3),
    ],
)
def test_a_mistake_in_a_file_of_automata_is_shown_where_it_is(
    name: str, text: str, line: int, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(cli, ["check", str(file)], standalone_mode=False)
    assert done.return_value == 2
    assert f"line {line}, column {1 if line > 1 else 11}: /arcs/0/when, column 6: found `>`" in (
        done.stderr
    )
