"""OPML, in which readers exchange their subscriptions, becomes a list of feeds.

Two of three such files in the wild are not well-formed (a bare `&` in an address), so libxml2
recovers what it can.  The outlines around a feed, and its `category`, are its folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from xscl.feeds.html_text import clean
from xscl.feeds.names import first_name

__all__ = ["Outline", "is_opml", "read_opml"]

_BARE_AMPERSAND = re.compile(rb"&(?![A-Za-z]\w*;|#\w+;)")
"""Recovery would leave out the name after it as well."""

_ADDRESSES = ("xmlUrl", "xmlurl", "xmlURL")


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed in a list: its address as it stands there, its title, its folders."""

    address: str
    title: str = ""
    folders: tuple[str, ...] = ()


def is_opml(body: bytes) -> bool:
    """Whether a file is OPML by its root."""
    return first_name(body) == "opml"


def read_opml(body: bytes) -> list[Outline]:
    """The feeds of an OPML file, each address once, with all its folders.

    Raises ValueError if it is no OPML.
    """
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(_BARE_AMPERSAND.sub(b"&amp;", body.strip()), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"is no OPML that can be read ({error})") from error
    if root is None or root.tag.lower() != "opml":
        raise ValueError("is no OPML")
    found: dict[str, Outline] = {}
    for outline in root.iter("outline", "Outline"):
        address = clean(next(filter(None, map(outline.get, _ADDRESSES)), ""))
        if address:
            known = found.get(address)
            folders = dict.fromkeys([*(known.folders if known else ()), *_folders(outline)])
            title = known.title if known else _title(outline)
            found[address] = Outline(address, title, tuple(folders))
    return list(found.values())


def _folders(outline: etree._Element) -> Iterator[str]:
    for above in reversed(list(outline.iterancestors("outline", "Outline"))):
        if title := _title(above):
            yield title
    for category in (outline.get("category") or "").split(","):
        if name := clean(category).strip("/"):
            yield name


def _title(outline: etree._Element) -> str:
    return clean(outline.get("title") or outline.get("text") or "")
