"""SELECT of an event query: a list, a star or a constructor, over events or over groups of them
(docs/semantics.md#schemas, #aggregates-and-windows)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from xscl.event_queries.functions import OWN, may_aggregate
from xscl.event_queries.schema import Schema
from xscl.event_queries.scope import Scope
from xscl.event_queries.terms import Terms, named_in
from xscl.language import syntax
from xscl.language.problems import Problem
from xscl.language.syntax import (
    Arithmetic,
    Call,
    Grouping,
    Minus,
    Named,
    Query,
    Scalar,
    Selected,
    Star,
    Windowed,
)
from xscl.language.walk import selected_values
from xscl.pattern_stage.algebra.nodes import Aggregate, Item, Map, Node
from xscl.pattern_stage.algebra.nodes.aggregate import is_aggregate
from xscl.pattern_stage.values import terms as algebra

__all__ = ["Selecting"]


class _Value(NamedTuple):
    """What is selected: its name, which may be lacking; where the name is; the value."""

    name: str | None
    at: int
    value: Scalar


class Selecting:
    """The SELECT of a query, its GROUP BY, and the WINDOW right below it."""

    def __init__(
        self, terms: Terms, query: Query, grouping: Grouping | None, window: Windowed | None
    ) -> None:
        self.terms = terms
        self.constructs = not isinstance(query.select, tuple | None)
        self.stars: list[int] = [] if query.select is not None else [query.at]
        self.values: list[_Value] = []
        for value in self._of(query):
            if isinstance(value, _Value):
                self.values.append(value)
            else:
                self.stars.append(value)
        self.grouping = grouping
        self.window = window

    def _of(self, query: Query) -> Iterator[_Value | int]:
        """What is selected; of a star its place."""
        if self.constructs:
            for number, selected in enumerate(selected_values(query.select)):
                yield _Value(str(number), selected.at, cast(Scalar, selected.value))
        elif query.select is not None:
            for item in cast(tuple[syntax.Item, ...], query.select):
                assert isinstance(item.path, Selected)
                value = cast("Scalar | Star", item.path.value)
                if isinstance(value, Star):
                    yield value.at
                elif item.alias is not None:
                    yield _Value(item.alias.text, item.alias.at, value)
                elif isinstance(value, Named):
                    yield _Value(value.name, value.at, value)
                else:
                    yield _Value(None, item.path.at, value)

    def over(self, node: Node, schema: Schema) -> tuple[Node, Schema]:
        """The plan and the schema of the events that are selected."""
        told = is_aggregate if self.window is None else may_aggregate
        aggregated = self.grouping is not None or any(_has(told, one.value) for one in self.values)
        self._names()
        scope = Scope("SELECT", schema)
        keys = [] if self.grouping is None else self.grouping.names
        grouped = [Named(None, name.text, False, name.at) for name in keys]
        scope.ask(named_in(*grouped, *(one.value for one in self.values)))
        if aggregated:
            return self._groups(node, scope, grouped)
        if self.window is not None:
            problem = "WINDOW is for aggregates; select one, as in `SELECT COUNT(*) AS n`"
            self.terms.note(self.window.at, f"{problem}, or leave WINDOW out")
        items = self._items(scope, aggregate=False)
        names = tuple(name for name, _ in items)
        if self.constructs:
            return Map(False, items, node), Schema((), True)
        if not self.stars:
            return Map(False, items, node), Schema(names, False)
        given = scope.inputs[0]
        return (Map(True, items, node), given.beside(names)) if items else (node, given)

    def _items(self, scope: Scope, *, aggregate: bool) -> tuple[Item, ...]:
        return tuple(
            (one.name or "", self.terms.scalar(one.value, scope, aggregate=aggregate))
            for one in self.values
        )

    def _names(self) -> None:
        """The problems of the names of items."""
        before = set[str]()
        for one in self.values:
            if one.name is None:
                problem = "what is computed has no name of its own; write one, as in `… AS total`"
                self.terms.note(one.at, problem)
            elif one.name in before:
                self.terms.note(one.at, f"`{one.name}` is selected twice; rename one with AS")
            else:
                before.add(one.name)
        for at in self.stars[1:]:
            self.terms.note(at, "`*` is selected twice; write it once")

    # Groups.

    def _groups(self, node: Node, scope: Scope, grouped: list[Named]) -> tuple[Node, Schema]:
        """Aggregates: of the events of a window, or without one of an epoch."""
        length: int | None = None
        if self.window is None:
            length = self.terms.constant(0, number=True).place
        elif self.window.window.length is not None or self.window.window.parameter is not None:
            length = self.terms.length(self.window.window).place
        keys: dict[str, None] = {}
        for named in grouped:
            found = scope.column(named)
            if isinstance(found, Problem):
                self.terms.problems.append(found)
            else:
                keys[found.name] = None
        for at in self.stars:
            problem = "`*` cannot be used with aggregates or GROUP BY; name what is grouped by"
            self.terms.note(at, problem)
        items = self._items(scope, aggregate=True)
        for one in self.values:
            for named in _outside_aggregates(one.value):
                found = scope.column(named)
                if isinstance(found, algebra.Column) and found.name not in keys:
                    problem = f"`{named.name}` is neither aggregated nor grouped; add it to "
                    problem += f"GROUP BY, or aggregate it, as in `MAX({named.name})`"
                    self.terms.note(named.at, problem)
        names = tuple(name for name, _ in items)
        plan = Aggregate(length, tuple(keys), items, node)
        return plan, Schema((), True) if self.constructs else Schema(names, False)


def _has(told: Callable[[str, int], bool], value: Scalar) -> bool:
    """Whether a call is told within a value by its function and number of arguments."""
    match value:
        case Call(function, arguments):
            some = (one for one in arguments if not isinstance(one, Star))
            return told(function, len(arguments)) or any(_has(told, one) for one in some)
        case Arithmetic(_, left, right):
            return _has(told, left) or _has(told, right)
        case Minus(operand):
            return _has(told, operand)
        case _:
            return False


def _outside_aggregates(value: Scalar | Star) -> Iterator[Named]:
    match value:
        case Named():
            yield value
        case Call(function, ()) if function in OWN:
            yield Named(None, f"{function}()", False, value.at)
        case Call(_, arguments) if not may_aggregate(value.function, len(arguments)):
            for one in arguments:
                yield from _outside_aggregates(one)
        case Arithmetic(_, left, right):
            yield from _outside_aggregates(left)
            yield from _outside_aggregates(right)
        case Minus(operand):
            yield from _outside_aggregates(operand)
