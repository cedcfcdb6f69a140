"""The constructs of RSS and Atom that are more than a string: texts of several types, persons,
and the addresses that `xml:base` moves (RFC 4287, sections 2 and 3)."""

from __future__ import annotations

import base64
import binascii
import re
from contextlib import suppress
from urllib.parse import urljoin

from lxml import etree

from xscl.feeds.html_text import BLOCKS, SILENT, Text, guessed, marked_up, plain
from xscl.feeds.names import local_name

__all__ = ["Bases", "mailbox", "person", "string", "text_of"]

_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_MAILBOXES = (
    re.compile(r"[^\s@]+@[^\s@]+\s+\((?P<name>[^()]+)\)"),
    re.compile(r"(?P<name>[^<>()@]+?)\s*[(<][^\s@()<>]+@[^\s@()<>]+[)>]"),
    re.compile(r"<?(?P<name>[^\s@<>]+@[^\s@<>]+)>?"),
)
"""The ways to write an author with an address: RSS, mail, and the address alone."""

_PERSON = frozenset({"name", "email", "uri", "url", "homepage"})
_HTML = frozenset({"html", "xhtml", "text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"text", "plain", "text/plain"})


_DEFAULTS = {"html": marked_up, "text": plain, "guess": guessed}


class Bases:
    """The addresses that the relative ones in a tree start from; "" where nothing says so."""

    def __init__(self, root: etree._Element, document: str) -> None:
        self._document = document
        self._moved = bool(root.xpath("boolean(//@xml:base)"))

    def of(self, element: etree._Element) -> str:
        """The base of an element: each `xml:base` from the root down to it moves it on."""
        if not self._moved:
            return ""
        moves = [element.get(_XML_BASE), *(each.get(_XML_BASE) for each in element.iterancestors())]
        if not any(moves):
            return ""
        base = self._document
        for move in reversed(moves):
            if move:
                try:
                    base = urljoin(base, move.strip())
                except ValueError:  # an address with brackets that hold no IPv6 address
                    continue
        return base


def string(element: etree._Element) -> str:
    """The text of an element and all below it."""
    if len(element):
        return "".join(str(text) for text in element.itertext())
    return element.text or ""


def text_of(element: etree._Element, default: str, bases: Bases) -> Text:
    """The words and links of a text construct; `default` is what it holds if it does not say:
    `html`, `text`, or `guess`."""
    if len(element):
        return _inline(element, bases)
    value = element.text or ""
    if not element.keys():
        return _DEFAULTS[default](value)
    kind = (element.get("type") or "").strip().lower()
    mode = (element.get("mode") or "").strip().lower()
    if mode == "base64" or _is_binary(kind):
        value, decoded = _decoded(value)
        if not decoded and kind not in _HTML:
            return plain(value)
    if not kind:
        return _DEFAULTS[default](value)
    if kind in _HTML:
        return marked_up(value)
    return plain(value) if kind in _PLAIN and default != "guess" else guessed(value)


def person(element: etree._Element) -> str:
    """The name of a person, else the mail address."""
    if not len(element):
        return mailbox(element.text or "")
    parts: dict[str, str] = {}
    for child in element:
        if isinstance(child.tag, str):
            parts.setdefault(local_name(child.tag), string(child).strip())
    if parts.keys() & _PERSON:
        return parts.get("name") or parts.get("email") or ""
    return mailbox(string(element))


def mailbox(text: str) -> str:
    """The name in a text with a mail address; the text itself if it has no such form.

    >>> mailbox("ann@a.example (Ann Archer)")
    'Ann Archer'
    """
    text = " ".join(text.split())
    if "@" in text:
        for form in _MAILBOXES:
            if found := form.fullmatch(text):
                return found["name"].strip()
    return text


def _is_binary(kind: str) -> bool:
    """Whether a type is one that Atom has in base64 (RFC 4287, section 4.1.3.3)."""
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("+xml", "/xml"))


def _decoded(value: str) -> tuple[str, bool]:
    try:
        return base64.b64decode(value, validate=False).decode("utf-8"), True
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return value, False


def _inline(element: etree._Element, bases: Bases) -> Text:
    """The words and links of markup that is part of the feed's own."""
    words: list[str] = []
    links: list[str] = []
    own = bases.of(element)
    silent = 0
    for event, each in etree.iterwalk(element, events=("start", "end")):
        tag = local_name(each.tag)
        if event == "start":
            if tag in SILENT:
                silent += 1
            elif tag == "a" and (href := each.get("href")):
                base = bases.of(each)
                # What cannot be joined is no address.
                with suppress(ValueError):
                    links.append(href if base == own else urljoin(base, href))
        elif tag in SILENT:
            silent -= 1
        if tag in BLOCKS:
            words.append(" ")
        text = each.text if event == "start" else each.tail if each is not element else None
        if text and not silent:
            words.append(text)
    return Text("".join(words), tuple(links))
