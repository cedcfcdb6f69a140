"""Where an XML constructor ends, and its pieces on the way there.

One pass over `<promo by="{x2}">…</promo>` distinguishes markup from text from embedded expressions
(`{x2}`) and doubled braces; docs/semantics.md#result-documents, XQuery 3.1 section 3.9.1.  Whether
the markup is well-formed is left to lxml (`constructor.py`); here only that is noticed without
which the end cannot be found: what is never closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from xscl.language.checks.names import PRIMED, STRING, NamePattern
from xscl.language.problems import Problem

__all__ = ["DEEPEST", "Markup", "Piece", "read_markup"]

DEEPEST = 200
"""Elements in elements; libxml2 gives up at 256."""

Kind = Literal["tag", "text", "cdata", "brace", "insert", "brace in tag", "insert in tag"]


class Piece(NamedTuple):
    """A stretch of a constructor: a part of a tag (or a comment, or a processing
    instruction), text, a CDATA section, `{{` or `}}`, or `{expression}`."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Markup:
    """A constructor's extent in the text, and its pieces without a gap."""

    start: int
    end: int
    pieces: tuple[Piece, ...]
    problem: Problem | None


_CONTENT = re.compile(
    r"(?P<text>[^<{}]++)|(?P<comment><!--)|(?P<cdata><!\[CDATA\[)|(?P<pi><\?)"
    r"|</(?P<end>[^\s<>]*+)[^<>]*+>?|(?P<start><)|(?P<brace>\{\{|\}\})|(?P<insert>\{)|\}"
)
_TAG_NAME = re.compile(r"[^\s<>/{}\"'=]*+")
_DECLARES = re.compile(r"\sxmlns(?::[^\s=]*+)?\s*+=\s*+\Z")
_IN_TAG = re.compile(r"""[^<>"'/]++|/(?!>)""")
_IN_VALUE = {'"': re.compile(r'[^{}"]++'), "'": re.compile(r"[^{}']++")}
# `</` is in no expression: an expression that is never closed ends before it, so the
# constructor and the queries after it can still be read.
_EXPRESSION = NamePattern(rf"\{{(?:{PRIMED}|{STRING}|(?!</)[^'\"{{}}])*+")
_CLOSED_BY = {"comment": "-->", "cdata": "]]>", "pi": "?>"}


def read_markup(text: str, start: int) -> Markup:
    """Read the constructor whose `<` stands at `start`."""
    reader = _Reader(text, start)
    reader.element()
    return Markup(start, reader.at, tuple(reader.pieces), reader.problem)


class _Reader:
    """A place in the text that moves on; what was read is in `pieces`."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.plain = text.isascii()
        self.at = start
        self.pieces: list[Piece] = []
        self.problem: Problem | None = None
        self.open: list[tuple[str, int]] = []

    def element(self) -> None:
        """Read to the end tag of the element that starts here."""
        self.start_tag()
        while self.open:
            found = _CONTENT.match(self.text, self.at)
            if found is None:
                name, at = self.open.pop()
                self.note(at, f"the element `<{name}>` is not closed: `</{name}>` is missing")
                return
            match found.lastgroup:
                case "start":
                    self.start_tag()
                case "end":
                    self.take("tag", found.end())
                    self.end_tag(found["end"], found.start())
                case "insert":
                    self.expression("insert")
                case "text" | "brace" as kind:
                    self.take("text" if kind == "text" else "brace", found.end())
                case "comment" | "cdata" | "pi" as kind:
                    self.closed_by(_CLOSED_BY[kind], "cdata" if kind == "cdata" else "tag")
                case _:
                    self.stray_brace("text")

    def note(self, at: int, text: str) -> None:
        """Keep the first problem: those after it mostly follow from it."""
        self.problem = self.problem or Problem(at, text)

    def take(self, kind: Kind, end: int) -> None:
        self.pieces.append(Piece(kind, self.at, end))
        self.at = end

    def closed_by(self, closing: str, kind: Kind) -> None:
        end = self.text.find(closing, self.at)
        if end < 0:
            self.note(self.at, f"this is never closed: `{closing}` is missing")
        self.take(kind, len(self.text) if end < 0 else end + len(closing))

    def stray_brace(self, kind: Kind) -> None:
        self.note(self.at, "found `}` without its `{`; write `}}` for the character")
        self.take(kind, self.at + 1)

    def start_tag(self) -> None:
        start = self.at
        name = self.text[start + 1 : _TAG_NAME.match(self.text, start + 1).end()]  # type: ignore[union-attr]
        if not name:
            self.note(start, "found `<` without a name after it; write `&lt;` for the character")
            self.take("tag", start + 1)
            return
        self.take("tag", start + 1 + len(name))
        while self.at < len(self.text):
            part = _IN_TAG.match(self.text, self.at)
            if part is not None:
                self.take("tag", part.end())
            elif self.text.startswith("/>", self.at):
                self.take("tag", self.at + 2)
                return
            elif self.text[self.at] in "\"'":
                self.value(self.text[self.at])
            else:
                # `<` in a tag: lxml will say so at its place; the tag is taken to end here.
                if self.text[self.at] == ">":
                    self.take("tag", self.at + 1)
                break
        self.open.append((name, start))
        if len(self.open) > DEEPEST:
            self.note(start, f"elements are nested more than {DEEPEST} deep")

    def value(self, quote: str) -> None:
        start = self.at
        declares = _DECLARES.search(self.text, self.pieces[-1].start, start) is not None
        self.take("tag", start + 1)
        while self.at < len(self.text):
            part = _IN_VALUE[quote].match(self.text, self.at)
            if part is not None:
                self.take("tag", part.end())
            elif self.text[self.at] == quote:
                self.take("tag", self.at + 1)
                return
            elif self.text.startswith(("{{", "}}"), self.at):
                self.take("brace in tag", self.at + 2)
            elif self.text[self.at] == "{":
                if declares:
                    self.note(self.at, "a namespace cannot be an expression")
                self.expression("insert in tag")
            else:
                self.stray_brace("tag")
        self.note(start, f"the attribute's value is not closed: {quote} is missing")

    def end_tag(self, name: str, at: int) -> None:
        expected, _ = self.open[-1]
        if name != expected:
            self.note(at, f"found `</{name}>`, expected `</{expected}>`")
            names = [opened for opened, _ in self.open[-DEEPEST:]]
            # A misspelt end tag closes the last element, a forgotten one those around it too.
            closed = names[::-1].index(name) + 1 if name in names else 1
            del self.open[-closed:]
        else:
            self.open.pop()

    def expression(self, kind: Kind) -> None:
        start = self.at
        end = _EXPRESSION.form(self.plain).match(self.text, start).end()  # type: ignore[union-attr]
        stopped_by = self.text[end : end + 1]
        if stopped_by == "}":
            self.take(kind, end + 1)
            return
        if stopped_by and stopped_by in "\"'":
            self.note(end, f"the string that begins here is not closed: {stopped_by} is missing")
            end = len(self.text)
        elif stopped_by == "{":
            self.note(end, "found `{` in an expression; write `{{` for the character in text")
        else:
            self.note(start, "this `{` is not closed; write `{{` for the character")
        self.take(kind, end)
