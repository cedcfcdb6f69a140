"""Peers: their queries, what a cell costs, and what becomes of those that cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import xscl
from benchmarks.peers import contest as peers
from benchmarks.peers.cells import Cost, cost
from benchmarks.peers.events import queries as event_queries
from benchmarks.peers.queries import queries, write

BURN = "import time\nwhile time.process_time() < {}: pass"


@pytest.mark.parametrize("way", ["statements", "table"])
def test_queries_by_hand_find_what_the_engine_does(way: str, tmp_path: Path) -> None:
    some = queries(12)
    write(tmp_path, 1_500, some)
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    with xscl.Engine() as engine:
        engine.load((tmp_path / "queries.xscl").read_text())
        counts = engine.count(
            {"stream": "S", "id": item["id"], "timestamp": item["time"], "json": item}
            for item in items
        )
    script = str(peers.SCRIPTS / "duckdb_sql.py")
    found = cost([sys.executable, "-P", script, str(tmp_path), way], 300)
    assert json.loads(found.printed) == counts
    assert sum(count > 0 for count in counts.values()) >= 4


def test_event_queries_by_hand_find_what_the_engine_does(tmp_path: Path) -> None:
    event_queries.write(tmp_path, 6_000, 12)
    own = peers.of_xscl(tmp_path, "events.jsonl", 300)
    script = str(peers.SCRIPTS / "events" / "duckdb_sql.py")
    found = cost([sys.executable, "-P", script, str(tmp_path)], 300)
    assert peers.other(found, peers.counted(own.printed)) == ""
    assert sum(count > 0 for count in json.loads(found.printed).values()) >= 8


def test_a_cell_has_the_costs_of_all_that_it_started() -> None:
    """A child that outlives the process that started it is counted, and ended."""
    child = [sys.executable, "-c", BURN.format(0.4) + "\nprint(flush=True)\ntime.sleep(300)"]
    begin = f"import subprocess\nchild = subprocess.Popen({child}, stdout=subprocess.PIPE)"
    parent = f"{begin}\nchild.stdout.readline()\nprint(7)"
    found = cost([sys.executable, "-c", parent], 200)
    assert (found.printed, found.failed) == ("7\n", "")
    assert found.processor >= 0.4
    assert found.clock < 200


def test_a_cell_without_end_is_ended() -> None:
    found = cost([sys.executable, "-c", "import time; time.sleep(60)"], 0.5)
    assert found.failed == "> 0.5 s"


def test_a_cell_that_fails_says_why() -> None:
    found = cost([sys.executable, "-c", "raise MemoryError('too many queries')"], 300)
    assert found.failed == "MemoryError: too many queries"


def test_other_matches_are_a_result() -> None:
    printed = 'a warning\n{"a": 1, "b": 3}\n'
    found = Cost(1, 1, 1, printed)
    assert peers.other(found, {"a": 1, "b": 3}) == ""
    assert peers.other(found, {"a": 1, "b": 2}) == "other matches of 1 queries"


def test_a_peer_that_cannot_is_not_tried_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "python_of", lambda requirement: Path(sys.executable))
    monkeypatch.setattr(peers, "version_of", lambda requirement: "one 1.0")
    monkeypatch.setattr(peers, "SCRIPTS", tmp_path)
    (tmp_path / "one.py").write_text("raise SystemExit('SomeError: no')")
    folders = {0: tmp_path, 10: tmp_path, 100: tmp_path}
    measured = peers.of_peer(
        peers.Peer("one", "one", "one.py"), folders, {size: {} for size in folders}, 30
    )
    assert measured.costs == {0: "SomeError: no", 10: "not tried", 100: "not tried"}
    assert [measured.cell(size) for size in (0, 10)] == ["SomeError: no", "not tried"]
