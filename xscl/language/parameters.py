"""Parameters: from a query with `:name` in it and values to a query with constants
(docs/language-reference.md#parameters).

The text is parsed once, whatever the number of rows of values.  A row runs a short program: it
makes the constants, and the nodes on the way from them to the root again; all
others are shared.  What depends on a value is checked with it: the pattern of `matches()`, a
number alone in a filter (it asks for a position), the length of a window.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any

from xscl.errors import QueryError
from xscl.language.blanks import Blank, Remade, Use, Value, places_in_blocks, program_of
from xscl.language.events.walk import is_inlined
from xscl.language.problems import Problem
from xscl.language.syntax import Parameter, Query, SubQuery, Window
from xscl.language.walk import operands
from xscl.xpath_stage import foreign_character

__all__ = ["Prepared", "bind", "parameters"]

_GREATEST = sys.float_info.max
_EXACT = 2**53


def parameters(query: Query) -> dict[str, int]:
    """The parameters of a query and its sub-queries, each with its first place, in that order.

    >>> from xscl.language import parse
    >>> [query], _ = parse("S//a->x[b = :price] JOIN {x = y, :n days} S//b->y")
    >>> parameters(query)
    {'price': 12, 'n': 33}
    """
    return Prepared(query).parameters


def bind(query: Query, values: Mapping[str, object]) -> tuple[Query, list[QueryError]]:
    """As `Prepared.bind`, once."""
    return Prepared(query).bind(values)


class Prepared:
    """A query whose parameters are bound many times.

    `parameters` are their names, each with its first place; `constants` how often each of those
    that are nothing but constants of filters and predicates stands there.  The literals at the
    places of `literals` are parameters, too, with the names given there.  It may be another query,
    `like`, with `names` in the places of symbols.
    """

    def __init__(self, query: Query, literals: Mapping[int, str] | None = None) -> None:
        self.like: Prepared | None = None
        self.names: tuple[str, ...] = ()
        self._read: Callable[[], tuple[Query, Mapping[int, str]]] = lambda: (query, literals or {})
        firsts = {blank.name: blank.at for blank in reversed(self._blanks)}
        self.parameters = dict(sorted(firsts.items(), key=itemgetter(1)))
        others = {blank.name for blank in self._blanks if blank.use is not Use.CONSTANT}
        self.constants = Counter(blank.name for blank in self._blanks if blank.name not in others)

    def renamed(
        self, names: tuple[str, ...], read: Callable[[], tuple[Query, Mapping[int, str]]]
    ) -> Prepared:
        """The query with names in the places of symbols, which is read, with the places of its
        literals, when it is asked for."""
        other = object.__new__(Prepared)
        other.like, other.names, other._read = self, names, read
        other.parameters, other.constants = self.parameters, self.constants
        return other

    @cached_property
    def _with_literals(self) -> tuple[Query, Mapping[int, str]]:
        return self._read()

    @property
    def query(self) -> Query:
        """The query."""
        return self._with_literals[0]

    @cached_property
    def stands_alone(self) -> bool:
        """Whether it has no sub-queries, and results that go nowhere else."""
        if self.like is not None:
            return self.like.stands_alone
        if self.query.publish is not None:
            return False
        inner = [*_inner(self.query)]
        if self.query.language.schemas:
            return not any(map(_stands_apart, inner))
        return not inner

    @cached_property
    def of_conditions(self) -> frozenset[str]:
        """The parameters that are nowhere but in conditions and windows, as those of an event
        query may: not in a block, which says what the events are, nor in a result."""
        in_blocks = places_in_blocks(self.query)
        others = {
            blank.name
            for blank in self._blanks
            if blank.use in (Use.JSON, Use.LATE_FILTER, Use.MEASURE) or blank.at in in_blocks
        }
        return frozenset(self.parameters.keys() - others)

    @cached_property
    def lengths(self) -> frozenset[str]:
        """The parameters that are numbers of windows."""
        if self.like is not None:
            return self.like.lengths
        windows = (Use.WINDOW, Use.WITHIN)
        return frozenset(blank.name for blank in self._blanks if blank.use in windows)

    @cached_property
    def _program(self) -> list[Blank | Remade]:
        return program_of(*self._with_literals)

    @cached_property
    def _blanks(self) -> list[Blank]:
        blanks = [part for part in self._program if isinstance(part, Blank)]
        return sorted(blanks, key=lambda blank: blank.at)

    @property
    def stand_ins(self) -> dict[str, Value]:
        """A value for each parameter: its name as a string, or for a window and a likeness 1."""
        least = {blank.name for blank in self._blanks if blank.use is Use.LIKENESS}
        ones = self.lengths | least
        return {name: 1 if name in ones else f":{name}" for name in self.parameters}

    def bind(
        self, values: Mapping[str, object], name: str | None = None
    ) -> tuple[Query, list[QueryError]]:
        """The query with a constant for each parameter; with errors, the query as it was.

        A value is a str, an int or a finite float; those of other names than the parameters' are
        left alone.  `name` is the name that the query has from then on.
        """
        problems = self.problems(values)
        query = self.query if problems else self.opened(values, ())
        query = query if name is None else query.renamed(name)
        return query, [
            QueryError(problem, query=query.name, text=query.text, at=at)
            for at, problem in problems
        ]

    def opened(self, values: Mapping[str, object], left_open: Collection[str]) -> Query:
        """The query with a constant for each parameter but those that are left open: of these
        it only says whether they are numbers."""
        if not self._blanks:
            return self.query
        nodes: list[Any] = []
        for part in self._program:
            if isinstance(part, Blank) and part.name in left_open:
                parameter = Parameter(part.name, part.at, not isinstance(values[part.name], str))
                window = part.use in (Use.WINDOW, Use.WITHIN)
                nodes.append(Window(None, part.at, parameter, part.unit) if window else parameter)
            else:
                nodes.append(part.make(values, nodes))
        query: Query = nodes[-1]
        return query

    def problems(self, values: Mapping[str, object]) -> list[Problem]:
        """The problems of a row of values, by place."""
        if not self._blanks or self._are_fine(values):
            return []
        return sorted(self._problems(values))

    @cached_property
    def _plain(self) -> tuple[list[str], list[Blank]]:
        """The parameters that are nothing but constants, and the places of all others."""
        others = [blank for blank in self._blanks if blank.use is not Use.CONSTANT]
        named = {blank.name for blank in others}
        return [name for name in self.parameters if name not in named], others

    def _are_fine(self, values: Mapping[str, object]) -> bool:
        """Whether a row has no problems, decided quickly: as most have none, and there are many."""
        constants, others = self._plain
        for name in constants:
            value = values.get(name)
            kind = type(value)
            if kind is str:
                if not (value.isascii() and value.isprintable()):  # type: ignore[attr-defined]
                    return False
            elif kind is float or kind is int:
                if not -_EXACT < value < _EXACT:  # type: ignore[operator]
                    return False
            else:
                return False
        return all(
            type(value := values.get(blank.name)) in (int, float)
            and -_EXACT < value < _EXACT  # type: ignore[operator]
            and blank.refusal(value) is None
            for blank in others
        )

    def _problems(self, values: Mapping[str, object]) -> Iterator[Problem]:
        refused: set[str] = set()
        for name, at in self.parameters.items():
            problem = _refusal(name, values)
            if problem is not None:
                refused.add(name)
                yield Problem(at, problem)
        for blank in self._blanks:
            if blank.name not in refused:
                problem = blank.refusal(values[blank.name])
                if problem is not None:
                    yield Problem(blank.at, problem)


def _inner(query: Query) -> Iterator[SubQuery]:
    return (operand for operand in operands(query.source) if isinstance(operand, SubQuery))


def _stands_apart(inner: SubQuery) -> bool:
    """Whether a sub-query has results of its own: not an event query in another."""
    if not is_inlined(inner) or inner.query.publish is not None:
        return True
    return any(map(_stands_apart, _inner(inner.query)))


def _refusal(name: str, values: Mapping[str, object]) -> str | None:
    """The problem of a parameter's value, wherever it stands."""
    if name not in values:
        return (
            f"the parameter `:{name}` has no value; give it with params={{{name!r}: …}}, "
            f"or a table with a column {name!r} (--params)"
        )
    value = values[name]
    match value:
        case str():
            alien = foreign_character(value)
            if alien is None:
                return None
            found = f"a string with {alien}"
        case None | bool():
            found = str(value)
        case int() | float():
            if -_GREATEST <= value <= _GREATEST:
                return None
            found = str(value) if isinstance(value, float) else "a number beyond 1.8e308"
        case _:
            found = f"a value of type {type(value).__name__}"
    return f"the parameter `:{name}` takes a string or a finite number, found {found}"
