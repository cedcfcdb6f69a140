"""The one shape of a feed's item, whatever the format, as data and as the document of
docs/feeds.md#formats:

    <item><feed/><site/><source/><id/><link/><rawlink/>*<title/><folder/>*<author/>*<category/>*
          <published/><updated/><summary/><content/><linked/>*<enclosure/>*</item>

Elements with nothing to say are absent.  `rawlink` holds, as the feed gave them, the item's
link and then those in its content, each where its canonical form is another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xscl.feeds.dates import iso, timestamp
from xscl.feeds.html_text import FORBIDDEN
from xscl.feeds.identity import content_hash, identity, likeness

__all__ = ["Enclosure", "Feed", "Item", "ParsedFeed"]

_MARKUP = re.compile("[&<>]")


@dataclass(frozen=True, slots=True)
class Feed:
    """What the items of one feed share: the address that was read, the site's address, the
    feed's title, and the folders of the reader's that it lies in."""

    address: str
    site: str = ""
    title: str = ""
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A file that belongs to an item; its type may be empty."""

    url: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """An item: texts plain and on one line, dates in seconds, addresses absolute."""

    feed: Feed
    id: str = ""
    link: str = ""
    raw_links: tuple[str, ...] = ()
    title: str = ""
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    published: float | None = None
    updated: float | None = None
    summary: str = ""
    content: str = ""
    linked: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()

    @property
    def identity(self) -> str:
        """The item's identity within its feed: guid, else link, else a hash."""
        return identity(self)

    @property
    def content_hash(self) -> str:
        """A hash of what the item says: another one means that the item was edited."""
        return content_hash(self)

    @property
    def likeness(self) -> str | None:
        """A hash of link and title together, by which an item is known under a new guid; None
        without both."""
        return likeness(self)

    def date(self, arrival: float) -> float | None:
        """The date that its time is, if it arrived then (seconds); None where it has none, or one
        in the future."""
        dates = self.published, self.updated
        time = timestamp(*dates, arrival)
        return time if time in dates else None

    def envelope(self, stream: str, arrival: float, *, updates: bool = False) -> dict[str, object]:
        """The item's envelope, if it arrived then (seconds); with `updates`, each version of the
        item is a document of its own."""
        version = f"#{self.content_hash}" if updates else ""
        return {
            "stream": stream,
            "id": f"{self.feed.address}#{self.identity}{version}",
            "timestamp": timestamp(self.published, self.updated, arrival),
            "xml": self.document(),
        }

    def document(self) -> str:
        """The item's document."""
        feed = self.feed
        parts = ["<item>"]
        _add(parts, "feed", FORBIDDEN.sub("", feed.address))
        _add(parts, "site", feed.site)
        _add(parts, "source", feed.title)
        _add(parts, "id", self.id)
        _add(parts, "link", self.link)
        _add(parts, "rawlink", *self.raw_links)
        _add(parts, "title", self.title)
        _add(parts, "folder", *feed.folders)
        _add(parts, "author", *self.authors)
        _add(parts, "category", *self.categories)
        _add(parts, "published", iso(self.published))
        _add(parts, "updated", iso(self.updated))
        _add(parts, "summary", self.summary)
        _add(parts, "content", self.content)
        _add(parts, "linked", *self.linked)
        for enclosure in self.enclosures:
            kind = f' type="{_quoted(enclosure.type)}"' if enclosure.type else ""
            parts.append(f'<enclosure url="{_quoted(enclosure.url)}"{kind}/>')
        parts.append("</item>")
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A feed as it was read: its items in its own order, and what it says of how often to come
    again (`ttl` in seconds, hours of the day in UTC, days of the week from Monday, 0).  It is
    `whole` if all of it could be read, and it is no archive and no page of several."""

    feed: Feed
    items: tuple[Item, ...]
    ttl: float | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    whole: bool = True

    @property
    def title(self) -> str | None:
        """The feed's title, if it has one."""
        return self.feed.title or None

    @property
    def site(self) -> str | None:
        """The site's address, if it is given."""
        return self.feed.site or None


def _add(parts: list[str], name: str, *values: str) -> None:
    for value in values:
        if value:
            parts.append(f"<{name}>{_escaped(value)}</{name}>")


def _escaped(value: str) -> str:
    if _MARKUP.search(value):
        return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return value


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', "&quot;")
