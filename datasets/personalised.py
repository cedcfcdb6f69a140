"""Personalised subscriptions: one query text, and for each subscriber constants of their own.

"Posts by authors I follow that link an item of the feeds I read": a feed and an author, all pairs
different.  The stream has items of the shape that feeds become, each of one feed and one author,
both of Zipfian popularity, and up to four links to earlier items.  The feeds and authors of a
subscriber are also drawn by Zipf from the data, in a separate order of popularity: a feed with many
readers need not have many items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from random import Random
from typing import Any

__all__ = ["FOLLOWED", "linked_items", "links_between", "matched_subscriptions", "subscriptions"]

FEEDS = 2_000
AUTHORS = 5_000
SKEW = 1.0
LINKS = 4
INTERVAL = 60
"""Seconds from one item to the next."""
RECENT = 5_000
"""A link goes to one of so many items before it, which are within the window of the query."""

FOLLOWED = """
-- name: followed
S/item[feed = :feed][link->read]
FOLLOWED BY {read = linked, 7 days}
S/item[author = :author][linked->linked]
"""
"""The query; its parameters are `feed` and `author`."""

LEAF = re.compile(r"<(\w+)>([^<]*)</\1>")

Row = dict[str, str]


def linked_items(
    items: int, *, feeds: int = FEEDS, authors: int = AUTHORS, seed: int = 8
) -> Iterator[dict[str, Any]]:
    """The items as document envelopes of stream `S`, a minute apart.

    >>> next(linked_items(1))["xml"][:42]
    '<item><feed>http://feed3.example/</feed><l'
    """
    random = Random(seed)
    feed_of, author_of = _popularity(feeds), _popularity(authors)
    for number in range(items):
        (feed,) = random.choices(range(feeds), cum_weights=feed_of)
        (author,) = random.choices(range(authors), cum_weights=author_of)
        site = f"http://feed{feed}.example/"
        recent = range(max(0, number - RECENT), number)
        others = random.sample(recent, min(random.randint(0, LINKS), len(recent)))
        linked = "".join(f"<linked>{_link(other)}</linked>" for other in others)
        yield {
            "stream": "S",
            "id": f"item{number}",
            "timestamp": number * INTERVAL,
            "xml": (
                f"<item><feed>{site}</feed><link>{_link(number)}</link>"
                f"<title>Item {number} of feed {feed}</title><author>author{author}</author>"
                f"<summary>{'Some words about it. ' * 12}</summary>{linked}</item>"
            ),
        }


def subscriptions(
    count: int, *, feeds: int = FEEDS, authors: int = AUTHORS, seed: int = 9
) -> list[Row]:
    """So many different rows of parameters for `FOLLOWED`.

    >>> subscriptions(1)
    [{'feed': 'http://feed346.example/', 'author': 'author4891'}]
    """
    if count > feeds * authors // 4:
        raise ValueError(f"{count} different pairs of {feeds} feeds and {authors} authors")
    random = Random(seed)
    by_readers = random.sample(range(feeds), feeds)
    by_followers = random.sample(range(authors), authors)
    feed_of, author_of = _popularity(feeds), _popularity(authors)
    drawn: dict[tuple[int, int], None] = {}
    while len(drawn) < count:
        missing = count - len(drawn)
        some_feeds = random.choices(by_readers, cum_weights=feed_of, k=missing)
        some_authors = random.choices(by_followers, cum_weights=author_of, k=missing)
        drawn.update(dict.fromkeys(zip(some_feeds, some_authors, strict=True)))
    return [_row(feed, author) for feed, author in drawn]


def links_between(items: Iterable[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How many items of an author link an item of a feed, by (feed, author): the matches of a
    subscription to that pair."""
    feed_of: dict[str, str] = {}
    links: Counter[tuple[str, str]] = Counter()
    for item in items:
        leaves = LEAF.findall(item["xml"])
        values = dict(leaves)
        for name, value in leaves:
            if name == "linked":
                links[feed_of[value], values["author"]] += 1
        feed_of[values["link"]] = values["feed"]
    return links


def matched_subscriptions(
    count: int, matches: int, links: Counter[tuple[str, str]], others: Iterable[Row]
) -> list[Row]:
    """So many different rows that together have as nearly as possible so many matches.

    Rows that have any are consecutive in the order of their matches; where each has one, and these
    are too many, the rest is taken from `others` that have none.
    """
    pairs = [pair for pair, _ in links.most_common()]
    some = min(count, matches)
    if len(pairs) < some:
        raise ValueError(f"only {len(pairs)} different pairs of feed and author occur")
    sums = [0, *accumulate(links[pair] for pair in pairs)]
    start = min(
        range(len(pairs) - some + 1),
        key=lambda first: abs(sums[first + some] - sums[first] - matches),
    )
    rows = [{"feed": feed, "author": author} for feed, author in pairs[start : start + some]]
    without = (row for row in others if not links[row["feed"], row["author"]])
    return rows + list(islice(without, count - some))


def _row(feed: int, author: int) -> Row:
    return {"feed": f"http://feed{feed}.example/", "author": f"author{author}"}


def _link(number: int) -> str:
    return f"http://items.example/{number}"


def _popularity(count: int) -> list[float]:
    return list(accumulate(rank**-SKEW for rank in range(1, count + 1)))
