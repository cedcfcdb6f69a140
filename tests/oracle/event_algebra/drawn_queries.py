"""Draws event queries that have a meaning, which may read what others publish.

Means are of the last query alone, so that no sum is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.oracle.event_algebra.drawn_conditions import NAMES, Side, condition, ref, term
from tests.oracle.event_algebra.drawn_documents import STREAMS
from tests.oracle.event_algebra.expressions import Scope, meaning
from tests.oracle.event_algebra.model import Model
from tests.oracle.event_algebra.schemas import Refused, Schema
from tests.oracle.event_algebra.syntax import (
    Binding,
    Block,
    Constructor,
    Declared,
    Expression,
    Filter,
    Fold,
    Function,
    Item,
    Length,
    Next,
    Number,
    Operation,
    Query,
    Ref,
    Scalar,
    Star,
    String,
    Union,
    Window,
)

__all__ = ["numbers", "queries", "texts", "variants", "with_number"]

ITEMS = Block("N", "//item", (Binding("w", "w"),))


# Expressions


@dataclass
class _Drawing:
    """What may be read, and the sub-queries that publish."""

    draw: st.DrawFn
    scope: Scope
    streams: Sequence[str]
    publishes: str | None = None

    def schema(self, expression: Expression) -> Schema | None:
        """None where it has no meaning."""
        try:
            return meaning(expression, self.scope).schema
        except Refused:
            return None

    def first(self, *ways: Expression) -> Expression:
        """The first way that has a meaning, or a stream."""
        return next((one for one in ways if self.schema(one) is not None), Block("S"))

    def block(self) -> Block:
        if self.draw(st.sampled_from([*[False] * 7, True])):
            return ITEMS
        return Block(self.draw(st.sampled_from(self.streams)))

    def expression(self, depth: int) -> Expression:
        kinds = ["block", "filter"]
        if depth:
            kinds += ["filter", "list", "list", *["next"] * 3, *["fold"] * 2, "union", "query"]
        match self.draw(st.sampled_from(kinds)):
            case "filter":
                return self.filter(self.expression(max(depth - 1, 0)))
            case "list":
                return self.list("", self.expression(depth - 1), publish=True)
            case "next":
                return self.next(self.expression(depth - 1), self.expression(depth - 1))
            case "fold":
                return self.fold(self.expression(depth - 1), depth)
            case "union":
                left, right = self.expression(depth - 1), self.expression(depth - 1)
                turned = left
                if isinstance(left, Query) and isinstance(left.items, tuple):
                    # The same attributes in another order.
                    turned = replace(left, items=left.items[::-1], publish=None)
                return self.first(Union(left, right), Union(left, turned))
            case "query":
                return self.aggregate("", self.expression(depth - 1), means=False)
        return self.block()

    def filter(self, operand: Expression) -> Expression:
        schema = self.schema(operand)
        assert schema is not None
        return self.first(
            Filter(condition(self.draw, [Side(None, schema)]), operand), Filter(None, operand)
        )

    def sides(self, left: Expression, right: Expression) -> list[Side]:
        a, b = self.schema(left), self.schema(right)
        assert a is not None
        assert b is not None
        sides = [Side("$1", a), Side("$2", b)]
        if self.draw(st.sampled_from([False, False, True])):
            sides.insert(0, Side(None, replace(a, open=False)))
        return sides

    def next(self, left: Expression, right: Expression) -> Expression:
        found = Next(condition(self.draw, self.sides(left, right)), left, right)
        plain = self.list("", left, publish=False)
        return self.first(
            found, replace(found, condition=None), replace(found, condition=None, left=plain), right
        )

    def fold(self, left: Expression, depth: int) -> Expression:
        schema = self.schema(left)
        assert schema is not None
        right = self.expression(depth - 1)
        if not schema.open and self.draw(st.booleans()):
            of = self.schema(right)
            assert of is not None
            names = Side(None, of).names()
            picked = self.draw(
                st.lists(st.sampled_from(schema.listed), min_size=1, max_size=2, unique=True)
            )
            items = [Item(Ref(None, self.draw(st.sampled_from(names))), one) for one in picked]
            right = Query("", right, tuple(items))
        sides = self.sides(left, right)
        sides.insert(1, Side("$", schema))
        aggregates: tuple[tuple[Scalar, str], ...] = ()
        if self.draw(st.booleans()):
            name = self.draw(st.sampled_from(["c", "P", "top"]))
            left = Query("", left, (Item(Star()), Item(Number(1.0), name)))
            if self.schema(left) is None:
                left = self.list("", self.block(), publish=False)
            running = Ref("$", name)
            latest = ref(self.draw, [sides[-1]])
            value = self.draw(
                st.sampled_from(
                    [
                        Operation("+", running, Number(1.0)),
                        Operation("+", running, latest),
                        Function("max", (running, latest)),
                        Operation("-", latest, running),
                    ]
                )
            )
            aggregates = ((value, name),)
            if self.draw(st.booleans()):
                sides.append(Side("$", Schema((name,), open=False)))
        theta, rho = condition(self.draw, sides), condition(self.draw, sides)
        found = Fold(theta, rho, aggregates, left, right)
        return self.first(
            found,
            replace(found, continuing=None),
            replace(found, condition=None, continuing=None),
            replace(found, condition=None, continuing=None, aggregates=()),
            Fold(theta, None, (), left, left),
        )

    def list(self, name: str, operand: Expression, *, publish: bool) -> Query:
        schema = self.schema(operand)
        assert schema is not None
        side = Side(None, schema)
        picked = self.draw(
            st.lists(st.sampled_from(side.names() or ["Name"]), min_size=1, max_size=3, unique=True)
        )
        items = [
            Item(Ref(None, one), self.draw(st.sampled_from([None, None, f"{one[0]}{place}"])))
            for place, one in enumerate(picked)
        ]
        if self.draw(st.sampled_from([False, False, True])):
            items.append(Item(_computed(self.draw, side), "y"))
        if self.draw(st.sampled_from([False] * 5 + [True])):
            items = [Item(Star()), *(one for one in items if one.alias)]
        if len(items) == 1 and isinstance(items[0].value, Star):
            items.append(Item(String("x"), "kind"))
        publishes = None
        if publish and self.publishes and self.draw(st.sampled_from([False] * 9 + [True])):
            publishes, self.publishes = self.publishes, None
        found = Query(name, operand, tuple(items), (), publishes)
        if self.schema(found) is None:
            only = (Item(Number(1.0), "one"),)
            return Query(name, operand, only, (), publishes)
        return found

    def aggregate(self, name: str, operand: Expression, *, means: bool) -> Query:
        schema = self.schema(operand)
        assert schema is not None
        side = Side(None, schema)
        groups = tuple(
            self.draw(st.lists(st.sampled_from(side.names()), max_size=2, unique=True))
            if side.names()
            else []
        )
        items = [
            Item(Ref(None, one))
            for one in groups
            if self.draw(st.sampled_from([True, True, False]))
        ]
        functions = ["count", "sum", "min", "max", "argmax", "argmin", *(["avg"] if means else [])]
        for place in range(self.draw(st.integers(1, 3))):
            function = self.draw(st.sampled_from(functions))
            value: Scalar = ref(self.draw, [side])
            more = (ref(self.draw, [side]),) if function.startswith("arg") else ()
            if function == "count" and self.draw(st.booleans()):
                value = Star()
            found: Scalar = Function(function, (value, *more))
            if not more and self.draw(st.sampled_from([False] * 4 + [True])):
                found = Operation("-", found, Function("min", (ref(self.draw, [side]),)))
            items.append(Item(found, f"g{place}"))
        seconds = self.draw(st.sampled_from([None, None, 0, 1, 3, ...]))
        if seconds is not ...:
            length = None if seconds is None else Length(seconds * 1_000_000)
            operand = Window(length, operand)
        found_query = Query(name, operand, tuple(items), groups)
        if self.schema(found_query) is None:
            return replace(
                found_query, items=(Item(Function("count", (Star(),)), "g0"),), groups=()
            )
        return found_query


def _computed(draw: st.DrawFn, side: Side) -> Scalar:
    value = term(draw, [side])
    return Operation("+", value, Number(1.0)) if isinstance(value, Ref) else value


# Queries


def _of_events(expression: Expression) -> Expression:
    """An expression by which a query without a list is one of events."""
    plain = isinstance(expression, Block) or (
        isinstance(expression, Query) and isinstance(expression.expression, Block)
    )
    return Filter(None, expression) if plain else expression


@st.composite
def queries(
    draw: st.DrawFn, name: str, model: Model, declared: dict[str, tuple[str, ...]], weak: bool
) -> Query:
    """A query that may read what those before it in the model publish, and may be `weak`."""
    scope = Scope(lambda stream: model.names(stream, declared), lambda query, what: None)
    streams = [*STREAMS, *model.published, *model.published]
    drawing = _Drawing(draw, scope, streams, f"X{name}")
    publish = draw(st.sampled_from([None, f"R{name}", "R"]))
    inner = drawing.expression(draw(st.sampled_from([1, 2, 2, 3])))
    if isinstance(inner, Block) and inner.path:
        inner = Filter(None, inner)
    match draw(st.sampled_from(["none", "star", "list", "list", "aggregate", "constructor"])):
        case "list":
            query = drawing.list(name, inner, publish=False)
        case "aggregate":
            query = drawing.aggregate(name, inner, means=publish is None)
        case "constructor":
            schema = drawing.schema(inner)
            assert schema is not None
            names = Side(None, schema).names() or ["Name"]
            picked = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2))
            members = tuple((f"m{place}", one) for place, one in enumerate(picked))
            made = Constructor(members, draw(st.sampled_from([None, "hit"])))
            query = Query(name, _of_events(inner), made)
        case kind:
            items = (Item(Star()),) if kind == "star" else None
            query = Query(name, _of_events(inner), items)
    if drawing.schema(query) is None:
        query = Query(name, Filter(None, inner))
    weak = weak and draw(st.sampled_from([False] * 4 + [True]))
    return replace(query, publish=publish, weak=weak)


def _is_number(term: object) -> bool:
    return isinstance(term, Length) or (isinstance(term, Number) and not term.per_cent)


def numbers(term: object) -> Iterator[object]:
    """The numbers and durations of a query."""
    if _is_number(term):
        yield term
    elif isinstance(term, tuple):
        for one in term:
            yield from numbers(one)
    elif is_dataclass(term):
        for each in fields(term):
            yield from numbers(getattr(term, each.name))


def with_number(query: Query, place: int, value: float) -> Query:
    """A query with another value for the number at a place, of a duration in seconds."""
    left = [place]

    def changed(term: Any) -> Any:
        if _is_number(term):
            left[0] -= 1
            other = Number(value) if isinstance(term, Number) else Length(round(value * 10**6))
            return other if left[0] == -1 else term
        if isinstance(term, tuple):
            return tuple(map(changed, term))
        if is_dataclass(term) and not isinstance(term, type):
            return type(term)(*(changed(getattr(term, each.name)) for each in fields(term)))
        return term

    found = changed(query)
    assert isinstance(found, Query)
    return found


@st.composite
def variants(draw: st.DrawFn, query: Query) -> tuple[Query, ...]:
    """Queries that differ in a number alone, some not even in that."""
    count = len(list(numbers(query)))
    if not count:
        return ()
    place = draw(st.integers(0, count - 1))
    values = draw(st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0]), min_size=1, max_size=4))
    return tuple(
        replace(with_number(query, place, value), name=f"{query.name}_{i}")
        for i, value in enumerate(values)
    )


@st.composite
def texts(draw: st.DrawFn, most: int = 3, *, weak: bool = False) -> Declared:
    """Some queries, of which later ones read what earlier ones publish."""
    declared = {
        stream: NAMES for stream in ("S", "T") if draw(st.sampled_from([False, False, True]))
    }
    model = Model()
    text = Declared(declared)
    for number in range(draw(st.integers(1, most))):
        query = draw(queries(f"Q{number}", model, declared, weak))
        try:
            model.subscribe(Declared(declared, (query,)))
        except Refused:
            continue
        text = Declared(declared, (*text.queries, query))
        similar = draw(variants(query)) if draw(st.booleans()) else ()
        model.subscribe(Declared(declared, similar))
        text = Declared(declared, (*text.queries, *similar))
    return text if text.queries else Declared(declared, (Query("Q0", Filter(None, Block("S"))),))
