"""Channels: each pair has the queries of its row that admit it, at the borders of their windows and
from the first documents that they see."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.join_stage.entities import Feeder, Query, document, matches
from tests.templates.graphs import graph
from xscl.join_stage import Strategies, TimeConstraint

ROOTS = graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1])
WINDOWS = (0, 1, 2, 5, None)
EPOCHS = (0, 6, 7)


@pytest.mark.parametrize("windows", [WINDOWS, (2,)])
@pytest.mark.parametrize("epochs", [EPOCHS, (0,), (7,)])
def test_each_pair_has_the_queries_that_admit_it(
    windows: tuple[int | None, ...], epochs: tuple[int, ...]
) -> None:
    """Documents of one string, in any order of time, several at one time; judged pair by pair."""
    random_ = random.Random(f"{windows} {epochs}")
    queries = [
        Query(ROOTS, ("root", "root"), (False, False), TimeConstraint(after, window), since=since)
        for window in windows
        for since in epochs
        for after in (True, False)
    ]
    feeder = Feeder(Strategies(in_process=1))
    for number, query in enumerate(queries):
        feeder.subscribe(number, query)
    came = [document(number, random_.randint(0, 9), 1, []) for number in range(20)]
    for number, new in enumerate(came):
        pairs = [pair for old in came[:number] for pair in ((old, new), (new, old))]
        expected = Counter(
            (place, row)
            for pair in pairs
            for place, query in enumerate(queries)
            for row in matches(query, pair)
        )
        assert feeder.publish([new]) == expected
    feeder.connection.close()
