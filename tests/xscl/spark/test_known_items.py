"""The items that are known from batch to batch, in whichever batches bodies come, and again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xscl.spark.feed_histories import BODIES, RETITLED, by_the_rules, item
from xscl.errors import StateError
from xscl.feeds import Item
from xscl.spark.ingestion.known_items import KnownItems, packed_keys

Numbered = tuple[int, str, Sequence[Item]]
"""A body: its sequence number, its feed and its items."""


def table(bodies: Sequence[Numbered]) -> pa.Table:
    rows = [
        {"sequence": number, "feed": feed, "keys": packed_keys(items)}
        for number, feed, items in bodies
    ]
    columns = [("sequence", pa.int64()), ("feed", pa.string()), ("keys", pa.binary())]
    return pa.Table.from_pylist(rows, pa.schema(columns))


@drawn(20)
@example([RETITLED, RETITLED], [], [], False, Random(0))
@example([RETITLED, RETITLED], [1, 3, 5], [0, 1, 2], False, Random(0))
@given(
    st.lists(BODIES, min_size=1, max_size=3),
    st.lists(st.integers(0, 30), max_size=4),
    st.lists(st.integers(0, 4), max_size=3),
    st.booleans(),
    st.randoms(),
)
def test_any_batches_report_the_same_and_the_last_again(
    tmp_path_factory: pytest.TempPathFactory,
    feeds: list[list[list[Item]]],
    cuts: list[int],
    repeated: list[int],
    updates: bool,
    random: Random,
) -> None:
    known = KnownItems(tmp_path_factory.mktemp("known") / "known.duckdb")
    bodies = [(f"f{number}", body) for number, feed in enumerate(feeds) for body in feed]
    order = sorted(range(len(bodies)), key=lambda place: random.random())
    by_feed = {feed: [body for name, body in bodies if name == feed] for feed, _ in bodies}
    expected: dict[int, list[int]] = {}
    numbered: list[Numbered] = []
    places = {feed: iter(by_the_rules(shown, updates=updates)) for feed, shown in by_feed.items()}
    left = {feed: iter(shown) for feed, shown in by_feed.items()}
    for number, place in enumerate(order, 1):
        feed = bodies[place][0]
        numbered.append((number, feed, next(left[feed])))
        expected[number] = next(places[feed])
    ends = sorted({0, *(cut for cut in cuts if cut < len(numbered)), len(numbered)})
    found: dict[int, list[int]] = {}
    for batch, (start, end) in enumerate(pairwise(ends)):
        for _ in range(1 + repeated.count(batch)):
            some = random.sample(numbered[start:end], end - start)
            reported = known.news(batch, table(some), updates=updates)
            assert reported.keys() == {number for number, _, _ in some}
            assert all(found.get(number, news) == news for number, news in reported.items())
            found |= reported
    assert found == expected


def test_a_batch_without_bodies_counts_as_one(tmp_path: Path) -> None:
    known = KnownItems(tmp_path / "known.duckdb")
    assert known.news(0, table([]), updates=False) == {}
    assert known.news(1, table([(1, "f", [item("a")])]), updates=False) == {1: [0]}


def test_what_is_known_by_an_older_copy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "known.duckdb"
    body = table([(1, "f", [item("a")])])
    KnownItems(path).news(0, body, updates=False)
    copy = path.read_bytes()
    KnownItems(path).news(1, body, updates=False)
    path.write_bytes(copy)
    with pytest.raises(StateError, match="is older than the batches that were made"):
        KnownItems(path).news(2, body, updates=False)
    path.write_bytes(b"no database")
    with pytest.raises(StateError, match="cannot be opened"):
        KnownItems(path).news(2, body, updates=False)
    path.unlink()
    with pytest.raises(StateError, match="is older than the batches that were made"):
        KnownItems(path).news(2, body, updates=False)
