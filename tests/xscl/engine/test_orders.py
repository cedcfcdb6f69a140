"""Joins by order only: in process or in DuckDB, the matches are the same, however documents and
queries come and go."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import xscl
from tests.drawn import seeded, times
from xscl.join_stage.in_process import crossing

QUERIES = (
    "S/a[p->x] FOLLOWED BY {x < y, 6 s} S/a[p->y]",
    "S/a[p->x] FOLLOWED BY {x < y, 20 s} S/a[p->y]",
    "S/a[p->x] FOLLOWED BY {x != y, 6 s} S/b[p->y]",
    "S/a[p->x] JOIN {x >= y, 6 s} S/b[p->y]",
    "S/a[p->x] JOIN {4 s} S/b[q->y]",
    "S/a->r[p->x][q->v] FOLLOWED BY {x > y AND v <= w, INF} S/b[p->y]/q->w",
    "S/b->r[p->x] FOLLOWED BY {x > y, 5 s} (S/a[p->y] FOLLOWED BY {y < z, 5 s} S/b[p->z])",
)


def document(draw: random.Random, number: int, clock: int) -> dict[str, object]:
    name = draw.choice("ab")
    leaves = "".join(f"<{leaf}>{draw.choice(VALUES)}</{leaf}>" for leaf in draw.choice(LEAVES))
    at = max(0, clock + draw.choice((0, 0, 0, -3)))
    return {"id": str(number), "timestamp": at, "xml": f"<{name}>{leaves}</{name}>"}


VALUES = ("1", "2", "10", "x", "-1.5", "y", "")
LEAVES = ("p", "p", "pq", "ppq", "q")


def found(matches: list[xscl.Match]) -> list[Any]:
    return sorted((one.query, one.documents, one.nodes) for one in matches)


def both(seed: int, most: int, patch: pytest.MonkeyPatch) -> int:
    """The same done to an engine that compares in process and to one that asks DuckDB; returns how
    many matches both have found."""
    patch.setattr(crossing, "_MOST", most)
    draw = seeded(seed)
    engines = [
        xscl.Engine(lateness="8 s", strategies=xscl.Strategies(in_process=few)) for few in (3, 0)
    ]
    matches, names = 0, 0

    def each(act: Callable[[xscl.Engine], list[xscl.Match]]) -> None:
        nonlocal matches
        one, other = (found(act(engine)) for engine in engines)
        assert one == other
        matches += len(one)

    for query in draw.sample(QUERIES, 3):
        for engine in engines:
            engine.subscribe(query, f"q{names}")
        names += 1
    clock = number = 0
    for _ in range(10):
        clock += draw.choice((0, 1, 3))
        some = [document(draw, number + more, clock) for more in range(draw.choice((1, 1, 1, 4)))]
        number += len(some)
        each(lambda engine, some=some: engine.publish_many(some))  # type: ignore[misc]
        match draw.randrange(9):
            case 0:
                query, past = draw.choice(QUERIES), draw.random() < 0.5
                name = f"q{names}"
                names += 1
                each(
                    lambda engine, query=query, name=name, past=past: (
                        engine.subscribe(  # type: ignore[misc]
                            query, name, history=past
                        ).found
                    )
                )
            case 1:
                name = draw.choice([one.name for one in engines[0].subscriptions] or [""])
                for engine in engines if name else ():
                    engine.cancel(name)
            case 2:
                assert len({repr(engine.stats(exact=True)["documents"]) for engine in engines}) == 1
    for engine in engines:
        engine.close()
    return matches


@pytest.mark.drawn
@pytest.mark.parametrize("most", [2_000, 3])
def test_pairs_are_compared_equally_in_process_and_by_duckdb(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(both(seed, most, monkeypatch) for seed in range(times(3))) > 10 * times(3)


def test_a_document_that_comes_alone_asks_nothing_of_duckdb(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(QUERIES[0])
        engine.publish("S", "<a><p>0</p></a>", timestamp=0)
        monkeypatch.delattr("xscl.join_stage.relational.join.RelationalJoin.prepare")
        for n in range(1, 9):
            assert len(engine.publish("S", f"<a><p>{n}</p></a>", timestamp=n)) == min(n, 6)
