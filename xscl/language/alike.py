"""Statements that differ in names and literals alone: parsed once, however many there are.

A statement's *skeleton* is its text with a symbol for each name (one for all places of a name) and
without the literals that are constants of filters and predicates.  The grammar tells strings and
numbers from all else by their first character, and names from each other only where they are its
own words, have a colon or are called; so statements of one skeleton have one tree but for these.
It is parsed once, in symbols and with parameters for its literals; all others are instances of that
one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from math import isfinite
from typing import NamedTuple

from xscl.language.checks.check import check
from xscl.language.checks.limits import too_long
from xscl.language.checks.names import NAME, STRING, SYMBOLS, NamePattern, unquoted
from xscl.language.parameters import Prepared
from xscl.language.parsing import parse_query
from xscl.language.problems import Problem, Unreadable
from xscl.language.scan import Statement
from xscl.language.syntax import Declared, Query
from xscl.language.syntax.languages import JOINS
from xscl.language.walk import with_sub_queries

__all__ = ["SYMBOL", "AlikeStatements", "Instance", "TextPlace", "by_symbol"]

_MOST = 5_000
"""How many skeletons are remembered, the latest, and how many texts of their statements."""

_MOST_DIGITS = 15
"""How many digits of a window's number a double has for sure."""

_OF_SKELETON = 1_000
"""How many queries are prepared of one skeleton."""

# Characters that are names to the grammar and to XPath, of a plane that nobody writes in.
SYMBOL = re.compile(f"[{chr(SYMBOLS[0])}-{chr(SYMBOLS[-1])}]")
"""A character that stands for a name."""

_WORDS = {
    *("DECLARE", "NAMESPACE", "SELECT", "FROM", "PUBLISH", "AS", "FOLLOWED", "BY", "JOIN"),
    *("AND", "OR", "INF", "DIV", "MOD"),
}
# Names take their digits and primes with them, as in `scan.py`, the name of a unit its number; and
# what is no name without it, a colon or parenthesis.
_TOKEN = NamePattern(
    rf"({NAME}(?:(?<!\.)'++|:{NAME}|[ \t\r\n]*+\()?+|{STRING}|:{NAME}(?:[ \t\r\n]*+{NAME})?+"
    rf"|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[ \t\r\n]*+{NAME})?+)"
)
_OF_EVENTS = re.compile(r"(?<![\w.-])(?ai:FILTER|WINDOW|NEXT|FOLD|UNION|GROUP)(?![\w.-])")
_NUMBER = re.compile(r"[0-9.]+")
_BEGIN_LITERALS = frozenset("'\".0123456789")


_EACH = [*map(chr, SYMBOLS)]


def by_symbol(names: Sequence[str]) -> dict[str, str]:
    """Names by their symbols."""
    return dict(zip(_EACH, names, strict=False))


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of a statement that is a good query: in a text, and in that text scanned."""

    text: str
    scanned: str
    statement: Statement
    name: str
    namespaces: Mapping[str, str]
    declared: Mapping[str, Declared]

    def read(self) -> tuple[Query, list[Problem]]:
        """The query, parsed in full, and its problems."""
        return parse_query(
            self.text, self.scanned, self.statement, self.name, self.namespaces, self.declared
        )

    @property
    def query(self) -> Query:
        """The query, parsed in full."""
        return self.read()[0]

    def with_literals(self) -> tuple[Query, dict[int, str]]:
        """The query, parsed in full, and the names of its literals as parameters, by place."""
        return self.query, self.literals

    @property
    def literals(self) -> dict[int, str]:
        """The names of its literals as parameters, by place."""
        statement = self.statement
        text = self.scanned[statement.start : statement.end]
        texts = _TOKEN.of(text).split(text)
        return _numbered(statement.start, texts)


@dataclass(frozen=True, slots=True)
class Instance:
    """A statement like one that was parsed before: the query with parameters for its literals, and
    the values of these."""

    prepared: Prepared
    values: dict[str, object]
    place: TextPlace

    @property
    def name(self) -> str:
        """The query's name."""
        return self.place.name

    @property
    def at(self) -> int:
        """Where the query begins."""
        return self.place.statement.start

    @property
    def is_first(self) -> bool:
        """Whether it is the very statement that was parsed."""
        if self.values or self.prepared.like is not None:
            return False
        query, place = self.prepared.query, self.place
        at = place.statement.start
        return (query.text is place.text) and (query.at, query.name) == (at, place.name)

    @property
    def query(self) -> Query:
        """The query, parsed in full."""
        return self.prepared.query if self.is_first else self.place.query


Key = tuple[object, ...]
Whole = tuple[str, *tuple[object, ...]]


class _Parts(NamedTuple):
    """A statement taken apart: its `texts`, of which every second one is a token; the same with a
    symbol in place of each name and a sign in place of each literal (`pieces`); literals and names.
    """

    texts: list[str]
    pieces: list[str]
    literals: list[str]
    names: tuple[str, ...]


@lru_cache(maxsize=10_000)
def _literal(token: str) -> tuple[str, str]:
    """The literal that begins a token, and what is in the place of the token."""
    if token[0] in "'\"":
        return token, "'"
    number = _NUMBER.match(token)
    assert number is not None
    # What is left in the skeleton tells a string from a number.
    return number[0], f"0{token[number.end() :]}"


@dataclass(slots=True)
class _Skeleton:
    """The statements of one skeleton: `others` are the literals that are no constants; `prepared`
    has the queries by these and by names, `in_symbols` those in symbols by these alone."""

    others: tuple[int, ...]
    prepared: dict[Key, Prepared] = field(default_factory=dict)
    in_symbols: dict[Key, Prepared | None] = field(default_factory=dict)

    def keep(self, parts: _Parts, prepared: Prepared) -> Prepared:
        """Remembers a query for the next one of its names."""
        if len(self.prepared) < _OF_SKELETON:
            self.prepared[self.key(parts), parts.names] = prepared
        return prepared

    def key(self, parts: _Parts) -> tuple[str, ...]:
        """The literals of a statement that are no constants."""
        return tuple([parts.literals[other] for other in self.others])

    def renamed(self, parts: _Parts, place: TextPlace) -> Prepared | None:
        """The query of a statement whose names are new."""
        key = self.key(parts)
        if not parts.names or any(unquoted(one) in parts.names for one in key if one[0] in "'\""):
            # A name in quotes is no other one than without.
            return None
        if key not in self.in_symbols and len(self.in_symbols) < _OF_SKELETON:
            self.in_symbols[key] = _in_symbols(parts, place)
        like = self.in_symbols.get(key)
        if like is None:
            return None
        return self.keep(parts, like.renamed(parts.names, place.with_literals))


def _in_symbols(parts: _Parts, place: TextPlace) -> Prepared | None:
    """The query in symbols of a statement; None where it is not good."""
    if not parts.names or len(parts.names) == len(SYMBOLS) or any(map(SYMBOL.search, parts.texts)):
        # Somebody writes in them, or there are not enough.
        return None
    both = zip(parts.texts, parts.pieces, strict=True)
    pieces = [piece if SYMBOL.match(piece) else text for text, piece in both]
    text = "".join(pieces)
    whole = Statement(0, len(text), None, None, (), (), None)
    with suppress(Unreadable):
        query, problems = parse_query(text, text, whole, place.name, place.namespaces)
        joined = all(one.language is JOINS for one in with_sub_queries(query))
        if joined and not (problems or check(query, text)):
            return Prepared(query, _numbered(0, pieces))
    return None


def _numbered(start: int, texts: Sequence[str]) -> dict[int, str]:
    """The names of literals as parameters, by place, given the texts that begin at one."""
    places = list(accumulate(map(len, texts), initial=start))
    literals = [i for i in range(1, len(texts), 2) if texts[i][0] in _BEGIN_LITERALS]
    return {places[i]: str(number) for number, i in enumerate(literals)}


class AlikeStatements:
    """The skeletons of the statements read last."""

    def __init__(self) -> None:
        self._skeletons: OrderedDict[Key, _Skeleton] = OrderedDict()
        # By the text of a statement, and all else that it depends on.
        self._seen: OrderedDict[Key, tuple[Prepared, dict[str, object]]] = OrderedDict()
        # A frozen set knows its hash once it was asked for it.
        self._context: tuple[object, object, object] = (None, None, None)

    def find(self, place: TextPlace) -> Instance | None:
        """The statement at a place as an instance of one that was noted; None where there is none
        or something may be wrong with it."""
        statement = place.statement
        if statement.problem is not None or too_long(statement) is not None:
            return None
        text = self._whole(place)
        seen = self._seen.get(text)
        if seen is not None:
            self._seen.move_to_end(text)
            return Instance(*seen, place)
        key, parts = self._taken_apart(text)
        skeleton = self._skeletons.get(key)
        if skeleton is None:
            # With parameters of its own it is no instance.
            its_own = any(token[0] == ":" for token in parts.texts[1::2])
            like = None if its_own else _in_symbols(parts, place)
            if like is None:
                return None
            skeleton = self._begin(key, like, parts)
            skeleton.in_symbols[skeleton.key(parts)] = like
        else:
            self._skeletons.move_to_end(key)
        prepared = skeleton.prepared.get((skeleton.key(parts), parts.names))
        prepared = prepared or skeleton.renamed(parts, place)
        if prepared is None:
            return None
        values: dict[str, object] = {}
        for name in prepared.parameters:
            if not name.isdigit():
                # Parameters of its own: nobody has bound them yet.
                return None
            literal = parts.literals[int(name)]
            if name in prepared.lengths and len(literal) > _MOST_DIGITS:
                # A double has not all of them.
                return None
            value = unquoted(literal) if literal[0] in "'\"" else float(literal)
            if isinstance(value, float) and not isfinite(value):
                return None
            values[name] = value
        if (prepared.like or prepared).problems(values):
            return None
        return self._instance(text, place, prepared, values)

    def note(self, place: TextPlace, query: Query) -> Query | Instance:
        """Notes the good query that the statement at a place is; returns it, as an instance where
        it has neither constants nor parameters, by which it would differ from others."""
        text = self._whole(place)
        key, parts = self._taken_apart(text)
        prepared = Prepared(query, place.literals)
        skeleton = self._skeletons.get(key) or self._begin(key, prepared, parts)
        skeleton.keep(parts, prepared)
        if prepared.parameters:
            return query
        return self._instance(text, place, prepared, {})

    def _begin(self, key: Key, prepared: Prepared, parts: _Parts) -> _Skeleton:
        """A new skeleton, given its first query."""
        constants = prepared.parameters
        others = tuple(i for i in range(len(parts.literals)) if str(i) not in constants)
        skeleton = self._skeletons[key] = _Skeleton(others)
        if len(self._skeletons) > _MOST:
            self._skeletons.popitem(last=False)
        return skeleton

    def _instance(
        self, text: Key, place: TextPlace, prepared: Prepared, values: dict[str, object]
    ) -> Instance:
        self._seen[text] = prepared, values
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return Instance(prepared, values, place)

    def _whole(self, place: TextPlace) -> Whole:
        """A statement as it was scanned, with all else that it depends on."""
        statement = place.statement
        return (place.scanned[statement.start : statement.end], *self._surroundings(place))

    def _taken_apart(self, whole: Whole) -> tuple[Key, _Parts]:
        """A statement's skeleton with all else that it depends on, and its parts."""
        text, *surroundings = whole
        # In a constructor names are text; in a pattern one may be a path, in an event query
        # another name and a number behind it; of a declared stream all of it is an event query.
        most = 0 if surroundings[1:] or _OF_EVENTS.search(text) is not None else len(SYMBOLS)
        texts = _TOKEN.of(text).split(text)
        tokens = texts[1::2]
        instead: dict[str, str] = {}
        literals: dict[str, str] = {}
        names: dict[str, str] = {}
        for token in dict.fromkeys(tokens):
            if token[0] in _BEGIN_LITERALS:
                literals[token], instead[token] = _literal(token)
                continue
            name = token.rstrip("'")
            known = names.get(name)
            if known is None:
                other = name[-1] == "(" or ":" in name or name.upper() in _WORDS
                if other or len(names) == most:
                    instead[token] = token
                    continue
                known = names[name] = _EACH[len(names)]
            instead[token] = known if name == token else known + token[len(name) :]
        pieces = texts.copy()
        pieces[1::2] = map(instead.__getitem__, tokens)
        found = [literals[token] for token in tokens if token in literals] if literals else []
        return ("".join(pieces), *surroundings), _Parts(texts, pieces, found, tuple(names))

    def _surroundings(self, place: TextPlace) -> tuple[object, ...]:
        """What is declared before a statement, its constructors, and whether it has patterns."""
        statement = place.statement
        if place.namespaces is not self._context[0] or place.declared is not self._context[1]:
            names = {(stream, one.names) for stream, one in place.declared.items()}
            both = place.namespaces.items() | names
            self._context = place.namespaces, place.declared, frozenset(both)
        aside = statement.markups or statement.objects or statement.patterns
        if not aside and not place.declared:
            return (self._context[2],)
        constructors = [place.text[markup.start : markup.end] for markup in statement.markups]
        constructors += [place.text[start:end] for start, end in statement.objects]
        return (self._context[2], bool(statement.patterns), *constructors)
