"""The language of a query and of each of its sub-queries (patterns.md, section 5): what a text
holds at one level of parentheses, outside of strings, braces and brackets, decides.

A statement of one language alone has no level in another; of one in two, each stretch is read by
its own grammar, with the stretches in the other cut out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from xscl.language.build import DEEPEST
from xscl.language.checks.names import AFTER_STREAM, END_OF_WORD, PRIMED, STRING
from xscl.language.markup import Markup
from xscl.language.problems import Unreadable
from xscl.language.scan import Statement

__all__ = ["Level", "root_level"]

_MAYBE = re.compile(rf"(?<![\w.-])(?ai:SELECT|FILTER|WINDOW|NEXT|FOLD|UNION|GROUP){END_OF_WORD}")
_TOKEN = re.compile(
    rf"[ \t\r\n]++|(?P<word>{PRIMED})|(?P<string>{STRING})|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<joint>//?|->|@|:)|(?P<other>.)",
    re.DOTALL,
)
_SELECT = re.compile(rf"[ \t\r\n]*+(?ai:SELECT){END_OF_WORD}(?!{AFTER_STREAM})")
_ALL = re.compile(rf"[ \t\r\n]*+\*[ \t\r\n]*+(?ai:FROM){END_OF_WORD}")
_CONSTRUCTOR = re.compile(r"[ \t\r\n]*+[<{]")
_OPENS = re.compile(r"[ \t\r\n]*+[({]")
_FOLLOWED = re.compile(rf"(?ai:FOLLOWED)[ \t\r\n]++(?ai:BY){END_OF_WORD}")
_BY = re.compile(rf"[ \t\r\n]*+(?ai:BY){END_OF_WORD}")
_OPERANDS = ("FILTER", "WINDOW")
_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "ARGMAX", "ARGMIN")
_AGGREGATE = re.compile(rf"(?<![\w.-])(?ai:{'|'.join(_AGGREGATES)})[ \t\r\n]*+\(")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MIXED = (
    "`{}` cannot stand beside NEXT, FOLD, UNION, FILTER, WINDOW, GROUP BY or an aggregate; put the "
    "part with it in parentheses, as a query: `(A JOIN {{…}} B) NEXT C`"
)


@dataclass(slots=True, eq=False)
class Level:
    """What stands at one level: between two parentheses, or a whole statement."""

    start: int
    end: int = 0
    selects: str = ""
    """`*`, `list` or `constructor`; empty without SELECT."""
    operands: int = 0
    has_path: bool = False
    computes: bool = False
    """Whether it has an operator of event queries, or an aggregate."""
    aggregates: bool = False
    """Whether its constructor has one; a path from a variable may look like that."""
    stream: str = ""
    """The stream of its first operand."""
    joins: tuple[int, str] | None = None
    """The first FOLLOWED BY or JOIN, and its place."""
    pattern: bool = False
    publishes: bool = False
    inner: list[Level] = field(default_factory=list)
    essence: Level = field(init=False)
    """Itself, or what it is a group of alone."""
    is_block: bool = False
    """Whether it reads one block, in parentheses or not."""
    by_itself: bool = False
    """Whether it is an event query wherever it stands."""
    of_events: bool = False
    """Whether it is an event query, or a group in one."""

    def close(self, end: int, declared: Container[str]) -> None:
        """Ends the level: all below it has ended."""
        self.end = end
        self.computes = self.computes or (self.aggregates and not self.has_path)
        alone = self.operands == 1 and not self.has_path and len(self.inner) == 1
        single = self.inner[0].essence if alone else None
        is_query = bool(self.selects) or self.publishes
        self.essence = self if single is None or is_query else single
        grouped = single is not None and not (single.selects or single.publishes)
        self.is_block = self.operands == 1 and not (self.pattern or self.computes)
        self.is_block &= not self.inner or (single is not None and grouped and single.is_block)
        if grouped and single is not None:
            self.stream = self.stream or single.stream
        lists = self.selects == "list" or (self.selects == "*" and self.stream in declared)
        if self.pattern or self.computes or self.joins is not None:
            self.by_itself = self.computes and not self.pattern
        elif single is None:
            self.by_itself = lists and self._is_stream
        else:
            queries = bool(single.selects) or single.publishes or single.pattern
            self.by_itself = single.by_itself or (lists and (queries or single._is_stream))

    @property
    def _is_stream(self) -> bool:
        return self.operands == 1 and not (self.inner or self.has_path or self.pattern)

    def decide(self, *, within: bool) -> None:
        """Decides the language, and of all below; `within` says whether it is an operand of an
        event query."""
        self.of_events = self.by_itself or (within and self._is_operand())
        for one in self.inner:
            one.decide(within=self.of_events)

    def _is_operand(self) -> bool:
        """Whether, as an operand of an event query, it is one."""
        if self.pattern or self.joins is not None or self.operands != 1:
            return False
        if self.selects == "list":
            return self.is_block
        return self.selects == "" or (self.selects == "*" and self._is_stream)

    def check(self) -> None:
        """Refuses two languages at one level, here and below."""
        if self.of_events and self.joins is not None:
            at, word = self.joins
            raise Unreadable(at, _MIXED.format(word))
        for one in self.inner:
            one.check()

    def others(self) -> Iterator[Level]:
        """The levels below in another language, the outermost ones."""
        for one in self.inner:
            if one.of_events is not self.of_events:
                yield one
            else:
                yield from one.others()


def root_level(
    text: str, original: str, statement: Statement, declared: Container[str]
) -> Level | None:
    """The levels of a statement of a scanned text; None if it has nothing of event queries.

    `declared` are the streams that were declared before.
    """
    if _MAYBE.search(text, statement.start, statement.end) is None:
        return None
    level = _Reader(text, original, statement, declared).read()
    level.decide(within=False)
    if not level.of_events and next(level.others(), None) is None:
        return None
    level.check()
    return level


class _Reader:
    """Reads the levels of a statement, token by token."""

    def __init__(
        self, text: str, original: str, statement: Statement, declared: Container[str]
    ) -> None:
        self.text = text
        self.declared = declared
        self.end = statement.end
        self.patterns = {one.start: one.end for one in statement.patterns}
        self.levels = [Level(statement.start)]
        # Whether a name follows in a SELECT.
        self.named = False
        # Whether the token before ends an operand of the innermost level, or a step follows it.
        self.operand = self.step = self.tail = self.selecting = False
        # The brackets that are open in the innermost level.
        self.brackets: list[str] = []
        self.constructors = {one.start: _in_markup(original, one) for one in statement.markups}
        self.constructors |= {
            start: _AGGREGATE.search(original, start, end) is not None
            for start, end in statement.objects
        }

    def read(self) -> Level:
        at = self.begin(self.levels[0].start)
        while at < self.end:
            token = _TOKEN.match(self.text, at, self.end)
            assert token is not None
            kind, start, at = token.lastgroup, at, token.end()
            if kind == "open":
                at = self.open(token[0], at)
            elif kind == "close":
                self.close(token[0], start)
            elif self.selecting and kind == "word":
                self.select(token[0].upper(), at)
            elif kind is not None and not (self.brackets or self.tail or self.selecting):
                at = self.take(kind, token[0], start, at)
            elif kind == "word" and self.tail and token[0].upper() == "PUBLISH":
                self.levels[-1].publishes = True
        while len(self.levels) > 1:
            self.leave(self.end)
        self.levels[0].close(self.end, self.declared)
        return self.levels[0]

    def begin(self, at: int) -> int:
        """Begin a level at a place, with its SELECT; tell where the next token stands."""
        self.operand = self.step = self.tail = self.selecting = False
        level = self.levels[-1]
        selecting = _SELECT.match(self.text, at, self.end)
        if selecting is None:
            return at
        at = selecting.end()
        self.selecting = True
        constructor = _CONSTRUCTOR.match(self.text, at, self.end)
        if constructor is not None:
            level.selects = "constructor"
            level.aggregates = self.constructors.get(constructor.end() - 1, False)
            return constructor.end()
        level.selects = "*" if _ALL.match(self.text, at, self.end) is not None else "list"
        return at

    def select(self, word: str, end: int) -> None:
        """Take a word of a SELECT."""
        if word == "FROM" and not (self.brackets or self.named):
            self.selecting = False
        elif word in _AGGREGATES and set(self.brackets) <= {")"}:
            # In a filter of a path it is XPath's.
            called = _OPENS.match(self.text, end, self.end) is not None
            self.levels[-1].computes = self.levels[-1].computes or called
        self.named = word == "AS"

    def open(self, sign: str, end: int) -> int:
        """Take an opening bracket; tell where the next token stands."""
        inside = self.brackets or self.selecting or self.tail or self.operand or self.step
        if sign != "(" or inside:
            self.brackets.append(_CLOSING[sign])
            return end
        if len(self.levels) > DEEPEST:
            raise Unreadable(end - 1, f"parentheses are nested more than {DEEPEST} deep")
        self.levels.append(Level(end))
        return self.begin(end)

    def close(self, sign: str, start: int) -> None:
        """Take a closing bracket."""
        if self.brackets:
            if self.brackets[-1] == sign:
                self.brackets.pop()
                self.operand = self.operand and sign != "}"
        elif sign == ")" and len(self.levels) > 1:
            self.leave(start)

    def leave(self, end: int) -> None:
        """End the innermost level."""
        level = self.levels.pop()
        level.close(end, self.declared)
        self.levels[-1].inner.append(level)
        self.levels[-1].operands += 1
        self.brackets = []
        self.operand, self.step, self.tail, self.selecting = True, False, False, False

    def take(self, kind: str, token: str, start: int, end: int) -> int:
        """Take a token of a source; tell where the next one stands."""
        level = self.levels[-1]
        if kind == "joint":
            level.has_path = level.has_path or self.operand
            self.step = True
        elif self.step:
            self.step = kind == "other" and token != "*" and token != "."
        elif kind == "word" and start in self.patterns:
            level.pattern = True
            return self.patterns[start]
        elif kind == "word" and self.operand:
            return self.operator(token.upper(), start, end)
        elif kind == "word" and token.upper() in _OPERANDS and _OPENS.match(self.text, end):
            level.computes = True
        elif kind in ("word", "string"):
            level.stream = level.stream or token
            level.operands += 1
            self.operand = True
        return end

    def operator(self, word: str, start: int, end: int) -> int:
        """Take a word behind an operand."""
        level = self.levels[-1]
        followed = _FOLLOWED.match(self.text, start, self.end)
        if followed is not None or word == "JOIN":
            level.joins = level.joins or (start, "JOIN" if followed is None else "FOLLOWED BY")
            self.operand = False
            return end if followed is None else followed.end()
        if word in ("NEXT", "FOLD", "UNION"):
            level.computes = True
            self.operand = False
        elif word == "GROUP" and _BY.match(self.text, end, self.end) is not None:
            level.computes = self.tail = True
        elif word in ("PUBLISH", "CONSISTENCY"):
            level.publishes = word == "PUBLISH"
            self.tail = True
        elif word == "AS":
            self.step = True
        else:
            level.operands += 1
        return end


def _in_markup(original: str, markup: Markup) -> bool:
    """Whether an aggregate is inserted into a constructor."""
    return any(
        kind.startswith("insert") and _AGGREGATE.search(original, start, end) is not None
        for kind, start, end in markup.pieces
    )
