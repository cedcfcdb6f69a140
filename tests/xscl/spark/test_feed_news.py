"""What of a feed's items is new, body by body; and what is remembered of the feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.xscl.spark.feed_histories import BODIES, ITEMS, RETITLED, by_the_rules, item
from xscl.feeds import Item
from xscl.polling.news import REMEMBERED, SeenItem
from xscl.spark.ingestion.known_items import (
    count_of,
    feed_news,
    packed,
    packed_keys,
    unpacked,
)


def published(bodies: Sequence[Sequence[Item]], *, updates: bool = False) -> list[list[int]]:
    """The places that are published of each body."""
    shown, found = b"", []
    for body in bodies:
        places, shown = feed_news(shown, packed_keys(body), updates=updates)
        found.append(places)
    return found


@example(RETITLED, False)
@given(BODIES, st.booleans())
def test_what_is_new_is_so_by_the_rules(bodies: list[list[Item]], updates: bool) -> None:
    assert published(bodies, updates=updates) == by_the_rules(bodies, updates=updates)


def test_what_is_remembered_is_bounded_and_what_is_shown_stays_known() -> None:
    always = item("always")
    shown, count = b"", 0
    for first in range(200):
        body = [always, *(item(str(number)) for number in range(15 * first, 15 * first + 30))]
        places, shown = feed_news(shown, packed_keys(body), updates=False)
        count += len(places)
        assert count_of(shown) <= len(body) + REMEMBERED
    assert count == 1 + 15 * 199 + 30
    assert feed_news(shown, packed_keys([always]), updates=False)[0] == []


@given(st.lists(st.builds(replace, ITEMS, id=st.text(min_size=1)), max_size=20))
def test_keys_distinguish_items_as_the_items_do(items: list[Item]) -> None:
    keys = packed_keys(items)
    assert count_of(keys) == len(items)
    assert packed(unpacked(keys)) == keys
    reported_by_keys, reported_by_items = (
        list(unpacked(keys)),
        [SeenItem.of(each) for each in items],
    )
    for name in ("identity", "content_hash", "likeness"):
        assert classes(reported_by_keys, name) == classes(reported_by_items, name)
    assert [one.likeness is None for one in reported_by_keys] == [not each.title for each in items]


def classes(items: list[SeenItem], name: str) -> list[int]:
    """For each item the place of the first one that has the same."""
    values: list[Any] = [getattr(item, name) for item in items]
    return [values.index(value) for value in values]
