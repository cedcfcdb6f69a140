"""Callbacks and transactions of a durable engine: at least once, with the same id."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xscl

PAIR = "SELECT x FROM S//a->x FOLLOWED BY {x = y} S//b->y"
JSON = "S//a->x FOLLOWED BY {x = y} S//b->y"

SCRIPT = """
import os, signal, sys, xscl
engine = xscl.Engine(sys.argv[1])
def told(match):
    print(match.id, flush=True)
    if match.documents[0] == "a2":
        os.kill(os.getpid(), signal.SIGKILL)
engine.subscribe({text!r}, name="pair", on_match=told)
engine.subscribe({text!r}, name="other", on_match=lambda match: None)
engine.publish_many(
    [{{"id": f"a{{n}}", "timestamp": n, "xml": "<a>1</a>"}} for n in range(4)]
    + [{{"id": "b", "timestamp": 9, "xml": "<b>1</b>"}}]
)
"""


def test_what_a_callback_may_have_missed_is_reported_again(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    script = SCRIPT.format(text=PAIR)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(done.stdout.split()) == 3
    with xscl.Engine() as other:
        other.subscribe(PAIR, name="pair")
        for number in range(4):
            other.publish("S", "<a>1</a>", id=f"a{number}", timestamp=number)
        expected = other.publish("S", "<b>1</b>", id="b", timestamp=9)
    with xscl.Engine(path) as engine:
        reported: list[xscl.Match] = []
        engine.subscribe(PAIR, name="pair", on_match=reported.append)
        assert reported == expected
        assert [match.to_dict() for match in reported] == [match.to_dict() for match in expected]
        assert [match.xml().tag for match in reported] == ["result"] * 4
        engine.cancel("other")
    with xscl.Engine(path) as engine:
        again: list[xscl.Match] = []
        engine.subscribe(PAIR, name="pair", on_match=again.append)
        assert again == []


NESTED = """
import os, signal, sys, xscl
engine = xscl.Engine(sys.argv[1])
def told(match):
    print(match.documents[0], flush=True)
    if match.documents[0] == "a1":
        engine.publish("S", "<c/>", id="c", timestamp=10)
        os.kill(os.getpid(), signal.SIGKILL)
engine.subscribe({text!r}, name="pair", on_match=told)
for n in range(4):
    engine.publish("S", "<a>1</a>", id=f"a{{n}}", timestamp=n)
engine.publish("S", "<b>1</b>", id="b", timestamp=9)
"""


def test_a_transaction_during_a_callback_does_not_say_that_it_has_returned(tmp_path: Path) -> None:
    """Killed in the second callback of four, after it has published a document itself."""
    path = tmp_path / "state.duckdb"
    command = [sys.executable, "-c", NESTED.format(text=PAIR), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout.split() == ["a0", "a1"]
    reported: list[xscl.Match] = []
    with xscl.Engine(path) as engine:
        engine.subscribe(PAIR, name="pair", on_match=reported.append)
        assert engine.documents == 6
    assert {"a1", "a2", "a3"} <= {match.documents[0] for match in reported}


def test_results_are_reported_again_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    texts = {
        "json": JSON,
        "constructed": f'SELECT {{"k": x}} FROM {JSON}',
        "text": "SELECT <r>{x}</r> FROM " + JSON,
    }
    first: list[xscl.Match] = []
    with xscl.Engine(path) as engine:
        for name, text in texts.items():
            engine.subscribe(text, name=name, on_match=first.append)
        engine.publish("S", {"a": "é"}, id="a", timestamp=0)
        with engine.transaction():
            engine.publish("S", {"b": "é"}, id="b", timestamp=1)
            assert first == []
            # As by a kill after the transaction.
            engine._transactions._postponed.clear()
    assert len(first) == 0
    again: list[xscl.Match] = []
    with xscl.Engine(path) as engine:
        for name, text in texts.items():
            engine.subscribe(text, name=name, on_match=again.append)
    with xscl.Engine() as engine:
        for name, text in texts.items():
            engine.subscribe(text, name=name)
        engine.publish("S", {"a": "é"}, id="a", timestamp=0)
        expected = engine.publish("S", {"b": "é"}, id="b", timestamp=1)
    for one, other in zip(again, expected, strict=True):
        assert one.to_dict() == other.to_dict()
        assert one.json == other.json
        if one.query == "constructed":
            with pytest.raises(TypeError, match="is no XML"):
                one.xml()
        else:
            assert one.markup == other.markup


def test_an_argument_that_is_none_closes_no_engine(tmp_path: Path) -> None:
    wrong: Any = Path("q.xscl")
    with xscl.Engine(tmp_path / "state.duckdb") as engine:
        for call in (
            lambda: engine.subscribe(wrong),
            lambda: engine.load(wrong),
            lambda: engine.subscribe_many(wrong, []),
            lambda: engine.subscribe("S/a", name=wrong),
            lambda: engine.subscribe("S/a[. = :p]", params=wrong),
            lambda: engine.load("S/a", history=wrong),
            lambda: engine.subscribe_many("S/a[. = :p]", [{"p": "x"}, wrong]),
            lambda: engine.load("S/a; S/b[. = :p]", tables={"q2": wrong}),
            lambda: engine.retain("S", "1 day", most=1e3),  # type: ignore[arg-type]
        ):
            with pytest.raises(xscl.XSCLError):
                call()
            assert engine.subscriptions == []
        assert [one.name for one in engine.subscribe_many("S/a[. = :p]", [{"p": "x"}])] == ["q1[0]"]


def test_a_callback_that_comes_later_is_called_for_groups(tmp_path: Path) -> None:
    state, found = tmp_path / "state.duckdb", list[str]()
    text = "S//a->x JOIN {x = y} S//b->y"
    with xscl.Engine(state) as engine:
        engine.subscribe(text, name="p")
    with xscl.Engine(state) as engine:
        engine.publish("S", "<a>1</a>")
        engine.publish("S", "<b>1</b>", grouped=True)
        engine.subscribe(text, name="p", on_match=lambda match: found.append(match.query))
        engine.publish("S", "<b>1</b>", grouped=True)
    assert found == ["p"]


def test_a_query_of_the_name_that_says_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    with xscl.Engine(path) as engine:
        engine.subscribe(PAIR, name="pair")
    with xscl.Engine(path) as engine:
        with pytest.raises(xscl.QueryError, match="the name 'pair' is taken"):
            engine.subscribe(PAIR.replace("a->x", "c->x"), name="pair")
        pair = engine.subscribe(PAIR, name="pair")
        assert engine.subscriptions == [pair]
        with pytest.raises(xscl.QueryError, match="the name 'pair' is taken"):
            engine.subscribe(PAIR, name="pair")


def test_rows_and_texts_are_attached_to(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    text = "-- name: many\nS//a->x[. = :v]"
    rows = [{"v": "1"}, {"v": "2", "name": "two"}]
    queries = "S//a->x[. = '1']; S//a->x[. = '2']; S//b"
    with xscl.Engine(path) as engine:
        engine.subscribe_many(text, rows)
        engine.load(queries)
    reported: list[xscl.Match] = []
    with xscl.Engine(path) as engine:
        engine.subscribe_many(text, rows, on_match=reported.append)
        engine.load(queries, on_match=reported.append)
        assert len(engine.subscriptions) == 5
        engine.publish("S", "<a>2</a>")
        assert sorted(match.query for match in reported) == ["q3", "two"]


def test_a_row_continues_if_it_says_the_same(tmp_path: Path) -> None:
    kinds: list[list[object]] = [[1, 1.0], [0, 0.0, -0.0], ["1"], ["0"], [True], [False], [None]]
    text = "-- name: row\nS//a->x[. = :v]"
    for number, kind in enumerate(kinds[:4]):
        path = tmp_path / f"{number}.duckdb"
        with xscl.Engine(path) as engine:
            engine.load(text, tables={"row": {"v": kind[0]}})
        with xscl.Engine(path) as engine:
            for value in itertools.chain(*kinds):
                planned = engine.plan([(text, {"row": {"v": value}})])
                assert (planned.continuing == ["row"]) == (repr(value) in map(repr, kind))
            (error,) = engine.load_good(text, tables={"row": {"v": True}})[1]
            assert "takes a string or a finite number, found True" in str(error)


def test_an_error_in_a_transaction_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    engine = xscl.Engine(path)
    engine.subscribe(PAIR, name="pair")

    def change() -> None:
        with engine.transaction():
            engine.publish("S", "<a>1</a>", id="a", timestamp=0)
            engine.cancel("pair")
            engine.publish("S", "<a>")

    with pytest.raises(xscl.DocumentError):
        change()
    with pytest.raises(xscl.StateError, match="the engine is closed"):
        engine.publish("S", "<a>1</a>")
    with xscl.Engine(path) as engine:
        assert [one.name for one in engine.subscriptions] == ["pair"]
        assert engine.documents == 0


def test_a_full_disk_closes_the_engine_and_the_file_is_as_it_was(tmp_path: Path) -> None:
    script = """
import resource, sys, xscl
engine = xscl.Engine(sys.argv[1])
engine.subscribe("S//a->x JOIN {x = y} S//a->y", name="q")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for number in range(10_000):
    print(number, flush=True)
    engine.publish("S", f"<a>{number}{'.' * 1000}</a>", id=str(number), timestamp=number)
"""
    path = tmp_path / "state.duckdb"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert "cannot be written" in done.stderr
    assert "it is as it was before this batch: make room and run again" in done.stderr
    last = int(done.stdout.split()[-1])
    with xscl.Engine(path) as engine:
        assert engine.documents == last
        engine.publish("S", "<a>more</a>")


def test_lateness_is_kept_unless_given(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"

    def late(time: float, **options: float | str) -> int:
        with xscl.Engine(path, **options) as engine:  # type: ignore[arg-type]
            engine.subscribe("S//a", name="a")
            before = engine.skipped.late
            engine.publish("S", "<a/>", timestamp=time)
            return engine.skipped.late - before

    assert [late(10, lateness=5), late(4), late(6)] == [0, 1, 0]
    assert [late(4, lateness="INF"), late(3)] == [0, 0]
    assert os.path.getsize(path) > 0
