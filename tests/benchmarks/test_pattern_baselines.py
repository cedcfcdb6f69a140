"""The baselines of patterns and the pattern stage find the same."""

from __future__ import annotations

import pytest

from benchmarks.patterns.backtrack import Backtrack
from benchmarks.patterns.basic import BasicScan
from benchmarks.patterns.kleene import Constants, by_hand, kleene
from benchmarks.patterns.relational import RelationalJoins
from benchmarks.patterns.second_test import SecondTest
from benchmarks.patterns.streams import stocks, typed
from benchmarks.patterns.ways import Staged, Way, compared, sequence

WINDOW = 40


@pytest.mark.parametrize(("length", "tests"), [(2, 0), (3, 0), (3, 1), (3, 2), (4, 2)])
def test_sequences(length: int, tests: int) -> None:
    query, types = sequence(length, tests, WINDOW), range(1, length + 1)
    ways: dict[str, Way] = {
        "stage": Staged(query, types),
        "read": Staged(query, types, output="matches"),
        "selection": Staged(query, types, without=("PAIS", "dynamic filtering")),
        "joins": RelationalJoins(length, tests, WINDOW),
    }
    if not tests:
        ways["basic"] = BasicScan(length, WINDOW)
    if (length, tests) == (3, 2):
        ways["after"] = SecondTest(WINDOW, "selection")
        ways["scanned"] = SecondTest(WINDOW, "Multi-PAIS")
        ways["early"] = SecondTest(WINDOW, "dynamic filtering")
    events = typed(6 * WINDOW, (2, 2), types=4)
    went = compared(ways, events, WINDOW, limit=60)
    assert sum(went["stage"].found) > 20


@pytest.mark.parametrize("strategy", ["s2", "s3"])
@pytest.mark.parametrize("predicate", ["p1", "p2", "p3"])
def test_kleene_patterns(predicate: str, strategy: str) -> None:
    constants = Constants(begins=5, below=400)
    pattern = kleene(predicate, strategy, WINDOW)
    ways: dict[str, Way] = {
        "stage": Staged(pattern, (1, 1), constants),
        "basic": Staged(pattern, (1, 1), constants, ("merging",), "matches"),
        "copies": Staged(pattern, (1, 1), constants, ("merging", "shared buffer"), "matches"),
    }
    events = list(stocks(400))
    went = compared(ways, events, WINDOW, limit=60)
    assert sum(went["stage"].found) > 20
    for peeking in (True, False):
        backtrack = Backtrack(by_hand(predicate, strategy, WINDOW, constants), peeking=peeking)
        backtrack.take(events)
        assert backtrack.finish() == sum(went["stage"].found)
    assert isinstance(ways["basic"], Staged)
    assert backtrack.lengths == ways["basic"].lengths


def test_ways_that_differ_stop_the_run() -> None:
    ways = {"short": BasicScan(2, WINDOW - 9), "long": BasicScan(2, WINDOW)}
    with pytest.raises(AssertionError, match="short, long find different numbers"):
        compared(ways, typed(4 * WINDOW, (), types=3), WINDOW, limit=60)
