"""The baselines of patterns and the pattern stage find the same."""

from __future__ import annotations

import pytest

from benchmarks.patterns.basic import BasicScan
from benchmarks.patterns.relational import RelationalJoins
from benchmarks.patterns.second_test import SecondTest
from benchmarks.patterns.streams import typed
from benchmarks.patterns.ways import Staged, Way, compared, sequence

WINDOW = 40


@pytest.mark.parametrize(("length", "tests"), [(2, 0), (3, 0), (3, 1), (3, 2), (4, 2)])
def test_sequences(length: int, tests: int) -> None:
    query, types = sequence(length, tests, WINDOW), range(1, length + 1)
    ways: dict[str, Way] = {
        "stage": Staged(query, types),
        "read": Staged(query, types, verbose=True),
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


def test_ways_that_differ_stop_the_run() -> None:
    ways = {"short": BasicScan(2, WINDOW - 9), "long": BasicScan(2, WINDOW)}
    with pytest.raises(AssertionError, match="short, long find different numbers"):
        compared(ways, typed(4 * WINDOW, (), types=3), WINDOW, limit=60)
