"""HTML becomes its words and the addresses that it links to.

libxml2's HTML reader reports its tags and texts one by one and no tree is built: the time is linear
in the length, and depth does not matter (a tree of 256 levels is where libxml2 stops).
"""

from __future__ import annotations

import html
import re
import threading
from contextlib import suppress
from typing import NamedTuple, cast

from lxml import etree

__all__ = ["BLOCKS", "FORBIDDEN", "SILENT", "Text", "clean", "guessed", "marked_up", "plain"]

FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""The characters that no XML document may hold, which are few: the set is quick to compile."""

_BLOCK_NAMES = """
    address article aside blockquote br caption dd details div dl dt figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table td th tr ul
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
"""The HTML elements that part words although no white space is between them."""

SILENT = frozenset({"script", "style"})
"""The HTML elements whose content nobody reads."""

_INLINE_NAMES = """
    a abbr acronym b bdi bdo big center cite code del dfn em font i ins kbd mark nobr q s samp
    small span strike strong sub sup tt u var
"""
_MARKUP = re.compile(
    rf"</(?:{'|'.join((_BLOCK_NAMES + _INLINE_NAMES).split())})\s*>|<(?:br|hr|img|p)\b[^<>]*>",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PIECE = 1 << 16
"""What is longer is read piece by piece: libxml2 drops a text of more than ten million bytes."""

_SPACES_TO_PYTHON = "\v\f\x1c\x1d\x1e\x1f\x85"
"""What `str.split` would take for white space: characters to be dropped, and the ellipsis of
Windows-1252."""

_WINDOWS_1252 = {
    code: character
    for code in range(0x80, 0xA0)
    if (character := bytes([code]).decode("cp1252", "ignore"))
}


class Text(NamedTuple):
    """The words of a text, and the addresses of the links in it, in order and as written."""

    words: str
    links: tuple[str, ...] = ()


def plain(text: str) -> Text:
    """A text without markup."""
    return Text(text)


def marked_up(markup: str) -> Text:
    """The words and links of HTML, whole or a piece, without NUL and surrogates.

    >>> marked_up("<p>See <a href='/x'>t<b>his</b></a></p>&amp;")
    Text(words='  See this & ', links=('/x',))
    """
    if "<" not in markup:
        return Text(html.unescape(markup) if "&" in markup else markup)
    return _read(markup)


def guessed(text: str) -> Text:
    """A text that may be HTML or not, as titles of RSS: HTML if it holds an end tag, a break, an
    image or a character reference of HTML.

    >>> guessed("a <b>c</b>").words, guessed("List<String> & co").words
    (' a c ', 'List<String> & co')
    """
    if "<" not in text and "&" not in text:
        return Text(text)
    if _MARKUP.search(text) or any(
        html.unescape(reference) != reference for reference in _REFERENCE.findall(text)
    ):
        return marked_up(text)
    return Text(text)


def clean(text: str) -> str:
    """A text on one line, without what XML forbids, and with two common mistakes fixed: UTF-8
    that was taken for ISO 8859-1, and Windows-1252 that was declared as that."""
    if not text.isascii():
        with suppress(UnicodeError):
            text = text.encode("iso-8859-1").decode("utf-8")
    if text.isprintable():
        if "  " not in text:
            return text.strip(" ")
    elif any(map(text.__contains__, _SPACES_TO_PYTHON)):
        text = FORBIDDEN.sub("", text.translate(_WINDOWS_1252))
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return " ".join(FORBIDDEN.sub("", text.translate(_WINDOWS_1252)).split())


class _Words:
    """Takes what libxml2 reports."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._links: list[str] = []
        self._silence: int | None = None
        self.data = self._words.append  # libxml2 passes texts straight to the list

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "a":
            href = attributes.get("href")
            if href:
                self._links.append(href)
        elif tag in BLOCKS:
            self._words.append(" ")
        elif tag in SILENT and self._silence is None:
            self._silence = len(self._words)

    def end(self, tag: str) -> None:
        if tag in BLOCKS:
            self._words.append(" ")
        elif tag in SILENT:
            self._hush()

    def comment(self, text: str) -> None:
        """Comments are not read."""

    def close(self) -> Text:
        """All has been said; the next text may begin."""
        self._hush()
        text = Text("".join(self._words), tuple(self._links))
        self._words.clear()
        self._links.clear()
        return text

    def _hush(self) -> None:
        """Takes back what was reported since a script or style began."""
        if self._silence is not None:
            del self._words[self._silence :]
            self._silence = None


class _Readers(threading.local):
    """A reader for each thread: to make one takes longer than to read a text."""

    def __init__(self) -> None:
        self.reader = etree.HTMLParser(target=_Words())  # type: ignore[arg-type]


_READERS = _Readers()


def _read(markup: str) -> Text:
    # With a target of one's own, what comes back is what its `close` gives.
    if len(markup) < _PIECE:
        return cast(Text, etree.fromstring(f"<div>{markup}</div>", _READERS.reader))
    reader = etree.HTMLParser(target=_Words())  # type: ignore[arg-type]
    for start in range(0, len(markup), _PIECE):
        reader.feed(markup[start : start + _PIECE])
    return cast(Text, reader.close())
