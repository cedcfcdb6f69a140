"""Statements that differ in literals alone: parsed once, however many there are.

A statement's *skeleton* is its text without the literals that are constants of filters and
predicates.  The grammar tells strings and numbers from all else by their first character, so
statements of one skeleton have one tree but for these.  The first is parsed; with parameters for
its literals, all others are its instances.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite

from xscl.language.checks.limits import too_long
from xscl.language.checks.names import NAME, STRING, unquoted
from xscl.language.parameters import Prepared
from xscl.language.parsing import parse_query
from xscl.language.scan import Statement
from xscl.language.syntax import Query

__all__ = ["AlikeStatements", "Instance", "TextPlace"]

_MOST = 5_000
"""How many skeletons are remembered, the latest, and how many texts of their statements."""

_OF_SKELETON = 1_000
"""How many queries are prepared of one skeleton."""

# Names take their digits and primes with them, as in `scan.py`.
_TOKEN = re.compile(rf"{NAME}'*+|(?P<string>{STRING})|(?P<number>[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)")


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of a statement that is a good query: in a text, and in that text scanned."""

    text: str
    scanned: str
    statement: Statement
    name: str
    namespaces: Mapping[str, str]

    @property
    def query(self) -> Query:
        """The query, parsed in full."""
        query, _ = parse_query(self.text, self.scanned, self.statement, self.name, self.namespaces)
        return query


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
        query, place = self.prepared.query, self.place
        at = place.statement.start
        return (
            not self.values
            and (query.text is place.text)
            and (query.at, query.name) == (at, place.name)
        )

    @property
    def query(self) -> Query:
        """The query, parsed in full."""
        return self.prepared.query if self.is_first else self.place.query


Literals = list[tuple[int, str]]
Key = tuple[object, ...]


@dataclass(slots=True)
class _Skeleton:
    """The statements of one skeleton: `others` are the literals that are no constants; `prepared`
    has the queries by them."""

    others: tuple[int, ...] | None = None
    prepared: dict[tuple[str, ...], Prepared] = field(default_factory=dict)

    def prepare(self, query: Query, literals: Literals) -> Prepared:
        """Prepares a query of the skeleton."""
        names = {at: str(number) for number, (at, _) in enumerate(literals)}
        prepared = Prepared(query, names)
        if self.others is None:
            constants = prepared.parameters
            self.others = tuple(i for i in range(len(literals)) if str(i) not in constants)
        if len(self.prepared) < _OF_SKELETON:
            self.prepared[self.key(literals)] = prepared
        return prepared

    def key(self, literals: Literals) -> tuple[str, ...]:
        """The literals of a statement that are no constants."""
        return tuple([literals[other][1] for other in self.others or ()])


class AlikeStatements:
    """The skeletons of the statements read last."""

    def __init__(self) -> None:
        self._skeletons: OrderedDict[Key, _Skeleton] = OrderedDict()
        # By the text of a statement, and all else that it depends on.
        self._seen: OrderedDict[Key, tuple[Prepared, dict[str, object]]] = OrderedDict()
        # A frozen set knows its hash once it was asked for it.
        self._namespaces: tuple[object, object] = (None, None)

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
        key, literals = self._taken_apart(place)
        skeleton = self._skeletons.get(key)
        if skeleton is None:
            return None
        self._skeletons.move_to_end(key)
        prepared = skeleton.prepared.get(skeleton.key(literals))
        if prepared is None:
            return None
        values: dict[str, object] = {}
        for name in prepared.parameters:
            if not name.isdigit():
                # Parameters of its own: nobody has bound them yet.
                return None
            literal = literals[int(name)][1]
            value = unquoted(literal) if literal[0] in "'\"" else float(literal)
            if isinstance(value, float) and not isfinite(value):
                return None
            values[name] = value
        if prepared.problems(values):
            return None
        return self._instance(place, prepared, values)

    def note(self, place: TextPlace, query: Query) -> Query | Instance:
        """Notes the good query that the statement at a place is; returns it, as an instance where
        it has neither constants nor parameters, by which it would differ from others."""
        key, literals = self._taken_apart(place)
        skeleton = self._skeletons.setdefault(key, _Skeleton())
        prepared = skeleton.prepare(query, literals)
        if len(self._skeletons) > _MOST:
            self._skeletons.popitem(last=False)
        if prepared.parameters:
            return query
        return self._instance(place, prepared, {})

    def _instance(
        self, place: TextPlace, prepared: Prepared, values: dict[str, object]
    ) -> Instance:
        self._seen[self._whole(place)] = prepared, values
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return Instance(prepared, values, place)

    def _whole(self, place: TextPlace) -> Key:
        """A statement as it was scanned, with all else that it depends on."""
        statement = place.statement
        return (place.scanned[statement.start : statement.end], *self._surroundings(place))

    def _taken_apart(self, place: TextPlace) -> tuple[Key, Literals]:
        """A statement's skeleton with all else that it depends on, and its literals with their
        places."""
        statement, text = place.statement, place.scanned
        pieces: list[str] = []
        literals: Literals = []
        done = statement.start
        for found in _TOKEN.finditer(text, statement.start, statement.end):
            if found.lastgroup is not None:
                # What is left in the skeleton tells a string from a number.
                pieces += (text[done : found.start()], "'" if found.lastgroup == "string" else "0")
                literals.append((found.start(), found[0]))
                done = found.end()
        pieces.append(text[done : statement.end])
        return ("".join(pieces), *self._surroundings(place)), literals

    def _surroundings(self, place: TextPlace) -> Iterable[object]:
        """The namespaces of a statement, and its constructors."""
        statement = place.statement
        if place.namespaces is not self._namespaces[0]:
            self._namespaces = place.namespaces, frozenset(place.namespaces.items())
        constructors = [place.text[markup.start : markup.end] for markup in statement.markups]
        constructors += [place.text[start:end] for start, end in statement.objects]
        return (self._namespaces[1], *constructors)
