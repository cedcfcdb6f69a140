"""Matches as entries of a feed for people: what an entry is called, where it leads, what it says.

The rules, for an XML result and a JSON one alike (names without their namespaces, what has no
text passed over, the first in document order):

    title    the first `title`, else `name`, `headline`, `subject`, `label`; else the query's name
    link     the first `link` (its text or, as in Atom, its `href`), else `url`, `uri`, `href`,
             `rawlink`, `linked`, `enclosure` (its text, or its `url`), an element, attribute or
             member; else the first value that is an address; only http and https
    updated  the match's time
    content  the result itself, as text

An entry's id is the match's, so that a match that is found again is the entry it was, and a
reader announces it once.
"""

from __future__ import annotations

import heapq
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from xscl.matches.unwritten import made_of
from xscl.times import from_timestamp, to_seconds
from xscl.xpath_stage import NO_XML, string_value

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Entries", "Entry", "entries", "in_json", "in_xml", "named", "seconds"]

_TITLES = ("title", "name", "headline", "subject", "label")
_LINKS = ("link", "url", "uri", "href", "rawlink", "linked", "enclosure")
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; `updated` in seconds, `text` the result, indented."""

    id: str
    title: str
    link: str | None
    updated: float
    text: str
    query: str


class Entries(NamedTuple):
    """The entries of the newest matches, the newest first; the ids of those that were taken back;
    how many matches there were."""

    newest: list[Entry]
    gone: set[str]
    matches: int


def entries(matches: Iterable[Match], newest: int) -> Entries:
    """The entries of matches, without those that are taken back.

    No more than `newest` matches are in memory at a time, however many there are.

    >>> entries([], newest=10)
    Entries(newest=[], gone=set(), matches=0)
    """
    heap: list[tuple[float, str, int, Match]] = []
    gone: set[str] = set()
    count = 0
    for place, match in enumerate(matches):
        if match.retracts:
            gone.add(match.id)
            heap = [one for one in heap if one[1] != match.id]
            heapq.heapify(heap)
            continue
        count += 1
        gone.discard(match.id)
        # Of equal times the greater id goes first, so that the order of arrival changes nothing.
        heapq.heappush(heap, (match.time, match.id, place, match))
        if len(heap) > newest:
            heapq.heappop(heap)
    newest_first = (match for _, _, _, match in sorted(heap, reverse=True))
    made = [entry for _, entry in made_of(newest_first, _entry)]
    return Entries(made, {_id(one) for one in gone}, count)


def seconds(text: str | None) -> float:
    """A time as RFC 3339 writes it, in seconds; before all others where it is none."""
    try:
        return to_seconds(from_timestamp(text or ""))
    except ValueError:
        return -math.inf


def named(values: Iterable[tuple[str, str]]) -> tuple[str, str | None]:
    """The title, empty where there is none, and the link that named values have, by the rules."""
    some = list(values)
    return _title(some), _link(some)


def _entry(match: Match) -> Entry:
    values, text = _content(match)
    return Entry(
        id=_id(match.id),
        title=_clean(_title(values) or match.query),
        link=_link(values),
        updated=match.time,
        text=NO_XML.sub("\ufffd", text),
        query=_clean(match.query),
    )


def _id(match: str) -> str:
    """The id of the entry of a match."""
    return f"urn:xscl:{match}"


def _content(match: Match) -> tuple[list[tuple[str, str]], str]:
    """The named values of a result, in document order, and the result as text."""
    result = match.result
    if match.json:
        text = json.dumps(result, ensure_ascii=False, indent=2)
        return list(in_json("", result)), text
    try:
        root = match.xml()
    except ValueError:  # deeper than a document may be, though each copy in it is not
        return [], str(result)
    values = list(in_xml(root))
    etree.indent(root)
    return values, etree.tostring(root, encoding="unicode")


def in_xml(root: etree._Element) -> Iterator[tuple[str, str]]:
    """The named values of an element, in document order."""
    for element in root.iter("*"):
        name = etree.QName(element).localname
        own = {etree.QName(str(key)).localname: str(value) for key, value in element.items()}
        if own.get("rel", "alternate") == "alternate":
            for attribute in ("href", "url"):
                if attribute in own:
                    yield name, own[attribute]
        if not len(element) or name in _TITLES:
            yield name, string_value(element)
        yield from own.items()


def in_json(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The named values of a JSON value of a name."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from in_json(key, member)
    elif isinstance(value, list):
        for member in value:
            yield from in_json(name, member)
    elif isinstance(value, str):
        yield name, value


def _title(values: list[tuple[str, str]]) -> str:
    for wanted in _TITLES:
        for name, value in values:
            if name == wanted and (title := " ".join(value.split())):
                cut = title[: _LONGEST_TITLE - 1].rstrip() + "…"
                return title if len(title) <= _LONGEST_TITLE else cut
    return ""


def _link(values: list[tuple[str, str]]) -> str | None:
    addresses = [
        (name, value.strip()) for name, value in values if _ADDRESS.fullmatch(value.strip())
    ]
    for wanted in _LINKS:
        for name, address in addresses:
            if name == wanted:
                return _clean(address)
    return _clean(addresses[0][1]) if addresses else None


def _clean(text: str) -> str:
    return NO_XML.sub("\ufffd", text)
