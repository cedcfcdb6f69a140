"""When two items are one: pure functions, by which polling finds the new items.

An item is known by its guid, else by its link, else by a hash of what it says.  Within a feed
these distinguish three things: the same identity with another content hash is an edit; another
identity with the same likeness (link and title), while the earlier one is gone, is a feed that
changed its guids; all else is new.  Dates take no part: feeds touch them without a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xscl.xpath_stage.texts.urls import canonical

if TYPE_CHECKING:
    from xscl.feeds.items import Item

__all__ = ["content_hash", "identity", "likeness"]


def identity(item: Item) -> str:
    """The item's guid, else its link in canonical form (whatever form its document has), else a
    hash of 32 hexadecimal digits."""
    return item.id or canonical(item.link) or _hash([*_said(item), str(item.published)])


def content_hash(item: Item) -> str:
    """A hash (16 hexadecimal digits) of title, link, texts, authors, categories and enclosures."""
    return _hash(_said(item))[:16]


def likeness(item: Item) -> str | None:
    """A hash of the item's canonical link and its title without regard to case, if it has both."""
    if not item.link or not item.title:
        return None
    return _hash([canonical(item.link), item.title.casefold()])


def _said(item: Item) -> list[str]:
    return [
        item.title,
        canonical(item.link),
        item.summary,
        item.content,
        *item.authors,
        "",
        *item.categories,
        "",
        *(canonical(link) for link in item.linked),
        "",
        *(enclosure.url for enclosure in item.enclosures),
    ]


def _hash(texts: Iterable[str]) -> str:
    # A character that no text of an item holds parts them.
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
