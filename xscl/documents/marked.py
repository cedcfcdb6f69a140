"""A document and the nodes to be marked in it -> its text in pieces, each marked or not.

The text is written again, laid out for people where no text is lost by that: XML without text next
to its elements has a line for each element, JSON a line for each member.  What is in a marked node,
its text or its attribute's value, has the mark, or parts of it have; in nested nodes the innermost
mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from lxml import etree

from xscl.documents.document import Document, is_small
from xscl.documents.trees import content_of, parsed

__all__ = ["Mark", "MarkedText", "Parts", "marked_text"]

_SHOWN = 20_000
"""Characters of a document that is too large to be marked."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")

Place = tuple[int, str | None]
"""A node of a document: the number of an element, and the name of its attribute."""

Parts = Callable[[str], Sequence[tuple[int, int, int]]]
"""The parts of a text that are marked, in order: the beginning, end and mark of each."""

Mark = int | Parts
"""The mark of a node, or the marks of parts of it."""


class MarkedText(NamedTuple):
    """The text of a document in pieces, each with its mark; `whole`, unless it is only the
    beginning of a large one."""

    pieces: list[tuple[str, int | None]]
    whole: bool = True


def marked_text(document: Document, marks: Mapping[Place, Mark]) -> MarkedText:
    """The text of a document; raises DocumentError if it cannot be read."""
    if not is_small(document):
        content = content_of(document)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        shown = text[:_SHOWN]
        if isinstance(shown, bytes):
            shown = shown.decode("utf-8", "replace")
        return MarkedText([(_seen(shown), None)], len(text) <= _SHOWN)
    writer = _Writer(marks)
    if document.json:
        writer.value(content_of(document), 0, None)
    else:
        writer.element(parsed(document), 0, None)
    return MarkedText(writer.pieces)


class _Writer:
    """Collects pieces; neighbours with one mark are merged."""

    def __init__(self, marks: Mapping[Place, Mark]) -> None:
        self.pieces: list[tuple[str, int | None]] = []
        self._marks = marks
        self._number = 0

    def element(self, element: etree._Element, level: int, mark: Mark | None) -> None:
        """Writes an element whose number is the next."""
        number = self._number
        self._number += 1
        mark = self._marks.get((number, None), mark)
        name = _name(element, str(element.tag))
        self._put(f"<{name}")
        above = element.getparent()
        known = {} if above is None else above.nsmap
        for prefix, uri in element.nsmap.items():
            if known.get(prefix) != uri:
                self._put(f' xmlns{":" if prefix else ""}{prefix or ""}="{_quoted(uri)}"')
        for key, value in element.attrib.items():
            self._put(f' {_name(element, str(key))}="')
            self._put_text(str(value), _quoted, self._marks.get((number, str(key))))
            self._put('"')
        if not len(element) and not element.text:
            self._put("/>")
            return
        self._put(">")
        texts = [element.text, *(child.tail for child in element)]
        on_lines = bool(len(element)) and not any(text and text.strip() for text in texts)
        if not on_lines:
            self._put_text(element.text or "", _escaped, mark)
        for child in element:
            if on_lines:
                self._put("\n" + "  " * (level + 1))
            if isinstance(child.tag, str):
                self.element(child, level + 1, mark)
            else:
                self._put(etree.tostring(child, encoding="unicode", with_tail=False))
            if not on_lines:
                self._put_text(child.tail or "", _escaped, mark)
        if on_lines:
            self._put("\n" + "  " * level)
        self._put(f"</{name}>")

    def value(self, value: object, level: int, mark: Mark | None) -> None:
        """Writes a JSON value whose number is the next."""
        mark = self._marks.get((self._number, None), mark)
        self._number += 1
        indent = "\n" + "  " * (level + 1)
        if isinstance(value, Mapping) and value:
            before = "{"
            for key, member in value.items():
                self._put(f"{before}{indent}{_dumped(key)}: ")
                before = ","
                if isinstance(member, list | tuple):
                    # The members of an array have numbers; the array has none.
                    self._array(member, level + 1, mark)
                else:
                    self.value(member, level + 1, mark)
            self._put("\n" + "  " * level + "}")
        elif isinstance(value, list | tuple):
            self._array(value, level, mark)
        elif isinstance(value, str):
            self._put('"')
            self._put_text(value, lambda text: _dumped(text)[1:-1], mark)
            self._put('"')
        else:
            self._put_text(_dumped(value), str, mark)

    def _array(
        self, array: list[object] | tuple[object, ...], level: int, mark: Mark | None
    ) -> None:
        self._put("[")
        for place, member in enumerate(array):
            self._put(f"{',' if place else ''}\n{'  ' * (level + 1)}")
            self.value(member, level + 1, mark)
        self._put(f"\n{'  ' * level}]" if array else "]")

    def _put_text(self, text: str, written: Callable[[str], str], mark: Mark | None) -> None:
        """Puts a text, with its mark or those of its parts, as it is written."""
        if mark is None or isinstance(mark, int):
            self._put(written(text), mark)
            return
        at = 0
        for start, end, number in mark(text):
            self._put(written(text[at:start]))
            self._put(written(text[start:end]), number)
            at = end
        self._put(written(text[at:]))

    def _put(self, text: str, mark: int | None = None) -> None:
        if not text:
            return
        if self.pieces and self.pieces[-1][1] == mark:
            text = self.pieces.pop()[0] + text
        self.pieces.append((text, mark))


def _name(element: etree._Element, clark: str) -> str:
    """A name as it is written for an element."""
    uri, _, local = clark.rpartition("}")
    if not uri:
        return local
    uri = uri[1:]
    if clark == element.tag:
        return f"{element.prefix}:{local}" if element.prefix else local
    if uri == "http://www.w3.org/XML/1998/namespace":
        return f"xml:{local}"
    prefix = next((p for p, known in element.nsmap.items() if p and known == uri), None)
    return f"{prefix}:{local}" if prefix else local


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', "&quot;")


def _dumped(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    # Half of a surrogate pair, which a string of JSON may have, is text only when escaped.
    return json.dumps(value, default=str) if _HALF_A_PAIR.search(text) else text


def _seen(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
