"""Documents by shape and time: what a window can still reach, against looking at each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xscl.documents.retention import Floor, Retention, Shape

LEAVES = st.frozensets(st.integers(0, 4), max_size=3)
REACHES = st.dictionaries(st.integers(0, 4), st.integers(0, 9), max_size=5)


class Queries:
    """Which leaf paths are reached, and for how long; a stream that no query reads is dropped."""

    def __init__(self) -> None:
        self.leaves: dict[int, int] = {}
        self.streams = {"S", "R"}

    def __call__(self, shape: Shape) -> int | None:
        stream, leaves = shape  # type: ignore[misc]
        if stream not in self.streams:
            return None
        return max((self.leaves.get(leaf, 0) for leaf in leaves), default=0)


@given(
    st.lists(st.tuples(st.sampled_from("SR"), LEAVES, st.integers(0, 20), REACHES), max_size=12),
    st.dictionaries(st.integers(0, 4), st.none() | st.integers(5, 6), max_size=2),
    st.lists(st.none() | st.integers(0, 30), min_size=1, max_size=4),
)
def test_what_is_retained_is_what_a_query_can_reach(
    documents: list[tuple[str, frozenset[int], int, dict[int, int]]],
    moved: dict[int, int | None],
    watermarks: list[int | None],
) -> None:
    queries = Queries()
    retention = Retention(queries)
    shapes: dict[int, tuple[str, frozenset[int]]] = {}
    for number, (stream, leaves, time, reaches) in enumerate(documents):
        shapes[number] = (stream, leaves)
        retention.retain(number, time, (stream, leaves))
        queries.leaves = reaches
        retention.queries_changed({})
    retention.queries_changed(moved)
    for number, (stream, leaves) in shapes.items():
        left = {moved.get(leaf, leaf) for leaf in leaves}
        shapes[number] = (stream, frozenset(leaf for leaf in left if leaf is not None))
    retained = set(shapes)
    for watermark in watermarks:
        reached = {
            number
            for number in retained
            if watermark is None
            or documents[number][2] >= watermark - (queries(shapes[number]) or 0)
        }
        assert {n for n in retained if retention.reaches(n, watermark)} == reached
        assert set(retention.expired(watermark)) == retained - reached
        retained = reached
        assert len(retention) == len(retained)
    queries.streams = {"R"}
    retention.queries_changed({})
    assert set(retention.expired(None)) == {n for n in retained if shapes[n][0] == "S"}


@given(
    st.lists(st.tuples(st.integers(0, 7), LEAVES), min_size=1, max_size=20),
    st.integers(0, 5),
    st.none() | st.integers(0, 9),
)
def test_a_floor_counts_a_document_once_however_often_it_is_read(
    readings: list[tuple[int, frozenset[int]]], most: int, watermark: int | None
) -> None:
    """Of documents that no query reaches, those remain that are the latest."""
    queries = Queries()
    queries.streams = set()
    retention = Retention(queries)
    retention.keep_recent("S", Floor(1_000, most))
    for number, leaves in readings:
        retention.retain(number, number, ("S", leaves))
    there = sorted({number for number, _ in readings})
    left = there[len(there) - most :] if most < len(there) else there
    assert sorted(retention.expired(watermark)) == there[: len(there) - len(left)]
    assert [number for number in there if retention.reaches(number, watermark)] == left
    # What is dropped may come again.
    for number in there:
        retention.retain(number, number, ("S", frozenset()))
    assert sorted(retention.expired(watermark)) == there[: len(there) - len(left)]
