"""Statements alike but for literals: parsed once, however many there are.

A statement's *skeleton* is its text with the literals that are constants of filters and
predicates taken out.  The grammar tells strings and numbers from all else by their first
character, so statements of one skeleton have one tree but for these: what was parsed for the
first is, with parameters in their stead, what all others are instances of.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from xscl.language.limits import too_long
from xscl.language.names import NAME, STRING, unquoted
from xscl.language.parameters import Prepared
from xscl.language.parse import parse_query
from xscl.language.scan import Statement
from xscl.language.syntax import Query

__all__ = ["AlikeStatements", "Instance", "Place"]

_MOST = 1_000
"""So many skeletons are remembered, those that were met last."""

# Names take their digits and primes with them, as in `scan.py`.
_TOKEN = re.compile(rf"{NAME}'*+|(?P<string>{STRING})|(?P<number>[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)")


@dataclass(frozen=True, slots=True)
class Place:
    """A statement that is a good query, where it stands: in a text and in that text scanned."""

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
    """A statement like one that was parsed before: what that is with parameters for its literals,
    and the values of these."""

    prepared: Prepared
    values: dict[str, object]
    place: Place

    @property
    def name(self) -> str:
        """The query's name."""
        return self.place.name

    @property
    def at(self) -> int:
        """Where the query begins."""
        return self.place.statement.start

    @property
    def query(self) -> Query:
        """The query, parsed in full."""
        return self.place.query


@dataclass(slots=True)
class _Known:
    """A statement that was parsed: its query and the places of its literals by their ordinal
    numbers, prepared when a second one like it comes."""

    query: Query
    literals: dict[int, str]
    prepared: Prepared | None = None


@dataclass(slots=True)
class _Skeleton:
    """The statements of one skeleton: which of its literals are no constants, and, by those, one
    statement that was parsed."""

    others: tuple[int, ...]
    known: dict[tuple[str, ...], _Known] = field(default_factory=dict)


class AlikeStatements:
    """The skeletons of the statements read last."""

    def __init__(self) -> None:
        self._skeletons: OrderedDict[tuple[object, ...], _Skeleton] = OrderedDict()

    def find(self, place: Place) -> Instance | None:
        """The statement at a place as an instance of one that was noted; None where there is none
        or something may be wrong with it."""
        statement = place.statement
        if statement.problem is not None or too_long(statement) is not None:
            return None
        key, literals = _taken_apart(place)
        skeleton = self._skeletons.get(key)
        if skeleton is None:
            return None
        self._skeletons.move_to_end(key)
        known = skeleton.known.get(tuple([literals[other][1] for other in skeleton.others]))
        if known is None:
            return None
        if known.prepared is None:
            known.prepared = Prepared(known.query, known.literals)
        values: dict[str, object] = {}
        for name in known.prepared.parameters:
            if not name.isdigit():
                # Parameters of its own: nobody has bound them yet.
                return None
            literal = literals[int(name)][1]
            values[name] = unquoted(literal) if literal[0] in "'\"" else float(literal)
        for value in values.values():
            if isinstance(value, float) and not isfinite(value):
                return None
        if known.prepared.problems(values):
            return None
        return Instance(known.prepared, values, place)

    def note(self, place: Place, query: Query) -> None:
        """Notes what the statement at a place is: a good query."""
        key, literals = _taken_apart(place)
        names = {at: str(number) for number, (at, _) in enumerate(literals)}
        constants = Prepared(query, names).parameters
        others = tuple(i for i in range(len(literals)) if str(i) not in constants)
        skeleton = self._skeletons.setdefault(key, _Skeleton(others))
        known = _Known(query, {at: name for at, name in names.items() if name in constants})
        if len(skeleton.known) < _MOST:
            skeleton.known[tuple([literals[other][1] for other in others])] = known
        if len(self._skeletons) > _MOST:
            self._skeletons.popitem(last=False)


def _taken_apart(place: Place) -> tuple[tuple[object, ...], list[tuple[int, str]]]:
    """A statement's skeleton with all else that it depends on, and its literals with their
    places."""
    statement, text = place.statement, place.scanned
    pieces: list[str] = []
    literals: list[tuple[int, str]] = []
    done = statement.start
    for found in _TOKEN.finditer(text, statement.start, statement.end):
        if found.lastgroup is not None:
            # What is left in the skeleton tells a string from a number.
            pieces += (text[done : found.start()], "'" if found.lastgroup == "string" else "0")
            literals.append((found.start(), found[0]))
            done = found.end()
    pieces.append(text[done : statement.end])
    constructors = [place.text[markup.start : markup.end] for markup in statement.markups]
    constructors += [place.text[start:end] for start, end in statement.objects]
    return ("".join(pieces), *constructors, *place.namespaces.items()), literals
