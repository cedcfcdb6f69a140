"""The language of a query and of each of its sub-queries
(docs/semantics.md#the-language-of-a-text): what a text holds at one level of parentheses, outside
of strings, braces and brackets, decides.

A statement of one language alone has no level in another; of one in two, each stretch is read by
its own grammar, with the stretches in the other cut out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from xscl.language.build import DEEPEST
from xscl.language.checks.names import (
    AFTER_STREAM,
    END_OF_WORD,
    PRIMED,
    STRING,
    VARIABLE,
    NamePattern,
    is_plain,
)
from xscl.language.constructors.markup import Markup
from xscl.language.problems import Unreadable
from xscl.language.scan import Statement

__all__ = ["Level", "root_level"]

_MAYBE = NamePattern(
    rf"(?<![\w.-])(?ai:SELECT|FILTER|WINDOW|NEXT|FOLD|UNION|GROUP|WHERE){END_OF_WORD}|[;\\|+]"
    rf"|[\w'\])\"][ \t\r\n]++(?!(?ai:AND|OR|BY|AS){END_OF_WORD}){VARIABLE}[ \t\r\n]*+"
    rf"(?:\)|\Z|(?ai:PUBLISH|CONSISTENCY){END_OF_WORD})"
)
_TOKEN = NamePattern(
    rf"[ \t\r\n]++|(?P<word>{PRIMED})|(?P<string>{STRING})|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<joint>//?|->|@|:)|(?P<other>.)",
    re.DOTALL,
)
_SELECT = NamePattern(rf"[ \t\r\n]*+(?ai:SELECT){END_OF_WORD}(?!{AFTER_STREAM})")
_ALL = NamePattern(rf"[ \t\r\n]*+\*[ \t\r\n]*+(?ai:FROM){END_OF_WORD}")
_CONSTRUCTOR = re.compile(r"[ \t\r\n]*+[<{]")
_OPENS = re.compile(r"[ \t\r\n]*+[({]")
_FOLLOWED = NamePattern(rf"(?ai:FOLLOWED)[ \t\r\n]++(?ai:BY){END_OF_WORD}")
_BY = NamePattern(rf"[ \t\r\n]*+(?ai:BY){END_OF_WORD}")
_OPERANDS = ("FILTER", "WINDOW")
_SIGNS = frozenset(";\\|+")
# What only a name or a value follows in a SELECT, and what follows a name there.
_BEFORE_NAMES = frozenset((",", "+", "-", "/", "//", "@", ".", ":", "$"))
_NAMED = NamePattern(rf"[ \t\r\n]*+(?:[-,./@*+\[]|(?ai:AS|FROM){END_OF_WORD})")
_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "ARGMAX", "ARGMIN")
_AGGREGATE = re.compile(rf"(?<![\w.-])(?ai:{'|'.join(_AGGREGATES)})[ \t\r\n]*+\(")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MIXED = (
    "`{}` cannot be used with NEXT, FOLD, UNION, FILTER, WINDOW, GROUP BY or an aggregate; put the "
    "part with it in parentheses, as a query: `(A JOIN {{…}} B) NEXT C`"
)
_COMPOSED = (
    "`{}` cannot be used with JOIN, FOLLOWED BY, NEXT, FOLD, UNION, FILTER{{…}} or GROUP BY; put "
    "the part with it in parentheses, as a query: `(SELECT * FROM (A; B))/result JOIN {{…}} C`"
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
    sign: tuple[int, str] | None = None
    """The first `;` or `\\` between operands, and its place."""
    composes: bool = False
    """Whether it has a sign of EQL: `;`, `\\`, `|`, `+`, a variable behind a block, WHERE."""
    pathed: bool = False
    """Whether a path follows its parenthesis."""
    of_eql: bool = False
    """Whether it is EQL, or a group in that."""

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
        if self.pattern or self.computes or self.composes or self.joins is not None:
            self.by_itself = self.computes and not self.pattern
        elif single is None:
            self.by_itself = lists and self._is_stream
        else:
            queries = bool(single.selects) or single.publishes or single.pattern
            self.by_itself = single.by_itself or (lists and (queries or single._is_stream))

    @property
    def _is_stream(self) -> bool:
        elsewhere = self.inner or self.has_path or self.pattern or self.composes
        return self.operands == 1 and not elsewhere

    @property
    def rule(self) -> str:
        """The rule of the grammars that reads it."""
        if self.of_eql:
            return "eql_query"
        return "event_query" if self.of_events else "query"

    @property
    def _composes(self) -> bool:
        """Whether it is EQL wherever it stands: by its own signs, or those of its only group."""
        if self.by_itself or self.pattern or self.joins is not None:
            return False
        alone = self.operands == 1 and not self.has_path and len(self.inner) == 1
        return self.composes or (alone and self.inner[0]._is_group and self.inner[0]._composes)

    @property
    def _is_group(self) -> bool:
        return not (self.selects or self.publishes or self.pathed)

    def decide(self, *, within: bool, composing: bool = False) -> None:
        """Decides the language, and of all below; `within` says whether it is an operand of an
        event query, `composing` whether it is one of EQL."""
        self.of_events = self.by_itself or (within and self._is_operand())
        if not self.of_events:
            plain = not (self.pattern or self.joins is not None)
            self.of_eql = self._composes or (composing and self._is_group and plain)
        for one in self.inner:
            one.decide(within=self.of_events, composing=self.of_eql)

    def _is_operand(self) -> bool:
        """Whether, as an operand of an event query, it is one."""
        if self.pattern or self._composes or self.joins is not None or self.operands != 1:
            return False
        if self.selects == "list":
            return self.is_block
        return self.selects == "" or (self.selects == "*" and self._is_stream)

    def check(self) -> None:
        """Refuses two languages at one level, here and below."""
        if self.of_events and self.joins is not None:
            at, word = self.joins
            raise Unreadable(at, _MIXED.format(word))
        if self.sign is not None and (self.of_events or self.joins is not None):
            at, sign = self.sign
            raise Unreadable(at, _COMPOSED.format(sign))
        for one in self.inner:
            one.check()

    def others(self) -> Iterator[Level]:
        """The levels below in another language, the outermost ones."""
        for one in self.inner:
            if one.rule != self.rule or (self.of_eql and not one._is_group):
                yield one
            else:
                yield from one.others()


def root_level(
    text: str, original: str, statement: Statement, declared: Container[str]
) -> Level | None:
    """The levels of a statement of a scanned text; None if it has nothing of event queries.

    `declared` are the streams that were declared before.
    """
    stretch = text[statement.start : statement.end]
    if _MAYBE.of(stretch).search(text, statement.start, statement.end) is None:
        return None
    level = _Reader(text, original, statement, declared).read()
    level.decide(within=False)
    level.check()
    plain = level.rule == "query" and next(level.others(), None) is None
    return None if plain else level


class _Reader:
    """Reads the levels of a statement, token by token."""

    def __init__(
        self, text: str, original: str, statement: Statement, declared: Container[str]
    ) -> None:
        self.text = text
        self.plain = is_plain(text[statement.start : statement.end])
        self.declared = declared
        self.end = statement.end
        self.patterns = {one.start: one.end for one in statement.patterns}
        self.levels = [Level(statement.start)]
        # The token before in a SELECT.
        self.before = ""
        # Whether the token before ends an operand of the innermost level, or a step follows it.
        self.operand = self.step = self.tail = self.selecting = False
        # The words behind an operand: one is a variable, if nothing else follows.
        self.words = 0
        # Whether the operand is a group.
        self.group = False
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
            token = _TOKEN.form(self.plain).match(self.text, at, self.end)
            assert token is not None
            kind, start, at = token.lastgroup, at, token.end()
            if kind == "open":
                at = self.open(token[0], at)
            elif kind == "close":
                self.close(token[0], start)
            elif self.selecting and kind is not None:
                self.select(token[0].upper(), at)
            elif kind is not None and not (self.brackets or self.tail or self.selecting):
                at = self.take(kind, token[0], start, at)
            elif kind == "word" and self.tail and token[0].upper() == "PUBLISH":
                self.levels[-1].publishes = True
        while len(self.levels) > 1:
            self.leave(self.end)
        self.compose()
        self.levels[0].close(self.end, self.declared)
        return self.levels[0]

    def begin(self, at: int) -> int:
        """Begin a level at a place, with its SELECT; return where the next token starts."""
        self.operand = self.step = self.tail = self.selecting = False
        level = self.levels[-1]
        selecting = _SELECT.form(self.plain).match(self.text, at, self.end)
        if selecting is None:
            return at
        at = selecting.end()
        self.selecting = True
        constructor = _CONSTRUCTOR.match(self.text, at, self.end)
        if constructor is not None:
            level.selects = "constructor"
            level.aggregates = self.constructors.get(constructor.end() - 1, False)
            return constructor.end()
        level.selects = (
            "*" if _ALL.form(self.plain).match(self.text, at, self.end) is not None else "list"
        )
        self.before = ","
        return at

    def select(self, word: str, end: int) -> None:
        """Take a word or a sign of a SELECT."""
        if word == "FROM" and not (self.brackets or self._is_named(end)):
            self.selecting = False
        elif word in _AGGREGATES and set(self.brackets) <= {")"}:
            # In a filter of a path it is XPath's.
            called = _OPENS.match(self.text, end, self.end) is not None
            self.levels[-1].computes = self.levels[-1].computes or called
        self.before = word

    def _is_named(self, end: int) -> bool:
        """Whether the word of a SELECT that ends at a place can only be a name."""
        if self.before in _BEFORE_NAMES:
            return _NAMED.form(self.plain).match(self.text, end, self.end) is not None
        return self.before == "AS"

    def open(self, sign: str, end: int) -> int:
        """Take an opening bracket; return where the next token starts."""
        inside = self.brackets or self.selecting or self.tail or self.operand or self.step
        self.no_variable()
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
        self.compose()
        level = self.levels.pop()
        level.close(end, self.declared)
        self.levels[-1].inner.append(level)
        self.levels[-1].operands += 1
        self.brackets = []
        self.operand, self.step, self.tail, self.selecting = True, False, False, False
        self.group = True

    def compose(self) -> None:
        """What was a word behind a block was a variable."""
        if self.words == 1:
            self.levels[-1].composes = True
        self.words = 0

    def no_variable(self) -> None:
        """What follows a word is not what follows a variable."""
        self.words *= 2

    def take(self, kind: str, token: str, start: int, end: int) -> int:
        """Take a token of a source; return where the next one starts."""
        level = self.levels[-1]
        if kind == "other" and token in _SIGNS and self.operand and not self.step:
            self.compose()
            level.composes = True
            level.sign = level.sign or ((start, token) if token in ";\\" else None)
            self.operand = token == "+"
        elif kind == "joint":
            self.no_variable()
            if self.operand and level.inner and self.group:
                level.inner[-1].pathed = True
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
        elif kind not in ("word", "string"):
            # Of these only `$` stands before a variable.
            self.words = self.words if token == "$" else 2
        else:
            level.stream = level.stream or token
            level.operands += 1
            self.operand, self.group = True, False
        return end

    def operator(self, word: str, start: int, end: int) -> int:
        """Take a word behind an operand."""
        level = self.levels[-1]
        followed = _FOLLOWED.form(self.plain).match(self.text, start, self.end)
        if followed is not None or word == "JOIN":
            level.joins = level.joins or (start, "JOIN" if followed is None else "FOLLOWED BY")
            self.operand = False
            return end if followed is None else followed.end()
        if word in ("NEXT", "FOLD", "UNION"):
            level.computes = True
            self.operand = False
        elif word == "GROUP" and _BY.form(self.plain).match(self.text, end, self.end) is not None:
            level.computes = self.tail = True
        elif word in ("PUBLISH", "CONSISTENCY", "WHERE"):
            self.compose()
            level.publishes = word == "PUBLISH"
            level.composes = level.composes or word == "WHERE"
            self.tail = True
        elif word == "AS":
            self.step = True
            self.words = 0 if level.has_path else 1
        else:
            level.operands += 1
            self.words += 1 + (self.group and not level.inner[-1].pathed)
        return end


def _in_markup(original: str, markup: Markup) -> bool:
    """Whether an aggregate is inserted into a constructor."""
    return any(
        kind.startswith("insert") and _AGGREGATE.search(original, start, end) is not None
        for kind, start, end in markup.pieces
    )
