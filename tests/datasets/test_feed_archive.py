"""Synthetic feed files: the requested number, the same each time, as irregular as real ones."""

from __future__ import annotations

from collections import Counter

import pytest

from datasets import feed_archive
from xscl.feeds import Item, ParsedFeed, parse_feed

FEEDS, ITEMS = 150, 3_000


@pytest.fixture(scope="module")
def feeds() -> dict[str, ParsedFeed]:
    return {name: parse_feed(body, name) for name, body in feed_archive(FEEDS, ITEMS)}


@pytest.fixture(scope="module")
def items(feeds: dict[str, ParsedFeed]) -> list[Item]:
    return [item for feed in feeds.values() for item in feed.items]


def test_as_many_as_asked_for_in_all_formats(
    feeds: dict[str, ParsedFeed], items: list[Item]
) -> None:
    assert len(feeds) == FEEDS
    assert len({(item.feed.address, item.identity) for item in items}) == ITEMS
    formats = Counter(name.rpartition(".")[2] for name in feeds)
    assert formats.keys() == {"rss", "atom", "json"}
    assert min(formats.values()) > FEEDS // 10


def test_they_are_the_same_for_the_same_seed() -> None:
    first = list(feed_archive(20, 100, seed=1))
    assert first == list(feed_archive(20, 100, seed=1))
    assert first != list(feed_archive(20, 100, seed=2))


def test_they_are_as_odd_as_real_ones(items: list[Item]) -> None:
    shares = {
        "no guid": sum(not item.id for item in items),
        "no link": sum(not item.link for item in items),
        "no date": sum(item.published is None for item in items),
        "HTML with links": sum(bool(item.linked) for item in items),
        "enclosures": sum(bool(item.enclosures) for item in items),
        "other scripts": sum(not item.summary.isascii() for item in items),
        "another form of its link": sum(bool(item.raw_links) for item in items),
    }
    for oddity, count in shares.items():
        assert ITEMS // 100 < count < ITEMS, oddity
    assert len(items) > ITEMS, "some are shown twice"
