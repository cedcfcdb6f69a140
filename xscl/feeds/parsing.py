"""The bytes of a feed, whatever its format, become its items.

Well-formed RSS and Atom go through lxml, JSON Feed through json, and what they refuse through
feedparser.  Nothing is fetched and no entity is expanded: a feed that declares its own goes to
feedparser, which takes none that refers to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from lxml import etree

from xscl.feeds.entries import channel_feed, entry_item
from xscl.feeds.items import ParsedFeed
from xscl.feeds.json_feed import JsonFeed, NotJsonFeed
from xscl.feeds.mending import CHARSET, MARKS, escaped, whole_characters
from xscl.feeds.names import local_name
from xscl.feeds.wild import Unreadable, WildFeed
from xscl.feeds.xml_feed import ROOTS, XmlFeed
from xscl.xpath_stage.texts.urls import CANONICAL, Rules

__all__ = ["NotAFeed", "parse_feed", "tree_of"]

_WEB = re.compile("https?://", re.IGNORECASE)
_LEADING_SPACE = re.compile(rb"[ \t\r\n]+(?=<|\{|\xef\xbb\xbf)")
_UTF_8 = "application/xml; charset=utf-8"
_WRONG_LABEL = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["'](?:utf|ucs|iso-10646-ucs)-?(?:2|4|16|32)""", re.IGNORECASE
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class NotAFeed(ValueError):
    """A body that cannot be read as a feed; the message continues the feed's name."""


def parse_feed(
    body: bytes,
    address: str,
    *,
    content_type: str | None = None,
    base: str | None = None,
    folders: Iterable[str] = (),
    links: Rules = CANONICAL,
) -> ParsedFeed:
    """The items of a feed of this address.

    `content_type` is the HTTP header, whose charset counts before the XML declaration's; `base`
    is where relative addresses start from, unless it is the address (`Content-Location`);
    `folders` are those that the reader keeps the feed in; `links` are the rules of the canonical
    form.  Raises NotAFeed.
    """
    if space := _LEADING_SPACE.match(body):  # which XML allows of no document
        body = body[space.end() :]
    if not body.strip(b" \t\r\n\x00"):
        raise NotAFeed("is empty, so no feed")
    if base is None:
        base = address if _WEB.match(address) else ""
    read = _read(body, base, content_type)
    feed = channel_feed(read.channel, address, folders)
    items = tuple(entry_item(entry, read.channel, feed, links) for entry in read.entries())
    schedule = {} if isinstance(read, JsonFeed) else read.schedule
    return ParsedFeed(
        feed,
        items,
        ttl=_ttl(schedule.get("ttl", [])),
        skip_hours=frozenset(
            int(hour) % 24 for hour in schedule.get("skiphours", []) if _is_hour(hour)
        ),
        skip_days=frozenset(
            _DAYS.index(day[:3].lower())
            for day in schedule.get("skipdays", [])
            if day[:3].lower() in _DAYS
        ),
        whole=read.whole,
    )


def _read(body: bytes, base: str, content_type: str | None) -> XmlFeed | JsonFeed | WildFeed:
    try:
        if body[:16].removeprefix(MARKS[0]).lstrip()[:1] == b"{":
            return JsonFeed(body, base)
        if _WRONG_LABEL.match(body):
            # A declaration that can be read is not in UTF-16.
            content_type = _UTF_8
        root = tree_of(body, content_type)
        if root is None:
            body = whole_characters(body, content_type)
            root = tree_of(escaped(body), content_type)
        if root is not None and local_name(root.tag) in ROOTS:
            return XmlFeed(root, base)
        return WildFeed(body, base, content_type)
    except (NotJsonFeed, Unreadable) as error:
        raise NotAFeed(str(error)) from error


def tree_of(body: bytes, content_type: str | None) -> etree._Element | None:
    """The tree of a well-formed document that needs no entities of its own; else None."""
    try:
        root = etree.fromstring(body, _parser(None if body.startswith(MARKS) else content_type))
    except (etree.XMLSyntaxError, ValueError):
        return None
    return None if _has_entities(root) else root


def _has_entities(root: etree._Element) -> bool:
    """Whether a document declares entities, or refers to some that it does not declare."""
    information: Any = root.getroottree().docinfo
    if information.internalDTD is None:
        return False
    declared = next(information.internalDTD.iterentities(), None)
    return declared is not None or next(root.iter(etree.Entity), None) is not None


def _parser(content_type: str | None) -> etree.XMLParser:
    make = partial(
        etree.XMLParser,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    if found := CHARSET.search(content_type or ""):
        with suppress(LookupError):  # a charset that nobody knows
            return make(encoding=found[1])
    return make()


def _ttl(values: list[str]) -> float | None:
    minutes = values[0] if values else ""
    return int(minutes) * 60.0 if minutes.isdecimal() and len(minutes) < 9 else None


def _is_hour(text: str) -> bool:
    return text.isdecimal() and len(text) < 9 and int(text) <= 24
