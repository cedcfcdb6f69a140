"""A document that comes in pieces, as events over a tree that is pruned of ended elements.

The document is never in memory whole.  The tree has the open elements, the elements of the last
piece, and one subtree that the reader has asked to keep until it has ended.  The bounds are those
of `documents`; they are checked piece by piece instead of on the whole tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from lxml import etree

from xscl.xpath_stage.parsing.documents import OPTIONS, MalformedDocument, excess_of_tag, explained

__all__ = ["PIECE", "PrunedDocument"]

PIECE = 32 * 1024
"""Bytes of a piece: a tag with too much in it is longer, so that it is the first to end in one."""

_LONGEST_PROLOG = 1_000_000
_MOST_OUTSIDE = 10_000
"""The maximal bytes before the root element, and the maximal number of comments and instructions
outside it: they stay in memory as long as the document."""

_Events = Iterator[tuple[str, etree._Element]]


class PrunedDocument:
    """The elements of a document as they start and end; those below the `kept` one only with it.

    `pieces` are bytes, of at most `PIECE` each; of text they are UTF-8, whatever it declares.
    """

    def __init__(self, pieces: Iterable[bytes], *, text: bool) -> None:
        self._pieces = pieces
        self._parser = etree.XMLPullParser(
            events=("start", "end", "comment", "pi"),
            encoding="utf-8" if text else None,
            **OPTIONS,  # type: ignore[arg-type]
        )
        self.kept: etree._Element | None = None
        # The document and each open element, with its last child that has ended.
        self._open: list[etree._Element] = []
        self._ended: list[etree._Element | None] = [None]
        self._outside = 0

    def keep(self, element: etree._Element) -> None:
        """Keeps an element that has just started whole; its end is the next event."""
        self.kept = element

    def __iter__(self) -> _Events:
        """`start` and `end` with each element, in document order.

        Raises MalformedDocument for a document that cannot be read, as soon as this is known.
        """
        before_root = 0
        for piece in self._pieces:
            self._feed(piece)
            yield from self._events()
            if self._ended == [None] and not self._open:
                before_root += len(piece)
                if before_root > _LONGEST_PROLOG:
                    raise MalformedDocument(
                        f"it has no element in its first {_LONGEST_PROLOG:,} bytes"
                    )
        self._feed(None)
        yield from self._events()

    def _feed(self, piece: bytes | None) -> None:
        """Parses a piece; with None, ends the document."""
        try:
            if piece is None:
                self._parser.close()
            else:
                self._parser.feed(piece)
        except etree.XMLSyntaxError as error:
            raise self._malformed(error) from error
        # Without a document type that is an error anyway; with one it is only reported.
        for entry in self._parser.feed_error_log:
            if entry.type == etree.ErrorTypes.WAR_UNDECLARED_ENTITY:
                problem = f"{entry.message}; only the five entities of XML are read"
                raise MalformedDocument(explained(problem, entry.line, entry.column))

    def _malformed(self, error: etree.XMLSyntaxError) -> MalformedDocument:
        line, column = error.position
        message = error.msg
        # If the parser has stopped before, the error at the end means nothing.
        for entry in self._parser.feed_error_log:
            if entry.level >= etree.ErrorLevels.ERROR:
                line, column, message = entry.line, entry.column, entry.message
                break
        position = {"line": line, "column": column}
        return MalformedDocument(explained(message, line, column), position=position)

    def _events(self) -> _Events:
        first = True
        for event, element in cast(_Events, self._parser.read_events()):
            if event == "start" and first:
                first = False
                self._check_tag(element)
            if self.kept is not None:
                if event != "end" or element is not self.kept:
                    continue
                yield event, element
                self.kept = None
                self._end(element)
            elif event == "start":
                self._open.append(element)
                self._ended.append(None)
                yield event, element
                if self.kept is element:
                    self._open.pop()
                    self._ended.pop()
            elif event == "end":
                self._open.pop()
                self._ended.pop()
                yield event, element
                self._end(element)
            elif self._open:
                self._end(element)
            else:
                self._outside += 1
                if self._outside > _MOST_OUTSIDE:
                    raise MalformedDocument(
                        f"it has more than {_MOST_OUTSIDE:,} comments and instructions outside "
                        "its root element"
                    )

    def _end(self, node: etree._Element) -> None:
        """Removes the child before one that has ended.

        The one that has ended stays until the next has ended: the parser may still add to the text
        after it.
        """
        before = self._ended[-1]
        if before is not None:
            self._open[-1].remove(before)
        self._ended[-1] = node

    def _check_tag(self, element: etree._Element) -> None:
        """Refuses a first tag of a piece that has too much in it, and entities, which are known
        before the first tag of all."""
        if problem := excess_of_tag(element):
            raise MalformedDocument(problem)
        if not self._open and self.kept is None:
            declared = cast(Any, element.getroottree().docinfo.internalDTD)
            if declared is not None and declared.entities():
                raise MalformedDocument("it declares entities, which a large document must not do")
