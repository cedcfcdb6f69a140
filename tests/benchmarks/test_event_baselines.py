"""The baselines of event queries and the engine find the same."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.baselines.events.restart import Restart
from benchmarks.baselines.events.sequential import Sequential
from benchmarks.events.double_top import in_sql, table_of
from benchmarks.events.ways import Speed, agreeing, speed
from datasets import SteppedQuery, cayuga_events, stepped_queries, stock_closings

VALUES = 3


@pytest.fixture(scope="module")
def queries() -> list[SteppedQuery]:
    """Queries with so few constants that they find something."""
    return [
        replace(
            query, primary=query.primary % VALUES, others=tuple(o % VALUES for o in query.others)
        )
        for query in stepped_queries(40)
    ]


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    """Events of as few values, with pauses."""
    dice, time, some = random.Random(1), 0, []
    for event in cayuga_events(400):
        time += dice.choice((1, 1, 1, 4))
        values = {
            name: value % VALUES if name.startswith("d") else value
            for name, value in event["json"].items()
        }
        some.append(event | {"timestamp": time, "json": values})
    return some


def test_plans_that_share_nothing(
    queries: list[SteppedQuery], events: list[dict[str, Any]]
) -> None:
    ways = {
        "sequential": speed(Sequential(queries).take, events, 60, 7),
        "restart": speed(Restart(queries).take, events, 60, 10),
    }
    agreeing(ways)
    assert ways["restart"].outputs > 20


def test_ways_that_differ_stop_the_run() -> None:
    ways = {"one": Speed(1, {5: 1, 9: 3}), "other": Speed(1, {9: 4})}
    with pytest.raises(AssertionError, match="after 9 events other and one"):
        agreeing(ways)


def test_double_tops_in_sql() -> None:
    closings = table_of(stock_closings(4_000, volatility=0.15))
    for days in (1, 3):
        first, second = (sorted(in_sql(way, days, closings)) for way in ("CQL1", "CQL2"))
        assert first == second
        assert first
