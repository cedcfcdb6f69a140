"""A clock that is wrong, of a document or of who says that time has passed, makes nothing late."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import xscl
from tests.xscl.serve.asking import serving
from xscl.cli.main import cli

QUERY = "EVENT SEQ(S a, !S b) WHERE [k] WITHIN 1 s"
DAY = 86_400

FAR: list[float | str] = ["9999-12-31", "9999-12-31T23:59:59-23:59", 9e10, time.time() + 2 * DAY]


@pytest.mark.parametrize("far", FAR, ids=range(len(FAR)))
@pytest.mark.parametrize("many", [False, True])
def test_a_line_far_ahead_is_refused_and_counted(
    far: float | str, many: bool, tmp_path: Path
) -> None:
    skipped: list[xscl.DocumentError] = []
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, on_skip=skipped.append) as engine:
        engine.subscribe(QUERY)
        with pytest.raises(xscl.XSCLError, match="more than a day ahead of the clock"):
            engine.advance(far)
        given = [{"id": "a", "timestamp": 1, "json": {"k": 1}}, {"id": "line", "advance": far}]
        for some in [given] if many else [[one] for one in given]:
            engine.publish_many(some)
        assert (engine.skipped.malformed, engine.skipped.late) == (1, 0)
        assert engine.watermark is None
    (error,) = skipped
    assert (error.document, "more than a day ahead" in error.problem) == ("line", True)
    with xscl.Engine(state) as engine:
        # Nothing is late, now or ever; a time within the day is taken.
        engine.publish("S", {"k": 1}, id="b", timestamp=2)
        found = engine.advance(time.time() + DAY / 2)
        assert [one.documents for one in found] == [("a",), ("b",)]


def test_a_run_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": "a", "timestamp": 1, "json": {"k": 1}},
        {"advance": "9999-12-31"},
        {"id": "b", "timestamp": 5, "json": {"k": 2}},
    ]
    (tmp_path / "e.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    done = CliRunner().invoke(cli, ["run", "-q", QUERY, "--events", "e.jsonl"])
    assert [json.loads(one)["documents"] for one in done.stdout.splitlines()] == [["a"], ["b"]]
    assert "skipped: document 'e.jsonl:" in done.stderr
    assert "9999-12-31 00:00:00Z is more than a day ahead of the clock" in done.stderr
    assert "2 documents, 1 skipped (1 malformed), 2 matches" in done.stderr


def test_a_server_says_it() -> None:
    with serving(f"-- name: q\n{QUERY}") as server:
        body = b'{"advance": "9999-12-31"}\n{"id": "a", "timestamp": 1, "json": {"k": 1}}\n'
        kind = "application/x-ndjson"
        answer, reported = server.raw("POST", "/streams/S", body, Content_Type=kind)
        outcome = json.loads(reported)
        assert (answer.status, outcome["taken"]) == (200, 1)
        (problem,) = outcome["problems"]
        assert "more than a day ahead of the clock" in problem["message"]
        answer, reported = server.raw("POST", "/streams/S", body.split(b"\n")[0], Content_Type=kind)
        assert (answer.status, b"a day ahead" in reported) == (400, True)
