"""OPML, in which readers exchange their subscriptions, becomes a list of feeds.

Two of three such files in the wild are not well-formed (a bare `&` in an address), so libxml2
recovers what it can.  The outlines around a feed, and its `category`, are its folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

from xscl.feeds.html_text import clean
from xscl.feeds.mending import escaped
from xscl.feeds.names import first_name

__all__ = ["EMPTY_OPML", "Outline", "is_opml", "read_opml", "with_feed"]

EMPTY_OPML = b"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
  <head><title>Feeds</title></head>
  <body>
  </body>
</opml>
"""

_ADDRESSES = ("xmlUrl", "xmlurl", "xmlURL")


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed in a list: its address as it is there, its title, its folders."""

    address: str
    title: str = ""
    folders: tuple[str, ...] = ()


def is_opml(body: bytes) -> bool:
    """Whether a file is OPML by its root."""
    return first_name(_narrow(body)) == "opml"


def _narrow(body: bytes) -> bytes:
    """A file in UTF-16 as UTF-8."""
    wide = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    return body.decode("utf-16", "replace").encode() if wide else body


def read_opml(body: bytes) -> list[Outline]:
    """The feeds of an OPML file, each address once, with all its folders.

    Raises ValueError if it is no OPML.
    """
    narrow = _narrow(body)
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        encoding=None if narrow is body else "utf-8",
    )
    try:
        # Of a bare ampersand, recovery would leave out the name after it as well.
        root = etree.fromstring(escaped(narrow.strip()), parser)
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


def with_feed(body: bytes, feed: Outline, *, site: str = "", folder: str | None = None) -> bytes:
    """An OPML file with one feed more, in a folder of it (made if need be) or at its end; all else
    stays.

    Raises ValueError if it is not well-formed: what is recovered from it may not be all of it.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, strip_cdata=False)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"is not well-formed ({error}); fix it first") from error
    place = next((child for child in root if str(child.tag).lower() == "body"), None)
    if place is None:
        raise ValueError("has no <body>, where feeds are listed; fix it first")
    if name := clean(folder or ""):
        place = _folder(place, name)
    title = feed.title or feed.address
    known = {"type": "rss", "text": title, "title": title, "xmlUrl": feed.address, "htmlUrl": site}
    _append(place, {name: value for name, value in known.items() if value})
    tree, written = root.getroottree(), BytesIO()
    tree.write(written, encoding=tree.docinfo.encoding or "UTF-8", xml_declaration=True)
    return written.getvalue() + b"\n"


def _folder(body: etree._Element, name: str) -> etree._Element:
    """The folder of a name, at the end where there is none."""
    for outline in body.iter("outline", "Outline"):
        if _title(outline) == name and not any(map(outline.get, _ADDRESSES)):
            return outline
    return _append(body, {"text": name, "title": name})


def _append(parent: etree._Element, attributes: dict[str, str]) -> etree._Element:
    """Adds an outline at the end of an element, on a line of its own, two blanks further in."""
    depth = len(list(parent.iterancestors())) + 1
    before = parent[-1] if len(parent) else None
    outline = etree.SubElement(parent, "outline", attributes)
    inner, outer = "\n" + "  " * depth, "\n" + "  " * (depth - 1)
    if before is None:
        parent.text = (parent.text or "").rstrip() + inner
    else:
        before.tail = (before.tail or "").rstrip() + inner
    outline.tail = outer
    return outline


def _folders(outline: etree._Element) -> Iterator[str]:
    for above in reversed(list(outline.iterancestors("outline", "Outline"))):
        if title := _title(above):
            yield title
    for category in (outline.get("category") or "").split(","):
        if name := clean(category).strip("/"):
            yield name


def _title(outline: etree._Element) -> str:
    return clean(outline.get("title") or outline.get("text") or "")
