"""The join state: what a batch leaves in DuckDB, and what is dropped when no query can reach it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.join_stage.entities import Feeder, Query, composite, document
from tests.templates.graphs import graph
from xscl.join_stage import TimeConstraint

LEAF = graph([(0, None), (0, 0), (1, None), (1, 2)], [(1, "=", 3)], [0, 2])


def equal(left: str, right: str, window: int | None, *, after: bool = True) -> Query:
    """Documents of which two leaves are equal."""
    labels = ("root", left, "root", right)
    return Query(LEAF, labels, (False, False), TimeConstraint(after, window))


@pytest.fixture
def feeder() -> Iterator[Feeder]:
    some = Feeder()
    yield some
    some.connection.close()


def stored(feeder: Feeder, what: str, relation: str) -> list[object]:
    feeder.processor.prepare()
    rows = feeder.connection.execute(f"SELECT {what} FROM {relation} ORDER BY ALL").fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]


def test_a_batch_is_the_current_one_and_part_of_the_state(feeder: Feeder) -> None:
    one = document(0, 1, 1, [("a", 7)])
    other = document(1, 2, 1, [("a", 7)])
    feeder.publish([one])
    feeder.publish([other, composite(2, [one, other], [(0, 1), (1, 7)])])
    assert stored(feeder, "doc", "node_w") == [1, 1, 2, 2]
    assert stored(feeder, "doc", "node") == [0, 0, 1, 1, 2, 2]
    assert stored(feeder, "doc", "document") == [0, 1]
    assert stored(feeder, "doc, ts, start, first, parts", "composite") == [(2, 2, 1, 0, [0, 1])]
    sizes = feeder.sizes()
    assert sizes == {"node": 6, "strings": 2, "accept": 0, "document": 2, "composite": 1}


def test_what_is_dropped_leaves_with_its_strings(feeder: Feeder) -> None:
    one = document(0, 1, 1, [("a", 2)])
    feeder.publish([one, document(1, 1, 2, [("a", 3)])])
    feeder.publish([composite(2, [one], [(0, 4), (0, 3)])])
    feeder.processor.evict(None, [0])
    assert feeder.collect() == ["1"]
    assert stored(feeder, "doc", "document") == [1]
    feeder.processor.evict(None, [1, 2])
    assert sorted(feeder.collect()) == ["2", "3", "4"]
    assert not any(feeder.sizes().values())


def test_each_leaf_path_is_retained_as_long_as_its_own_queries_need_it(feeder: Feeder) -> None:
    """One query without end does not hold what only others read."""
    feeder.subscribe(0, equal("a", "a", None))
    feeder.subscribe(1, equal("b", "b", 10))
    feeder.publish([document(0, 0, 1, [("a", 1), ("b", 1)])])
    feeder.processor.evict(10, [], exact=True)
    assert stored(feeder, "path", "node") == [1, 2, 3]
    feeder.processor.evict(11, [], exact=True)
    # The root's own path is that of no spine's leaf.
    assert stored(feeder, "path", "node") == [1, 2]
    feeder.cancel(0)
    feeder.processor.evict(11, [], exact=True)
    assert stored(feeder, "path", "node") == [1]


def test_a_leaf_path_of_several_spines_is_retained_as_long_as_any_can_match(
    feeder: Feeder,
) -> None:
    feeder.subscribe(0, equal("a", "a", 20))
    alone = graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1])
    feeder.subscribe(1, Query(alone, ("a", "a"), (False, False), TimeConstraint(True, 5)))
    feeder.publish([document(0, 0, 1, [("a", 1)])])
    feeder.processor.evict(10, [], exact=True)
    assert stored(feeder, "path", "node") == [1, 2]
    assert feeder.publish([document(1, 20, 1, [("a", 1)])]) == {(0, (0, 1, 0, 0)): 1}
    feeder.processor.evict(21, [], exact=True)
    assert stored(feeder, "doc, path", "node") == [(0, 1), (1, 1), (1, 2)]


def test_the_right_side_of_followed_by_is_not_retained(feeder: Feeder) -> None:
    feeder.subscribe(0, equal("a", "b", 10))
    feeder.publish([document(0, 0, 1, [("a", 1), ("b", 1)])])
    feeder.processor.evict(1, [], exact=True)
    assert stored(feeder, "path", "node") == [1, 2]
    feeder.subscribe(1, equal("a", "b", 10, after=False))
    feeder.publish([document(1, 1, 1, [("a", 1), ("b", 1)])])
    feeder.processor.evict(11, [], exact=True)
    assert stored(feeder, "doc, path", "node") == [(0, 1), (1, 1), (1, 2), (1, 3)]


def test_rows_follow_their_leaf_path(feeder: Feeder) -> None:
    feeder.subscribe(0, equal("a", "a", 10))
    feeder.publish([document(0, 0, 1, [("a", 7), ("b", 7)])])
    feeder.move("a")
    feeder.move("b")
    path = feeder.paths["a"]
    assert stored(feeder, "path", "node") == [1, path]
    # Its accepts are unknown before the next batch: until then nothing is dropped.
    feeder.processor.evict(20, [], exact=True)
    assert stored(feeder, "path", "node") == [1, path]
    assert feeder.publish([document(1, 5, 1, [("a", 7)])]) == {(0, (0, 1, 0, 0)): 1}
    feeder.processor.evict(20, [], exact=True)
    assert stored(feeder, "path", "node") == [1, 1]


def test_strings_that_nobody_asks_for_any_more(feeder: Feeder) -> None:
    feeder.publish([document(0, 0, 1, [("a", 7), ("b", 8)])])
    feeder.processor.change([], [], [feeder.paths["a"]])
    assert stored(feeder, "path, s", "node") == [(1, 1), (2, None), (3, 8)]
    assert feeder.collect() == ["7"]


def test_everything_goes_at_last_when_documents_go_one_by_one(feeder: Feeder) -> None:
    """Strings are searched only when enough was dropped; none is lost by that, none reported
    twice."""
    number = 100
    for i in range(number):
        feeder.publish([document(i, i, 1_000 + i, [("a", i)])])
    gone = []
    for i in range(number):
        feeder.processor.evict(None, [i])
        gone += feeder.collect(exact=False)
    assert sorted(map(int, gone)) == [*range(number), *range(1_000, 1_000 + number)]


def test_a_sliding_window_is_flat(feeder: Feeder) -> None:
    """Hundreds of thousands of rows come and go; the retained ones and DuckDB's memory stay few."""
    feeder.subscribe(0, equal("a", "a", 1_000))
    largest = 0
    for start in range(0, 12_000, 1_000):
        times = range(start, start + 1_000)
        leaves = {time: [("a", time)] * 9 for time in times}
        new = [document(time, time, time, leaves[time]) for time in times]
        feeder.processor.begin(feeder.batch(new))
        feeder.processor.evict(times[-1], [time - 2_000 for time in times if time >= 2_000])
        feeder.collect(exact=False)
        largest = max(largest, *feeder.sizes().values())
    memory = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    assert largest <= 40_000
    assert feeder.connection.execute(memory).fetchall()[0][0] < 100_000_000


def test_what_comes_and_goes_is_never_written() -> None:
    """A window slides without a database, and its strings go all the same."""
    feeder = Feeder()
    feeder.connection.close()
    feeder.subscribe(0, equal("a", "a", 10))
    for number in range(400):
        found = feeder.publish([document(number, number, number, [("a", 10_000 + number % 50)])])
        assert not found
        feeder.processor.evict(number - 10, [number - 20] if number >= 20 else [])
        feeder.collect(exact=False)
        assert feeder.processor.rows < 100
        assert len(feeder.strings) < 200
