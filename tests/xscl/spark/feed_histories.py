"""What a feed shows from fetch to fetch, and what of it is new by the rules of polling, found by
comparing each item with each that was shown."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from xscl.feeds import Feed, Item

FEED = Feed("http://a.example/feed")


def item(guid: str, text: str = "", title: str = "") -> Item:
    """An item; `title` is what it can be known by under another guid."""
    return Item(FEED, id=guid, title=title, link="http://a.example/" if title else "", summary=text)


ITEMS = st.builds(
    item, st.sampled_from("abc"), st.sampled_from(["", "x"]), st.sampled_from(["", "t", "u"])
)
BODIES = st.lists(st.lists(ITEMS, unique_by=lambda item: item.id, max_size=4), max_size=10)

RETITLED = [[item("a", title="t")], [item("a", title="u")], [item("b", title="t")]]
"""An item that has left, by another title than it came with: the one that comes is new."""


def by_the_rules(bodies: Sequence[Sequence[Item]], *, updates: bool) -> list[list[int]]:
    """The places of the items to publish, of each body; `shown` has the latest last."""
    shown: list[Item] = []
    found = []
    for body in bodies:
        published = []
        for place, one in enumerate(body):
            same = [other for other in shown if other.id == one.id]
            similar = [
                other for other in shown if (one.link, one.title) == (other.link, other.title)
            ]
            churned = one.title and similar and all(now.id != similar[-1].id for now in body)
            edited = any(other.summary != one.summary or other.title != one.title for other in same)
            if (updates and edited) if same else not churned:
                published.append(place)
        shown = [other for other in shown if all(other.id != now.id for now in body)]
        shown += reversed(body)
        found.append(published)
    return found
