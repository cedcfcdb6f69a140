"""Draws event queries that have a meaning, and documents for them.

Few streams, names, values and times, so that much is alike: simultaneous and overlapping events,
duplicates, missing attributes, and texts beside numbers are common.  Numbers are halves, and means
are of the last query alone, so that no sum is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.oracle.event_algebra.expressions import Scope, meaning
from tests.oracle.event_algebra.model import Model
from tests.oracle.event_algebra.schemas import Refused, Schema
from tests.oracle.event_algebra.syntax import (
    And,
    Binding,
    Block,
    Compare,
    Condition,
    Constructor,
    Declared,
    Dur,
    Expression,
    Filter,
    Fold,
    Function,
    Item,
    Length,
    Next,
    Not,
    Number,
    Operation,
    Or,
    Query,
    Ref,
    Scalar,
    Star,
    String,
    Test,
    Truth,
    Union,
    Window,
)

__all__ = ["documents", "queries", "texts"]

NAMES = ("Name", "P", "V")
STREAMS = ("S", "S", "S", "T")
ITEMS = Block("N", "//item", (Binding("w", "w"),))
FUNCTIONS = (
    *("string-length", "lower-case", "upper-case", "normalize-space", "concat", "string"),
    *("number", "abs", "min", "max"),
)
SIGNS = ("=", "!=", "!=", "<", "<=", ">", ">=")


# Documents


def _values() -> st.SearchStrategy[dict[str, Any]]:
    numbers = st.sampled_from([1, 2, 2, 3, 4, 3.5, "2", "odd", None, ...])
    names = st.sampled_from(["a", "a", "a", "b", "b", "ab", "2", ...])
    values = st.fixed_dictionaries(
        {"Name": names, "P": numbers, "V": numbers, "w": st.sampled_from(["a", "b", ..., ...])}
    )
    return values.map(lambda one: {name: v for name, v in one.items() if v is not ...})


@st.composite
def _body(draw: st.DrawFn, stream: str) -> dict[str, Any]:
    """`xml` or `json`; of stream N with items in it."""
    many = stream == "N"
    items = draw(st.lists(_values(), min_size=1, max_size=2)) if many else [draw(_values())]
    if draw(st.booleans()):
        return {"json": {"item": items} if many else items[0]}
    name = "item" if many else "e"
    texts = [
        "".join(f"<{key}>{'' if v is None else v}</{key}>" for key, v in one.items())
        for one in items
    ]
    if draw(st.booleans()):
        inner = "".join(f"<{name}>{text}</{name}>" for text in texts)
    else:
        inner = "".join(
            f"<{name}"
            + "".join(f' {key}="{"" if v is None else v}"' for key, v in one.items() if key != "w")
            + ">"
            + (f"<w>{one['w']}</w>" if "w" in one else "")
            + f"</{name}>"
            for one in items
        )
    return {"xml": f"<f>{inner}</f>" if many else inner}


@st.composite
def _document(draw: st.DrawFn, name: str, times: Sequence[float]) -> dict[str, Any]:
    stream = draw(st.sampled_from([*STREAMS, *STREAMS, "N"]))
    time = draw(st.sampled_from(times))
    envelope = {"stream": stream, "id": name, "timestamp": time, **draw(_body(stream))}
    if draw(st.sampled_from([False, False, True])):
        envelope["start"] = max(0, time - draw(st.sampled_from([0.5, 1, 3])))
    return envelope


@st.composite
def documents(draw: st.DrawFn, most: int = 12, first: int = 0) -> list[dict[str, Any]]:
    """Envelopes in an order of arrival that is not that of time."""
    times = [number / 2 for number in range(draw(st.sampled_from([6, 12, 24])))]
    count = draw(st.sampled_from([2, most // 2, most - 1, most]))
    return [draw(_document(f"d{first + i}", times)) for i in range(count)]


# Conditions


@dataclass(frozen=True)
class _Side:
    deco: str | None
    schema: Schema

    def names(self) -> list[str]:
        return [*self.schema.names, *(NAMES if self.schema.open else ())]


def _ref(draw: st.DrawFn, sides: Sequence[_Side]) -> Ref | Number:
    side = draw(st.sampled_from([one for one in sides if one.names()] or list(sides)))
    if not side.names():
        return Number(1.0)
    deco: Any = side.deco
    return Ref(deco, draw(st.sampled_from(side.names())))


def _term(draw: st.DrawFn, sides: Sequence[_Side]) -> Scalar:
    ref = _ref(draw, sides)
    match draw(st.sampled_from([*["ref"] * 5, "sum", "product", "share", "function", "minus"])):
        case "sum":
            return Operation(draw(st.sampled_from("+-")), ref, Number(1.0))
        case "product":
            sign = draw(st.sampled_from("*/"))
            return Operation(sign, ref, Number(draw(st.sampled_from([0.0, 0.5, 2.0]))))
        case "share":
            return Operation("*", Number(0.5, True), ref)
        case "minus":
            return Operation("-", None, ref)
        case "function":
            name = draw(st.sampled_from(FUNCTIONS))
            more = (_ref(draw, sides),) if name in ("concat", "min", "max") else ()
            return Function(name, (ref, *more))
    return ref


def _constant(draw: st.DrawFn) -> Scalar:
    texts = [String("a"), String("b"), String("2"), String("")]
    numbers = [Number(1.0), Number(2.0), Number(3.0), Number(3.5)]
    return draw(st.sampled_from(texts + numbers + numbers))


def _atom(draw: st.DrawFn, sides: Sequence[_Side]) -> Condition:
    kinds = ["constant"] * 3 + ["like"] * 4 + ["equal", "two", "two", "age", "test", "truth"]
    match draw(st.sampled_from(kinds)):
        case "age":
            ages = [None, *(one.deco for one in sides if one.deco)]
            length = Length(draw(st.sampled_from([0, 500_000, 1_000_000, 3_000_000, 6_000_000])))
            age = Dur(draw(st.sampled_from(ages)))  # type: ignore[arg-type]
            pair = (age, length) if draw(st.booleans()) else (length, age)
            return Compare(draw(st.sampled_from([*SIGNS, "<=", "<="])), *pair)  # type: ignore[arg-type]
        case "test":
            name = draw(st.sampled_from(["contains", "starts-with", "ends-with", "matches"]))
            return Test(name, _ref(draw, sides), String(draw(st.sampled_from(["a", "b", "2"]))))
        case "truth":
            return Truth(draw(st.sampled_from([True, True, False])))
        case "constant":
            pair = _term(draw, sides), _constant(draw)
            return Compare(draw(st.sampled_from(SIGNS)), *pair)  # type: ignore[arg-type]
        case "like":
            # As queries mostly are: one name of two events, or a plain bound.
            names = [name for name in sides[-1].names() if name in sides[0].names()] or ["P"]
            name, bound = draw(st.sampled_from(names)), Number(1.0)
            decos: list[Any] = [sides[-1].deco, sides[0].deco]
            if len(sides) == 1:
                return Compare(draw(st.sampled_from([">=", "!="])), Ref(decos[0], name), bound)  # type: ignore[arg-type]
            pair = Ref(decos[0], name), Ref(decos[1], name)
            return Compare(draw(st.sampled_from(["=", "=", ">=", ">"])), *pair)  # type: ignore[arg-type]
        case "equal":
            pair = _ref(draw, sides[-1:]), _ref(draw, sides[:-1] or sides)
            return Compare(draw(st.sampled_from("==!"))[0].replace("!", "!="), *pair)  # type: ignore[arg-type]
    pair = _term(draw, sides[-1:]), _term(draw, sides)
    return Compare(draw(st.sampled_from(SIGNS)), *pair)  # type: ignore[arg-type]


def _condition(draw: st.DrawFn, sides: Sequence[_Side]) -> Condition | None:
    match draw(st.sampled_from([*["none"] * 4, *["atom"] * 5, "and", "and", "or", "not"])):
        case "none":
            return None
        case "atom":
            return _atom(draw, sides)
        case "not":
            return Not(_atom(draw, sides))
    parts = tuple(_atom(draw, sides) for _ in range(draw(st.sampled_from([2, 2, 3]))))
    if draw(st.sampled_from([False, False, True])):
        return And((_atom(draw, sides), Or(parts)))
    return draw(st.sampled_from([And, And, Or]))(parts)


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
                return self.first(Union(left, right), Union(left, left))
            case "query":
                return self.aggregate("", self.expression(depth - 1), means=False)
        return self.block()

    def filter(self, operand: Expression) -> Expression:
        schema = self.schema(operand)
        assert schema is not None
        return self.first(
            Filter(_condition(self.draw, [_Side(None, schema)]), operand), Filter(None, operand)
        )

    def sides(self, left: Expression, right: Expression) -> list[_Side]:
        a, b = self.schema(left), self.schema(right)
        assert a is not None
        assert b is not None
        sides = [_Side("$1", a), _Side("$2", b)]
        if self.draw(st.sampled_from([False, False, True])):
            sides.insert(0, _Side(None, replace(a, open=False)))
        return sides

    def next(self, left: Expression, right: Expression) -> Expression:
        found = Next(_condition(self.draw, self.sides(left, right)), left, right)
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
            names = _Side(None, of).names()
            picked = self.draw(
                st.lists(st.sampled_from(schema.listed), min_size=1, max_size=2, unique=True)
            )
            items = [Item(Ref(None, self.draw(st.sampled_from(names))), one) for one in picked]
            right = Query("", right, tuple(items))
        sides = self.sides(left, right)
        sides.insert(1, _Side("$", schema))
        aggregates: tuple[tuple[Scalar, str], ...] = ()
        if self.draw(st.booleans()):
            name = self.draw(st.sampled_from(["c", "P", "top"]))
            left = Query("", left, (Item(Star()), Item(Number(1.0), name)))
            if self.schema(left) is None:
                left = self.list("", self.block(), publish=False)
            running = Ref("$", name)
            ref = _ref(self.draw, [sides[-1]])
            value = self.draw(
                st.sampled_from(
                    [
                        Operation("+", running, Number(1.0)),
                        Operation("+", running, ref),
                        Function("max", (running, ref)),
                        Operation("-", ref, running),
                    ]
                )
            )
            aggregates = ((value, name),)
            if self.draw(st.booleans()):
                sides.append(_Side("$", Schema((name,), open=False)))
        theta, rho = _condition(self.draw, sides), _condition(self.draw, sides)
        found = Fold(theta, rho, aggregates, left, right)
        return self.first(
            found,
            replace(found, going_on=None),
            replace(found, condition=None, going_on=None),
            replace(found, condition=None, going_on=None, aggregates=()),
            Fold(theta, None, (), left, left),
        )

    def list(self, name: str, operand: Expression, *, publish: bool) -> Query:
        schema = self.schema(operand)
        assert schema is not None
        side = _Side(None, schema)
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
        side = _Side(None, schema)
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
            value: Scalar = _ref(self.draw, [side])
            more = (_ref(self.draw, [side]),) if function.startswith("arg") else ()
            if function == "count" and self.draw(st.booleans()):
                value = Star()
            found: Scalar = Function(function, (value, *more))
            if not more and self.draw(st.sampled_from([False] * 4 + [True])):
                found = Operation("-", found, Function("min", (_ref(self.draw, [side]),)))
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


def _computed(draw: st.DrawFn, side: _Side) -> Scalar:
    term = _term(draw, [side])
    return Operation("+", term, Number(1.0)) if isinstance(term, Ref) else term


# Queries


def is_plain(query: Query) -> bool:
    """Whether it selects a block's documents, as a query without any word of events does."""
    return isinstance(query.expression, Block) and query.items in (None, (Item(Star()),))


@st.composite
def queries(
    draw: st.DrawFn, name: str, model: Model, declared: dict[str, tuple[str, ...]]
) -> Query:
    """A query that may read what those before it in the model publish."""
    scope = Scope(lambda stream: model.names(stream, declared), lambda query, what: None)
    streams = [*STREAMS, *model.published, *model.published]
    drawing = _Drawing(draw, scope, streams, f"X{name}")
    publish = draw(st.sampled_from([None, f"R{name}", "R"]))
    inner = drawing.expression(draw(st.sampled_from([1, 2, 2, 3])))
    match draw(st.sampled_from(["none", "star", "list", "list", "aggregate", "constructor"])):
        case "list":
            query = drawing.list(name, inner, publish=False)
        case "aggregate":
            query = drawing.aggregate(name, inner, means=publish is None)
        case "constructor":
            schema = drawing.schema(inner)
            assert schema is not None
            names = _Side(None, schema).names() or ["Name"]
            picked = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2))
            members = tuple((f"m{place}", one) for place, one in enumerate(picked))
            query = Query(name, inner, Constructor(members, draw(st.sampled_from([None, "hit"]))))
        case kind:
            items = (Item(Star()),) if kind == "star" else None
            query = Query(name, inner, items)
    if drawing.schema(query) is None or (is_plain(query)):
        query = Query(name, Filter(None, inner))
    return replace(query, publish=publish)


@st.composite
def texts(draw: st.DrawFn, most: int = 3) -> Declared:
    """Some queries, of which later ones read what earlier ones publish."""
    declared = {
        stream: NAMES for stream in ("S", "T") if draw(st.sampled_from([False, False, True]))
    }
    model = Model()
    text = Declared(declared)
    for number in range(draw(st.integers(1, most))):
        query = draw(queries(f"Q{number}", model, declared))
        try:
            model.subscribe(Declared(declared, (query,)))
        except Refused:
            continue
        text = Declared(declared, (*text.queries, query))
    return text if text.queries else Declared(declared, (Query("Q0", Filter(None, Block("S"))),))
