"""A match that cannot be written is its query's problem: reported, counted, without effect on
others.

As no such match is known, one is planted: the node `poison` of a document cannot be written.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

import xscl
from tests.xscl.serve.asking import PATIENCE, serving
from xscl.cli.main import cli
from xscl.durable.outbox import Outbox
from xscl.errors import MatchError
from xscl.matches.nodes import BoundNode

POISON = "planted: nothing can be made of this"

QUERY = "SELECT {\"x\": x} FROM S/json->x[k = '1']"
PUBLISHED = f"-- name: first\n{QUERY} PUBLISH P;\n-- name: second\nP/json/x"
ABSENT = "EVENT SEQ(S a, !S b) WHERE [k] WITHIN 1 s"


@pytest.fixture(autouse=True)
def planted() -> Iterator[None]:
    value, markup, string = BoundNode.value, BoundNode.markup, BoundNode.string

    def fails(node: BoundNode) -> None:
        if node.document.id == "poison":
            raise ValueError(POISON)

    def as_json(node: BoundNode) -> object:
        fails(node)
        return value(node)

    def as_xml(node: BoundNode, *, in_default: bool = False) -> str:
        fails(node)
        return markup(node, in_default=in_default)

    def as_text(node: BoundNode) -> str:
        fails(node)
        return string(node)

    with mock.patch.multiple(BoundNode, value=as_json, markup=as_xml, string=as_text):
        yield


def documents(*ids: str, k: str = "1") -> list[dict[str, object]]:
    return [{"id": one, "timestamp": n, "json": {"k": k}} for n, one in enumerate(ids)]


@pytest.mark.parametrize("state", [None, "s.duckdb"])
def test_a_result_that_nobody_can_make_is_published_to_nobody(
    state: str | None, tmp_path: Path
) -> None:
    file = None if state is None else tmp_path / state
    skipped: list[xscl.DocumentError] = []
    with xscl.Engine(file, on_skip=skipped.append) as engine:
        engine.load(PUBLISHED)
        found = engine.publish_many(documents("a", "poison", "b"))
        assert [one.query for one in found] == ["first"] * 3 + ["second"] * 2
        assert engine.skipped.malformed == 1
        assert len(engine.publish("S", {"k": "1"}, id="c", timestamp=3)) == 2
    assert [(one.stream, one.document) for one in skipped] == [("P", "a result of query 'first'")]
    assert f"a match of 'poison' of query 'first': it cannot be written (ValueError: {POISON}" in (
        str(skipped[0])
    )
    if file is not None:
        with xscl.Engine(file) as engine:
            assert len(engine.publish("S", {"k": "1"}, id="d", timestamp=4)) == 2


def test_a_callback_gets_what_no_state_file_can_keep(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[xscl.Match] = []
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        engine.subscribe(QUERY, "q", on_match=got.append)
        engine.publish_many(documents("a", "poison", "b"))
        assert [one.documents for one in got] == [("a",), ("poison",), ("b",)]
        assert POISON in caplog.text
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        engine.subscribe(QUERY, "q", on_match=got.append)
        assert len(got) == 3


def test_a_sink_gets_the_others_and_the_run_counts_it() -> None:
    reported: list[MatchError] = []

    def taker(match: str, body: bytes) -> None:
        """Takes whatever comes."""

    with xscl.Engine() as engine:
        engine.subscribe(QUERY, "q")
        found = engine.publish_many(documents("a", "poison", "b"))
        outbox = Outbox(None, {"exec": taker}, str, None, reported.append)
        kept = outbox.keep(found)
        outbox.close()
    assert [json.loads(one.body)["documents"] for one in kept] == [["a"], ["b"]]
    assert [POISON in str(one) for one in reported] == [True]


@pytest.mark.parametrize("state", [None, "s.duckdb"])
def test_a_server_lists_the_others_and_continues(
    state: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = None if state is None else tmp_path / state
    with serving(f"-- name: q\n{QUERY}", f"-- name: gone\n{ABSENT}", state=file) as server:
        lines = b"".join(json.dumps(one).encode() + b"\n" for one in documents("a", "poison", "b"))
        kind = "application/x-ndjson"
        answer, body = server.raw("POST", "/streams/S", lines, Content_Type=kind)
        reported = json.loads(body)
        assert (answer.status, reported["taken"], reported["matches"]) == (200, 3, 3)
        assert [(one["query"], POISON in one["message"]) for one in reported["problems"]] == [
            ("q", True)
        ]
        # One alone was taken, too.
        alone = json.dumps({"k": "1"}).encode()
        kind = "application/json"
        answer, body = server.raw("POST", "/streams/S?id=e", alone, Content_Type=kind)
        assert (answer.status, json.loads(body)["problems"]) == (200, [])
        found = server.get("/matches", query="q")["matches"]
        assert [one["documents"] for one in found] == [["a"], ["b"], ["e"]]
        assert server.get("/stats")["server"]["unwritten"] == 1
        assert "xscl_unwritten_total 1.0" in server.raw("GET", "/metrics")[1].decode()
        assert server.get("/health") == {"status": "ok"}
    assert caplog.text.count(POISON) == 1


def test_a_pending_match_ends_no_server_at_each_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is written when time has passed, after a restart, without a request for it."""
    file = tmp_path / "s.duckdb"
    with xscl.Engine(file, lateness=0) as engine:
        engine.subscribe(ABSENT, "gone")
        engine.publish_many([*documents("poison"), *documents("good", k="2")])
    for _ in range(2):
        with serving(state=file, lateness=0.0) as server:
            until = time.monotonic() + PATIENCE
            while not (found := server.get("/matches")["matches"]):
                assert time.monotonic() < until
                time.sleep(0.02)
            assert [one["documents"] for one in found] == [["good"]]
            assert server.get("/health") == {"status": "ok"}
    assert caplog.text.count(POISON) == 1


@pytest.mark.parametrize("form", ["jsonl", "text", "atom", "jsonfeed"])
@pytest.mark.parametrize("state", [[], ["--state", "s.duckdb"]])
def test_a_run_writes_the_others(
    form: str,
    state: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{json.dumps(one)}\n" for one in documents("a", "poison", "b"))
    (tmp_path / "e.jsonl").write_text(lines)
    command = ["run", "-q", QUERY, "--events", "e.jsonl", "--format", form, "-o", "out", *state]
    done = CliRunner().invoke(cli, command, standalone_mode=False)
    written = (tmp_path / "out").read_text()
    said = done.stderr + caplog.text
    assert (said.count(POISON), "Traceback" in said) == (1, False), said
    if form in ("jsonl", "text"):
        assert done.return_value == 1, done.stderr
        assert len(written.splitlines()) == 2
        assert "3 matches (1 not written)" in done.stderr
    else:
        assert (written.count("urn:xscl:"), form) in ((3, "atom"), (2, "jsonfeed"))
