"""Which items a feed has withdrawn, and not only moved off its end: two answers that were whole are
compared (docs/feeds.md#identity).

That an item has gone from the middle is seen by an older one: it was below the item, is earlier
where both have dates, and is still in its place.  What has come below an item, or has moved there
from above it, shows that the item was moved up, is pinned, or that the feed has the oldest first.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Shown", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Shown:
    """An item of an answer: its identity, its date (seconds; None without), and the identity under
    which it was published, where its guid is another by now."""

    identity: str
    date: float | None
    published: str


def withdrawn(last: Sequence[Shown], now: Sequence[Shown], new: Container[str]) -> list[Shown]:
    """The items of the last answer that the one now has withdrawn, in which some are `new`.

    >>> a, b, c = (Shown(name, None, name) for name in "abc")
    >>> withdrawn([c, b, a], [c, a], new=())
    [Shown(identity='b', date=None, published='b')]
    >>> withdrawn([c, b, a], [c, b], new=())
    []
    """
    places = {one.identity: place for place, one in enumerate(last)}
    there = {one.identity for one in now}
    older = [*_in_place(places, now, new)]
    return [
        one
        for place, one in enumerate(last)
        if one.identity not in there
        and any(
            below > place and (date is None or one.date is None or date < one.date)
            for below, date in older
        )
    ]


def _in_place(
    places: dict[str, int], now: Sequence[Shown], new: Container[str]
) -> Iterator[tuple[int, float | None]]:
    """The items that are still in their places: where they were, and their dates."""
    highest = len(places)
    for one in reversed(now):
        if one.identity in new:
            return
        place = places.get(one.identity)
        if place is not None and place < highest:
            highest = place
            yield place, one.date
