"""Matches as an Atom 1.0 feed (RFC 4287) that any reader can subscribe to."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import quote

from lxml import etree

from xscl.errors import XSCLError
from xscl.files.whole import replace_file
from xscl.sinks.entries import Entry, entries, seconds
from xscl.sinks.feed_file import NEWEST, merged, read_if_there
from xscl.times import rfc3339
from xscl.xpath_stage import MalformedDocument, parse

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["update_atom", "write_atom"]

_ATOM = "http://www.w3.org/2005/Atom"
_XHTML = "http://www.w3.org/1999/xhtml"

_Dated = tuple[float, str, etree._Element]


def write_atom(matches: Iterable[Match], to: TextIO, *, title: str, newest: int = NEWEST) -> int:
    """Writes the newest matches as one feed, and flushes; returns how many matches there were."""
    found = entries(matches, newest)
    to.write(_text(_feed(title, merged([], _dated(found.newest), newest))))
    to.flush()
    return found.matches


def update_atom(
    matches: Iterable[Match], path: str | Path, *, title: str, newest: int = NEWEST
) -> int:
    """Puts matches into the feed of a file, which is made where there is none; returns how many
    matches there were.

    The feed's own elements and the entries that are there stay as they are.  Raises XSCLError
    for a file that holds something else.
    """
    old = _read(path)
    found = entries(matches, newest)
    feed = _feed(title, merged(_kept(old), _dated(found.newest), newest, found.gone), old)
    replace_file(path, _text(feed))
    return found.matches


def _read(path: str | Path) -> etree._Element | None:
    body = read_if_there(path)
    if not body.strip():
        return None
    try:
        root = parse(body)
    except MalformedDocument as error:
        raise _no_feed(path, str(error)) from error
    if root.tag != _name("feed"):
        raise _no_feed(path, f"its root element is {root.tag!r}")
    return root


def _no_feed(path: str | Path, why: str) -> XSCLError:
    return XSCLError(f"{path} is there already and is no Atom feed ({why}); name another file")


def _kept(feed: etree._Element | None) -> Iterator[_Dated]:
    for entry in [] if feed is None else feed.iterfind(_name("entry")):
        yield seconds(entry.findtext(_name("updated"))), entry.findtext(_name("id")) or "", entry


def _dated(some: Iterable[Entry]) -> Iterator[_Dated]:
    for entry in some:
        yield entry.updated, entry.id, _entry(entry)


def _feed(
    title: str, some: list[etree._Element], old: etree._Element | None = None
) -> etree._Element:
    feed = etree.Element(_name("feed"), nsmap={None: _ATOM})  # type: ignore[dict-item]
    if old is None:
        _add(feed, "id", f"urn:xscl:feed:{quote(title, safe='')}")
        _add(feed, "title", title)
        _add(_add(feed, "author"), "name", "XSCL")
        _add(feed, "generator", "XSCL")
    else:
        passed_over = {_name("entry"), _name("updated")}
        feed.extend(deepcopy(one) for one in old if one.tag not in passed_over)
    latest = [entry.findtext(_name("updated")) for entry in some[:1]]
    _add(feed, "updated", latest[0] if latest and latest[0] else rfc3339(time.time()))
    feed.extend(some)
    return feed


def _entry(entry: Entry) -> etree._Element:
    element = etree.Element(_name("entry"), nsmap={None: _ATOM})  # type: ignore[dict-item]
    _add(element, "id", entry.id)
    _add(element, "title", entry.title)
    if entry.link is not None:
        _add(element, "link", rel="alternate", href=entry.link)
    _add(element, "updated", rfc3339(entry.updated))
    _add(element, "category", term=entry.query)
    content = _add(element, "content", type="xhtml")
    # Readers would run the lines of a plain text together.
    nsmap: dict[None, str] = {None: _XHTML}
    block = etree.SubElement(content, f"{{{_XHTML}}}div", nsmap=nsmap)  # type: ignore[arg-type]
    etree.SubElement(block, f"{{{_XHTML}}}pre").text = entry.text
    return element


def _add(
    parent: etree._Element, name: str, text: str | None = None, **attributes: str
) -> etree._Element:
    element = etree.SubElement(parent, _name(name), attributes)
    element.text = text
    return element


def _name(local: str) -> str:
    return f"{{{_ATOM}}}{local}"


def _text(feed: etree._Element) -> str:
    for element in feed.iterchildren():
        element.tail = "\n"
    feed.text = "\n"
    body = etree.tostring(feed, encoding="unicode", with_tail=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'
