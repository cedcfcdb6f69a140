"""Interrupted batches: a batch is published again as if nothing had been, or the engine is closed.

The reading of a batch may break off at any point and has published nothing.  From the point on at
which a batch is ingested, an interrupt closes the engine, which then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import DRAW
from tests.xscl.engine.interrupting import interrupted_at, points_of

QUERIES = """
    S//a->x JOIN {x = y} S//b->y;
    S//a[./k->x][./v->v] FOLLOWED BY {x = y} S//b[./k->y] PUBLISH P;
    S//a->x JOIN {x = y} S//b->y JOIN {y = z} S//c->z;
    P//k;
    S//c[. = '1'];
    S//c[. = '2']
"""
TRIALS = 25 if DRAW >= 1 else 10
LAST = 12
STEP = 1 if DRAW >= 1 else 2


def batch(tag: str, names: str) -> list[dict[str, object]]:
    """Documents of these names, every third of them JSON."""
    return [
        {"id": f"{tag}{n}", "timestamp": n, "json": {name: {"k": str(n % 2), "v": ""}}}
        if n % 3 == 0
        else {"id": f"{tag}{n}", "timestamp": n, "xml": f"<{name}><k>{n % 2}</k></{name}>"}
        for n, name in enumerate(names)
    ]


FIRST, SECOND, THIRD = batch("f", "abca"), batch("s", "bacbabc"), batch("t", "cab")
SECOND.insert(2, {"id": "bad", "xml": "<"})


def engine_with_first(state: Path | None = None) -> xscl.Engine:
    engine = xscl.Engine(state, on_skip=lambda error: None)
    engine.load(QUERIES)
    engine.publish_many(FIRST)
    return engine


def ids(matches: list[xscl.Match]) -> list[str]:
    return sorted(match.id for match in matches)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_batch_that_is_interrupted(grouped: Any) -> None:
    with engine_with_first() as engine:
        points = points_of(lambda: engine.publish_many(SECOND, grouped=grouped))
    with engine_with_first() as engine:
        expected = ids(engine.publish_many(SECOND)), ids(engine.publish_many(THIRD))
        counted = engine.skipped
    again = closed = 0
    for point in [*range(0, points, points // TRIALS), points - 1]:
        with engine_with_first() as engine:
            publish = partial(engine.publish_many, SECOND, grouped=grouped)
            if not interrupted_at(point, publish):
                continue
            if engine._transactions.closed:
                with pytest.raises(
                    xscl.StateError, match=r"broken off \(KeyboardInterrupt\); make"
                ):
                    engine.publish_many(SECOND)
                closed += 1
                continue
            assert (ids(engine.publish_many(SECOND)), ids(engine.publish_many(THIRD))) == expected
            assert engine.skipped == counted
            again += 1
    assert again > TRIALS // 10
    assert closed > TRIALS // 10


LARGE = batch("l", "abc" * 4 + "d" * 90)
"""So many that no cycles are looked for meanwhile."""
STEPS = [*SECOND, {"retract": "s1", "stream": "S"}, *THIRD]
CALLS: dict[str, Callable[[xscl.Engine], Sequence[Any]]] = {
    "publish": lambda engine: engine.publish("S", "<c><y>1</y></c>", id="p", timestamp=9),
    "a batch": lambda engine: engine.publish_many(SECOND),
    "groups": lambda engine: engine.publish_many(SECOND, grouped=True),
    "a large batch": lambda engine: engine.publish_many(LARGE),
    "steps": lambda engine: engine.publish_many(STEPS),
    "groups of steps": lambda engine: engine.publish_many(STEPS, grouped=True),
    "count": lambda engine: [*engine.count(SECOND).elements()],
    "subscribe": lambda engine: [engine.subscribe("S//a/k", name="late", history=True)],
    "load": lambda engine: engine.load("S//a/k; S//b/k", history=True),
    "flush": lambda engine: engine.flush(),
    "advance": lambda engine: engine.advance(9),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_the_end_of_a_call(name: str) -> None:
    """When all is done but for returning what was found: nothing may be lost silently."""
    call = CALLS[name]

    def engine() -> xscl.Engine:
        engine = xscl.Engine(lateness=3, on_skip=lambda error: None, revisable=True)
        engine.load(f"{QUERIES}; EVENT SEQ(S//a a, !(S//c c), S//b b) WITHIN 3")
        engine.publish_many(FIRST)
        return engine

    with engine() as one:
        expected = len(call(one))
    with engine() as one:
        points = points_of(lambda: call(one))
    interrupted = 0
    for point in range(points - 1, max(-1, points - 1 - LAST), -STEP):
        with engine() as one:
            if not interrupted_at(point, partial(call, one)):
                continue
            interrupted += 1
            if one._transactions.closed:
                with pytest.raises(xscl.StateError, match="broken off"):
                    one.publish_many(THIRD)
            else:
                assert len(call(one)) == expected, (point, points)
    assert interrupted


def test_a_batch_that_is_interrupted_with_a_state_file(tmp_path: Path) -> None:
    with engine_with_first() as engine:
        expected = ids(engine.publish_many(SECOND)), ids(engine.publish_many(THIRD))
        points = points_of(lambda: engine.publish_many(batch("w", "bacbabc")))
    for point in range(0, points, points * STEP // 8):
        path = tmp_path / f"{point}.xscl"
        with engine_with_first(path) as engine:
            interrupted_at(point, partial(engine.publish_many, SECOND))
        with xscl.Engine(path, on_skip=lambda error: None) as engine:
            engine.load(QUERIES)
            found = ids(engine.publish_many(SECOND)), ids(engine.publish_many(THIRD))
        # Between the writing of the batch and its end, the batch is in and was not returned.
        assert found in (expected, ([], expected[1]))


class Failing(Mapping[str, object]):
    """An envelope that cannot be read."""

    def __getitem__(self, key: str) -> object:
        raise OSError("the source is gone")

    def __iter__(self) -> Iterator[str]:
        raise OSError("the source is gone")

    def __len__(self) -> int:
        return 1


def test_a_source_that_fails_at_the_third_document_has_published_nothing() -> None:
    with engine_with_first() as engine:
        expected = ids(engine.publish_many(SECOND))
    with engine_with_first() as engine:
        for some in ([*SECOND[:2], Failing()], [*SECOND[:2], {"json": Failing()}]):
            with pytest.raises(OSError, match="the source is gone"):
                engine.publish_many(some)
        assert engine.documents == len(FIRST)
        assert engine.skipped.total == 0
        assert ids(engine.publish_many(SECOND)) == expected


def test_what_fails_when_the_batch_is_in_closes_the_engine() -> None:
    """A callback that ends the program: the matches after it are not reported."""

    def leave(match: xscl.Match) -> Any:
        raise SystemExit("enough")

    with engine_with_first() as engine:
        engine.subscribe("S//a", on_match=leave)
        with pytest.raises(SystemExit):
            engine.publish_many(SECOND)
        with pytest.raises(xscl.StateError, match=r"broken off \(SystemExit: enough\)"):
            engine.publish_many(SECOND)


def test_a_query_that_is_refused_breaks_nothing_off() -> None:
    with engine_with_first() as engine:
        wrong: Any = 7
        for text in ("S//", "S//a[. = :k]", wrong):
            with pytest.raises(xscl.XSCLError):
                engine.subscribe(text)
        with pytest.raises(xscl.DocumentError):
            engine.publish("S", "<")
        with pytest.raises(xscl.StateError):
            engine.cancel("nobody")
        assert engine.publish_many(SECOND)
