"""The workloads of event queries: distributions, times, and that a seed makes them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from math import log
from statistics import correlation, mean, pstdev, quantiles

import pytest

from benchmarks.events.workloads import WORKLOADS, hybrid_queries, posts, smoothed
from datasets import (
    cayuga_benchmark,
    cayuga_events,
    cpu_readings,
    rumor_benchmark,
    rumor_events,
    stepped_queries,
    stock_closings,
)

QUERIES = 10_000


def zipfian(drawn: Sequence[int], values: int, exponent: float) -> None:
    """Fails unless the five likeliest values are drawn as often as they should."""
    total, counted = sum(rank**-exponent for rank in range(1, values + 1)), Counter(drawn)
    for value in range(min(5, values)):
        expected = (value + 1) ** -exponent / total
        assert counted[value] / len(drawn) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_seed_makes_them_again(name: str) -> None:
    queries, events = WORKLOADS[name]
    first, again = ([*queries(40)] for _ in range(2))
    assert first == again
    assert sum(len(rows) for text, rows in first if ":" in text) == 40
    some = [*events(110)]
    assert some == [*events(110)]
    assert all(one["timestamp"] <= other["timestamp"] for one, other in pairwise(some))
    assert len({event["id"] for event in some}) == len(some)


def test_stepped_queries() -> None:
    drawn = stepped_queries(QUERIES, zipf=(1.2, 0.5, 0.8), selectivity=0.6)
    zipfian([query.discrete[0] for query in drawn], 4, 1.2)
    zipfian([query.primary for query in drawn], 100, 1.2)
    for step, exponent in enumerate((1.2, 0.5, 0.8)):
        zipfian([query.others[step] for query in drawn], 100, exponent)
        shifts = [round((query.bounds[step][0] - 0.6) * 1_000) for query in drawn]
        zipfian(shifts, 25, exponent)
        assert all(most + least == pytest.approx(1) for most, least in drawn[0].bounds)
    for query in drawn[:100]:
        assert len({*query.discrete}) == len({*query.continuous}) == 2
    texts = [*cayuga_benchmark("Filter", QUERIES)]
    assert (len(texts), sum(len(rows) for _, rows in texts)) == (72, QUERIES)


def test_cayuga_events() -> None:
    events = [event["json"] for event in cayuga_events(5_000)]
    for name in events[0]:
        most = 100 if name.startswith("d") else 1
        values = [event[name] for event in events]
        assert 0 <= min(values) <= max(values) < most
        assert quantiles(values, n=4) == pytest.approx([most * q / 4 for q in (1, 2, 3)], rel=0.1)


def test_rumor_queries_and_events() -> None:
    [(_, rows)] = rumor_benchmark(1, QUERIES, values=50, windows=20, zipf=1.3)
    zipfian([20 - int(row["window"]) for row in rows], 20, 1.3)
    zipfian([int(row["first"]) for row in rows], 50, 1.3)
    zipfian([int(row["second"]) for row in rows], 50, 1.3)
    assert {row["window"] for row in rows} == {*range(1, 21)}
    events = [*rumor_events(4_000)]
    assert {(e["stream"], e["timestamp"] % 2) for e in events} == {("S", 0), ("T", 1)}
    values = [event["json"]["a3"] for event in events]
    assert quantiles(values, n=4) == pytest.approx([250, 500, 750], rel=0.1)
    texts = [*rumor_benchmark(2, 25, capacity=10)]
    assert [len(rows) for _, rows in texts] == [3] * 5 + [2] * 5
    for time, some in groupby(rumor_events(10, capacity=4), key=lambda event: event["timestamp"]):
        copies = [*some]
        assert len(copies) == (1 if time % 2 else 4)
        assert all(copy["json"] == copies[0]["json"] for copy in copies)


def test_stock_closings() -> None:
    rows = [*stock_closings(24_003)]
    assert Counter(row["timestamp"] for row in rows)[0] == 24
    by_name: dict[str, list[float]] = {}
    for row in rows:
        by_name.setdefault(row["json"]["Name"], []).append(row["json"]["Price"])
    steps = [[log(b / a) for a, b in pairwise(prices)] for prices in by_name.values()]
    every = [step for some in steps for step in some]
    assert 0 not in every
    assert mean(every) == pytest.approx(0, abs=0.001)
    assert pstdev(every) == pytest.approx(0.02, rel=0.05)
    assert correlation(*zip(*(pair for s in steps for pair in pairwise(s)), strict=True)) < 0


def test_cpu_readings_and_their_queries() -> None:
    readings = [*cpu_readings(200, processes=20)]
    assert Counter(reading["timestamp"] for reading in readings) == dict.fromkeys(range(200), 20)
    loads = [reading["json"]["load"] for reading in readings]
    assert 0 <= min(loads) < 10 < max(loads) <= 100
    means = [*smoothed(readings)]
    for admitted in (0, 0.3, 1):
        [_, (_, rows)] = hybrid_queries(5, admitted, readings)
        for row in rows:
            within = sum(row["least"] <= load <= row["most"] for load in means)
            assert within / len(means) == pytest.approx(admitted, abs=0.01)


def test_posts() -> None:
    some = [post["json"] for post in posts(5_000)]
    assert len({post["website"] for post in some}) == 415
    popularity = [post["popularity"] for post in some]
    assert quantiles(popularity, n=4) == pytest.approx([25, 50, 75], abs=4)
    assert all(post["channel"].startswith(post["website"]) for post in some)
