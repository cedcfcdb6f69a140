"""Feeds that are not well-formed, and formats of old, become entries by feedparser.

feedparser reads everything, some hundred times slower.  Its sanitizing and resolving is switched
off, so that the texts are those of the feed and what is made of them is decided where it is for
well-formed feeds.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from typing import Any
from xml.sax import SAXException

from xscl.feeds.constructs import mailbox
from xscl.feeds.entries import Channel, Entry
from xscl.feeds.html_text import Text, guessed, marked_up, plain
from xscl.feeds.names import first_name

__all__ = ["Unreadable", "WildFeed"]

_BREAKDOWNS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What feedparser raises, by its own mistake, for some malformed files: ValueError for a
character reference beyond Unicode, KeyError for a category that ends before it starts."""

_OWN_NAMES = re.compile(
    rb"<(/?)(itunes:summary|dc:description|media:description)(?:\s[^<>]*)?(?<!/)>"
)
"""feedparser would take these for the description or, if there is one, for the content: by
another ending it keeps them under their own names."""

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


_ENTITY = re.compile(rb"<!ENTITY[^<>]{60,}>")
"""Declarations of entities that could make a small feed large: a reference to what is longer than
itself, many times."""

_PERSON = re.compile(
    rb"(<(?:[\w.\-]+:)?(author|creator|managingEditor|webMaster|publisher|owner)\b[^<>]*>)"
    rb"(.*?)(?=</(?:[\w.\-]+:)?\2\b|</?(?:item|entry)\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_PERSON = 2000
"""feedparser looks for mail addresses in time quadratic in the length of a person's element."""

_WIDE_ENTITY = re.compile(rb"<\x00+!\x00+E\x00+N\x00+T\x00+I\x00+T\x00+Y")


class Unreadable(ValueError):
    """What feedparser finds no feed in."""


class WildFeed:
    """What feedparser makes of a feed; `base` is the web address that it came from, if any."""

    whole = False
    """What is not well-formed may end too early."""

    def __init__(self, body: bytes, base: str, content_type: str | None) -> None:
        if _WIDE_ENTITY.search(body):
            raise Unreadable("declares entities in UTF-16 or UTF-32, so it is not read as a feed")
        body = _ENTITY.sub(b"", _OWN_NAMES.sub(rb"<\1\2-own>", body))
        body = _PERSON.sub(_bounded, body)
        headers = {"content-type": content_type} if content_type else {}
        import feedparser

        try:
            parsed = feedparser.parse(
                io.BytesIO(body),
                response_headers=headers,
                resolve_relative_uris=False,
                sanitize_html=False,
            )
        except _BREAKDOWNS as error:
            raise Unreadable(f"is no feed that can be read ({error!r})") from error
        # Entries alone may be any text that mentions an <item>.  CDF is not recognised by
        # feedparser.
        if not parsed.get("version") and first_name(body) != "channel":
            if first_name(body) == "html":
                raise Unreadable("is an HTML page, no RSS, Atom or JSON feed")
            cause = f" ({parsed.bozo_exception})" if parsed.bozo else ""
            raise Unreadable(f"is no RSS, Atom or JSON feed{cause}")
        self._parsed = parsed
        # Its own parser, which is for what is not well-formed, leaves entities in some elements.
        loose = isinstance(parsed.get("bozo_exception"), SAXException)
        self._plain = html.unescape if loose else str
        self._is_atom = parsed.version.startswith("atom")
        self.channel = Channel(
            base=base,
            title=self._text(parsed.feed.get("title_detail")).words,
            site=(self._site(parsed.feed), ""),
            authors=self._names(parsed.feed) if self._is_atom else [],
        )
        self.schedule = {"ttl": [parsed.feed.get("ttl") or ""]}

    def entries(self) -> Iterator[Entry]:
        """The items, in the feed's order."""
        for item in self._parsed.entries:
            yield self._entry(item)

    def _entry(self, item: Any) -> Entry:
        entry = Entry(authors=self._names(item))
        if not entry.authors and self._is_atom:
            entry.authors = self._names(item.get("source", {}))
        id = self._plain(item.get("id") or "")
        entry.take_id(id, "", permalink=bool(item.get("guidislink", True)))
        self._texts(entry, item)
        for name in ("published", "updated"):
            # `in` first: feedparser's dictionaries give `published` for an absent `updated`.
            if name in item:
                entry.take_date(name, 0, item[name] or "")
        entry.categories = [
            self._plain(tag.get("term") or tag.get("label") or "") for tag in item.get("tags", [])
        ]
        self._links(entry, item)
        return entry

    def _names(self, holder: Any) -> list[str]:
        return [*map(self._plain, _names(holder))]

    def _texts(self, entry: Entry, item: Any) -> None:
        contents = item.get("content", [])
        # feedparser takes a second description for a content, and copies a lone content to the
        # summary, without its detail.
        for field, details in (
            ("title", [item.get("title_detail")]),
            ("summary", [item.get("summary_detail"), *contents[1:]]),
            ("content", contents),
        ):
            for rank, detail in enumerate(details):
                base = "" if detail is None else detail.get("base") or ""
                entry.take_text(field, rank, self._text(detail), base)
        entry.take_text("summary", 98, marked_up(item.get("dc_description-own") or ""), "")
        entry.take_text("summary", 98, guessed(item.get("itunes_summary-own") or ""), "")
        entry.take_text("summary", 98, marked_up(item.get("media_description-own") or ""), "")

    def _text(self, detail: Any) -> Text:
        if detail is None:
            return plain("")
        value = detail.get("value") or ""
        if detail.get("type") in _HTML_TYPES:
            return marked_up(value)
        is_plain = self._is_atom and detail.get("type") == "text/plain"
        return plain(value) if is_plain else guessed(value)

    def _site(self, feed: Any) -> str:
        pages = [
            link.get("href") or ""
            for link in _listed(feed, "links")
            if link.get("rel") == "alternate" and link.get("type") in _HTML_TYPES
        ]
        return next(filter(None, pages if self._is_atom else reversed(pages)), "")

    def _links(self, entry: Entry, item: Any) -> None:
        for link in _listed(item, "links"):
            url, kind = link.get("href") or link.get("url"), link.get("type") or ""
            if link.get("rel") == "enclosure":
                # What feedparser says of a link that has no type.
                entry.enclosures.append((url or "", "", "" if kind == "text/html" else kind))
            elif link.get("rel") == "alternate":
                is_page = kind in _HTML_TYPES
                entry.take_link(0 if is_page else 1, url, "", last=not self._is_atom)
        for media in _listed(item, "media_content"):
            entry.enclosures.append((media.get("url") or "", "", media.get("type") or ""))


def _bounded(person: re.Match[bytes]) -> bytes:
    return person[0] if len(person[3]) <= _LONGEST_PERSON else person[1]


def _listed(holder: Any, name: str) -> list[Any]:
    """What feedparser lists under a name; an element of the feed that is called so takes the
    list's place, with a string."""
    found = holder.get(name)
    return [one for one in found if hasattr(one, "get")] if isinstance(found, list) else []


def _names(holder: Any) -> list[str]:
    names = [
        author.get("name") or author.get("email") or "" for author in _listed(holder, "authors")
    ]
    # feedparser cuts addresses in top-level domains of more than four letters in two; the
    # text as it was written is kept for the last author only.
    written = (holder.get("author") or "").strip()
    if names and "@" in written and (name := mailbox(written)) != written:
        names[-1] = name
    elif names and re.fullmatch(r"[^\s@]+@[^\s@]+", written):
        names[-1] = written
    return [name for name in names if name]
