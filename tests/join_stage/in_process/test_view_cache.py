"""The view cache: slices in order of time, filled from DuckDB again, within the memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.join_stage.entities import Entity, Feeder, Query, document
from tests.templates.graphs import graph
from xscl.join_stage import Strategies, TimeConstraint

ENDS = graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1])


def same_root(*, after: bool = True, window: int | None = None) -> Query:
    return Query(ENDS, ("root", "root"), (False, False), TimeConstraint(after, window))


def at(number: int, time: int, string: int = 1) -> Entity:
    return document(number, time, string, [])


@pytest.fixture
def feeder() -> Iterator[Feeder]:
    some = Feeder(Strategies(in_process=1))
    yield some
    some.connection.close()


def pairs(feeder: Feeder, *entities: Entity) -> set[tuple[int, ...]]:
    return {row[:2] for _, row in feeder.publish(entities)}


def counters(feeder: Feeder) -> dict[str, int]:
    return feeder.processor.in_process() | feeder.processor.joined()


def test_a_window_is_found_whatever_the_order_of_arrival(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root(window=2))
    assert pairs(feeder, at(0, 5)) == set()
    assert pairs(feeder, at(1, 3)) == {(1, 0)}
    assert pairs(feeder, at(2, 4)) == {(1, 2), (2, 0)}
    assert pairs(feeder, at(3, 4)) == {(1, 3), (3, 0)}
    assert pairs(feeder, at(4, 7)) == {(0, 4)}


def test_without_an_order_both_are_found(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root(after=False, window=2))
    pairs(feeder, at(0, 5))
    assert pairs(feeder, at(1, 3)) == {(1, 0), (0, 1)}
    assert pairs(feeder, at(2, 2)) == {(1, 2), (2, 1)}


def test_what_came_in_a_batch_is_filled_when_it_is_asked_for(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root())
    pairs(feeder, at(0, 0, 1), at(1, 0, 2))
    assert counters(feeder)["slices"] == 0
    assert pairs(feeder, at(2, 1, 1)) == {(0, 2)}
    assert pairs(feeder, at(3, 2, 1)) == {(0, 3), (2, 3)}
    assert (counters(feeder)["misses"], counters(feeder)["hits"]) == (1, 1)
    # A batch makes what it touches stale.
    assert pairs(feeder, at(4, 3, 1), at(5, 3, 3)) == {(0, 4), (2, 4), (3, 4)}
    assert pairs(feeder, at(6, 4, 1)) == {(0, 6), (2, 6), (3, 6), (4, 6)}


def test_a_string_that_is_new_is_not_looked_for(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root())
    pairs(feeder, at(0, 0, 1))
    pairs(feeder, at(1, 1, 2))
    assert counters(feeder)["misses"] == 0


def test_nothing_is_left_of_what_is_dropped(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root())
    pairs(feeder, at(0, 0), at(1, 0))
    for number in range(2, 6):
        pairs(feeder, at(number, number))
    feeder.processor.evict(None, [0, 3])
    assert pairs(feeder, at(6, 9)) == {(1, 6), (2, 6), (4, 6), (5, 6)}
    feeder.processor.evict(None, [1, 2, 4, 5, 6])
    # A string in no document is known as long as the string is.
    assert (counters(feeder)["slices"], counters(feeder)["bytes"]) == (1, 100)
    misses = counters(feeder)["misses"]
    assert pairs(feeder, at(7, 10)) == set()
    assert counters(feeder)["misses"] == misses
    feeder.processor.evict(None, [7])
    feeder.collect()
    assert (counters(feeder)["slices"], counters(feeder)["bytes"]) == (0, 0)


def test_what_was_there_once_and_is_dropped_is_nowhere(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root(after=False))
    pairs(feeder, at(0, 0))
    feeder.processor.evict(None, [0])
    assert pairs(feeder, at(1, 1)) == set()
    feeder.processor.evict(None, [1])
    assert pairs(feeder, at(2, 2)) == set()
    assert pairs(feeder, at(3, 3)) == {(2, 3), (3, 2)}


def test_what_exceeds_memory_is_found_all_the_same() -> None:
    feeder = Feeder(Strategies(memory=4000))
    feeder.subscribe(0, same_root(after=False))
    for number in range(100):
        string = number % 10
        equal = range(string, number, 10)
        expected = {pair for one in equal for pair in ((one, number), (number, one))}
        assert pairs(feeder, at(number, number, string)) == expected
        assert counters(feeder)["bytes"] < 10_000
    assert counters(feeder)["evicted"] > 50
    assert counters(feeder)["misses"] > 50
    feeder.processor.evict(None, range(100))
    feeder.collect()
    assert counters(feeder)["bytes"] == 0
    feeder.connection.close()


def test_documents_of_one_structure_have_one_signature(feeder: Feeder) -> None:
    feeder.subscribe(0, same_root())
    for number in range(10):
        pairs(feeder, at(number, number))
    found = counters(feeder)
    assert (found["pairs"], found["evaluated"], found["signatures"]) == (45, 1, 1)
