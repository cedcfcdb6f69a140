"""A state file of each version so far, made by the code of that time, continues as if nothing had
been in between.

`states/N.duckdb.gz` had the queries and the early events of `MADE` below, with a lateness of five
seconds, the last event after a restart; that of version 1 had what its test says.  Version 5 came
with version 6, in one change: no program has written it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import xscl
from xscl.durable.schema import VERSION

PAIR = "S//a->x FOLLOWED BY {x = y} S//b->y"
STATES = Path(__file__).parent / "states"
NEVER_WRITTEN = 5

Event = tuple[str, int, dict[str, Any]]


class Made(NamedTuple):
    """What a file was made of, and what comes later."""

    queries: dict[str, str]
    early: list[Event]
    late: list[Event]


EVENT_QUERIES = {
    "next": "SELECT * FROM S NEXT{$1.a = $2.a} T",
    "fold": "SELECT a, n, total FROM (SELECT a, 1 AS n, b AS total, b FROM S) "
    "FOLD{$1.a = $2.a, $2.b > $.total, $.n + 1 AS n, $2.b AS total} (SELECT a, b FROM T)",
    "both": "SELECT a, b FROM (S UNION (SELECT a, b + 1 AS b FROM T)) NEXT{$1.a = $2.a} T",
    "mean": "SELECT a, AVG(b) AS mean FROM WINDOW{20 s}(S) GROUP BY a",
    "feeds": "SELECT a, b + 1 AS c FROM S PUBLISH U",
    "above": "SELECT * FROM U NEXT{$1.a = $2.a} U",
    "pattern": "EVENT SEQ(S x, T y) WHERE [a] WITHIN 100 s",
    "eager": "SELECT * FROM S NEXT{$1.b < $2.b} S",
}
EARLY_EVENTS = [
    ("S", 1, {"a": "x", "b": 1}),
    ("T", 2, {"a": "x", "b": 2, "c": None}),
    ("S", 3, {"a": "y", "b": 3, "d": [1, 2]}),
    ("T", 9, {"a": "y", "b": 4}),
    ("S", 10, {"a": "x", "b": 5, "e": {"f": 1}}),
    ("S", 11, {"a": "x", "b": 9}),
]
LATE_EVENTS = [
    ("T", 8, {"a": "x", "b": 7}),
    ("T", 12, {"a": "y", "b": 9}),
    ("S", 13, {"a": "x", "b": 6}),
    ("T", 15, {"a": "x", "b": 8}),
    ("S", 40, {"a": "z", "b": 0}),
    ("T", 50, {"a": "z", "b": 1}),
]

JOINS = {
    "pair": "S//a->x FOLLOWED BY {x = y, 50} T//a->y",
    "result": "SELECT <r>{x}</r> FROM S//a->x JOIN {x = y, 40} T//a->y PUBLISH R",
    "reads": "R//r->x FOLLOWED BY {x = y, 60} T//a->y",
}
PATTERNS = {
    "sequence": "EVENT SEQ(S x, T y) WHERE [a] WITHIN 100 s",
    "absence": "EVENT SEQ(S x, !(U u), T y) WHERE [a] WITHIN 100 s",
    "iterated": "PATTERN SEQ(S x, T+ y[]) WHERE [a] WITHIN 60 s",
}
EVENTS = {name: EVENT_QUERIES[name] for name in ("next", "fold")}
LEVELS = {
    "eql": "SELECT A.a, B.b FROM (S A; T B) WHERE FILTER(A.a = B.a), (A, B) OCCURS WITHIN 100 s",
    "middle": "EVENT SEQ(S x, T y) WHERE [a] WITHIN 100 s CONSISTENCY middle",
}
EARLY: list[Event] = [
    ("S", 1, {"a": "x", "b": 1}),
    ("T", 2, {"a": "x", "b": 2}),
    ("S", 3, {"a": "y", "b": 3}),
    ("U", 4, {"a": "x", "b": 3}),
    ("T", 9, {"a": "y", "b": 4}),
    ("S", 10, {"a": "x", "b": 5}),
    ("S", 11, {"a": "x", "b": 9}),
]
LATE: list[Event] = [
    ("T", 8, {"a": "x", "b": 7}),
    ("U", 12, {"a": "y", "b": 0}),
    ("T", 13, {"a": "x", "b": 10}),
    ("T", 14, {"a": "y", "b": 6}),
    ("T", 40, {"a": "x", "b": 12}),
]
MADE = {
    2: Made({**JOINS, **PATTERNS}, EARLY, LATE),
    3: Made({**JOINS, **PATTERNS, **EVENTS}, EARLY, LATE),
    4: Made(EVENT_QUERIES, EARLY_EVENTS, LATE_EVENTS),
    6: Made({**JOINS, **PATTERNS, **EVENTS, **LEVELS}, EARLY, LATE),
}


def test_there_is_a_file_of_each_version() -> None:
    there = {int(file.name.partition(".")[0]) for file in STATES.iterdir()}
    assert there == {1, *MADE} == {*range(1, VERSION + 1)} - {NEVER_WRITTEN}


@pytest.mark.parametrize("version", MADE)
def test_a_state_continues(version: int, tmp_path: Path) -> None:
    made = MADE[version]
    with xscl.Engine(lateness=5) as uninterrupted:
        for name, text in made.queries.items():
            uninterrupted.subscribe(text, name=name)
        published(uninterrupted, made.early)
        expected = [*published(uninterrupted, made.late), *shown(uninterrupted.flush())]
    assert {name for name, *_ in expected} == made.queries.keys(), "each has something pending"
    path = tmp_path / "state.duckdb"
    path.write_bytes(gzip.decompress((STATES / f"{version}.duckdb.gz").read_bytes()))
    with xscl.Engine(path) as engine:
        assert [*published(engine, made.late), *shown(engine.flush())] == expected


def test_the_first_version_continues(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    path.write_bytes(gzip.decompress((STATES / "1.duckdb.gz").read_bytes()))
    with xscl.Engine(path) as engine:
        assert [one.name for one in engine.subscriptions] == [
            "pair", "chain", "many[0]", "many[2]", "late", "p", "inner",
        ]  # fmt: skip
        assert (engine.documents, engine.skipped.duplicate) == (5, 1)
        shown: list[xscl.Match] = []
        engine.subscribe(PAIR, name="pair", on_match=shown.append)
        assert [(match.id, match.documents) for match in shown] == [
            ("77500fb13ff9fcc686517204a82cffb1", ("d1", "d2"))
        ]
        found = engine.publish("S", "<b>1</b>", id="d6", timestamp=6)
        assert sorted((match.query, *match.documents) for match in found) == [
            ("p", "d5", "d6"),
            ("pair", "d1", "d6"),
            ("pair", "d5", "d6"),
        ]
        found = engine.publish("S", "<c>1</c>", id="d7", timestamp=7)
        assert sorted((match.query, *match.documents) for match in found) == [
            *(("chain", a, b, "d7") for a in ("d1", "d5") for b in ("d2", "d6")),
            ("late", "d2", "d7"),
            ("late", "d6", "d7"),
            ("many[0]", "d7"),
        ]


def published(engine: xscl.Engine, events: Iterable[Event]) -> list[tuple[object, ...]]:
    """The matches of events, each of which has its time as id."""
    return [
        one
        for stream, time, value in events
        for one in shown(engine.publish(stream, value, id=f"d{time}", timestamp=time))
    ]


def shown(found: Iterable[xscl.Match | xscl.Retraction]) -> list[tuple[object, ...]]:
    """Matches, without ids of documents: some had none."""
    return [
        ("retracted", *shown([one.match]))
        if isinstance(one, xscl.Retraction)
        else (one.query, one.start, one.time, one.result)
        for one in found
    ]
