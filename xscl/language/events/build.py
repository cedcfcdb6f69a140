"""From lark's tree to the nodes of an event query: expressions, conditions, values
(docs/semantics.md#reading-an-event-query)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from lark import Token

from xscl.language.build import DEEPEST, Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.events.walk import parts
from xscl.language.patterns.build import build_block
from xscl.language.problems import Unreadable
from xscl.language.sources import build_window
from xscl.language.syntax import (
    Block,
    Both,
    Call,
    Computed,
    Consistency,
    Declared,
    Deco,
    Duration,
    EventCondition,
    Events,
    Expression,
    Filtered,
    Fold,
    Grouping,
    Item,
    Literal,
    Name,
    Named,
    Next,
    Not,
    Query,
    Scalar,
    Select,
    Selected,
    Star,
    SubQuery,
    Truth,
    Window,
    Windowed,
)
from xscl.language.values.build import (
    build_cell_of,
    build_condition,
    build_consistency,
    build_items,
    build_value,
    compared,
)

__all__ = ["ReadEvents", "build_cell"]

_NO_UNIT_HERE = "a unit is allowed next to DUR and in WINDOW only, as in `DUR <= 5 min`"
_DIGITS_ALONE = "a number is written in digits, as in `1000000` or `0.001`"
_DURATION_ALONE = "DUR is only compared with a duration, as in `DUR <= 5 min` or `DUR > :t s`"
_NEGATIVE = "a duration cannot be negative; write it without `-`"


class ReadEvents:
    """Reads an event query and its sub-queries.

    `construct` reads the constructor at a token; `read_other` reads the query in another language
    at a place, in so many parentheses; `finished` makes a query of its parts.
    """

    def __init__(
        self,
        builder: Builder,
        declared: Mapping[str, Declared],
        construct: Callable[[Token], Select],
        read_other: Callable[[int, int], Query],
        finished: Callable[[Select, Events, int, Name | None], Query],
    ) -> None:
        self.builder = builder
        self.declared = declared
        self.construct = construct
        self.read_other = read_other
        self.finished = finished

    def query(self, node: Branch, depth: int) -> Query:
        """The query that is in `depth` parentheses."""
        select: Select = None
        expression: Expression | None = None
        grouping: Grouping | None = None
        consistency: Consistency | None = None
        publish: Name | None = None
        for part in map(as_branch, node.children):
            match part.data:
                case "selecting":
                    select = self.select(part.children[1])
                case "union":
                    expression = self.union(part, depth)
                case "grouping":
                    by, *names = map(as_token, part.children)
                    grouping = Grouping(tuple(map(self.builder.name, names)), self.builder.at(by))
                case "consistency":
                    consistency = build_consistency(self.builder, part)
                case "publishing":
                    publish = self.builder.name(as_token(part.children[0]))
        assert expression is not None
        declared = {
            part.stream.text: self.declared[part.stream.text]
            for part in parts(expression)
            if isinstance(part, Block) and not part.steps and part.stream.text in self.declared
        }
        events = Events(expression, grouping, consistency, tuple(declared.values()), expression.at)
        return self.finished(select, events, self.builder.first(node), publish)

    def select(self, selection: Node) -> Select:
        """What a SELECT names."""
        if isinstance(selection, Token):
            return self.construct(selection)
        return build_items(self.item, selection)

    def item(self, node: Branch) -> Item:
        """An item of a list."""
        value, *alias = node.children
        selected = build_cell(self.builder, as_branch(value))
        if not alias:
            return Item(selected, None)
        token = as_token(alias[0])
        return Item(selected, self.builder.name(token), str(token))

    # Expressions.

    def union(self, node: Branch, depth: int) -> Expression:
        """Chains between UNION."""
        first, *others = node.children
        built = self.chain(as_branch(first), depth)
        for sign, right in zip(others[::2], others[1::2], strict=True):
            at = self.builder.at(as_token(sign))
            built = Both(built, self.chain(as_branch(right), depth), at)
        return built

    def chain(self, node: Branch, depth: int) -> Expression:
        """Operands between NEXT and FOLD."""
        first, *others = map(as_branch, node.children)
        built = self.operand(first, depth)
        for link, operand in zip(others[::2], others[1::2], strict=True):
            right = self.operand(operand, depth)
            sign, *inner = link.children
            at = self.builder.at(as_token(sign))
            if link.data == "next":
                condition = _condition(self.builder, as_branch(inner[0])) if inner else None
                built = Next(built, right, condition, at)
            else:
                built = self.fold(built, right, [*map(as_branch, inner)], at)
        return built

    def fold(self, left: Expression, right: Expression, inner: list[Branch], at: int) -> Fold:
        """FOLD with the parts in its braces."""
        slots = [self.slot(part) for part in inner if part.data == "slot"]
        condition, continuing = (*slots, None, None)[:2]
        computed = (part.children for part in inner if part.data == "computed")
        aggregates = tuple(
            Computed(
                _value(self.builder, as_branch(value), 1),
                self.builder.name(as_token(alias)),
                self.builder.first(value),
            )
            for value, alias in computed
        )
        return Fold(left, right, condition, continuing, aggregates, at)

    def operand(self, node: Branch, depth: int) -> Expression:
        """What an operator stands beside."""
        match node.data:
            case "block":
                return build_block(self.builder, node)
            case "filter":
                sign, slot, inner = node.children
                operand = self.parenthesis(as_branch(inner), depth)
                condition = self.slot(as_branch(slot))
                return Filtered(condition, operand, self.builder.at(as_token(sign)))
            case "windowed":
                sign, window, inner = node.children
                operand = self.parenthesis(as_branch(inner), depth)
                length = build_window(self.builder, as_branch(window))
                return Windowed(length, operand, self.builder.at(as_token(sign)))
        return self.parenthesis(node, depth)

    def parenthesis(self, node: Branch, depth: int) -> Expression:
        """A group, or a sub-query."""
        opening, inner, _ = node.children
        at = self.builder.at(as_token(opening))
        if depth == DEEPEST:
            raise Unreadable(at, f"parentheses are nested more than {DEEPEST} deep")
        if isinstance(inner, Token):
            return SubQuery(self.read_other(self.builder.at(inner), depth + 1), (), at)
        if len(inner.children) == 1:
            return self.union(as_branch(inner.children[0]), depth + 1)
        return SubQuery(self.query(inner, depth + 1), (), at)

    # Conditions.

    def slot(self, node: Branch) -> EventCondition | None:
        """A condition, or nothing between two commas."""
        return _condition(self.builder, as_branch(node.children[0])) if node.children else None


def _condition(builder: Builder, node: Branch, depth: int = 1) -> EventCondition:
    return cast(EventCondition, build_condition(builder, node, depth, _atom))


def _atom(builder: Builder, node: Branch, depth: int) -> EventCondition:
    at = builder.first(node)
    match node.data:
        case "not":
            return Not(_condition(builder, as_branch(node.children[1]), depth + 1), at)
        case "truth":
            return Truth(as_token(node.children[0]).upper() == "TRUE", at)
        case "test":
            return _call(builder, node, depth)
    sides = [as_branch(side) for side in node.children[::2]]
    durations = [side.data == "duration" for side in sides]
    if durations[0] is durations[1]:
        first, second = (_value(builder, side, depth) for side in sides)
    else:
        first, second = (
            _duration(builder, side) if duration else _length(builder, side)
            for side, duration in zip(sides, durations, strict=True)
        )
    return compared(node.children[1], first, second, at)


# Values.


def build_cell(builder: Builder, node: Branch) -> Selected:
    """A value in a list or a constructor."""
    return build_cell_of(_value, builder, node)


def _duration(builder: Builder, node: Branch) -> Duration:
    tokens = [as_token(child) for child in node.children]
    return Duration(_decorator(tokens), builder.at(tokens[0]))


def _length(builder: Builder, node: Branch) -> Window:
    """The duration alongside DUR."""
    at = builder.first(node)
    tokens = [child for child in node.children if isinstance(child, Token)]
    constant = len(tokens) == len(node.children) and tokens[-1].type != "PERCENT"
    if node.data == "minus" and as_branch(node.children[1]).data in ("number", "united"):
        builder.note(at, _NEGATIVE)
    elif node.data not in ("number", "parameter", "united") or not constant:
        builder.note(at, f"found no duration next to DUR; {_DURATION_ALONE}")
    else:
        return build_window(builder, node)
    return Window(None, at)


def _decorator(tokens: list[Token]) -> Deco | None:
    if tokens[0].type != "DECORATOR":
        return None
    return cast(Deco, tokens[0].removesuffix("."))


def _value(builder: Builder, node: Branch, depth: int) -> Scalar:
    return cast(Scalar, build_value(builder, node, depth, _leaf))


def _leaf(builder: Builder, node: Branch, depth: int) -> Scalar:
    children = node.children
    match node.data:
        case "united":
            number, unit = map(as_token, children)
            exponent = unit[0] in "eExX"
            builder.note(builder.at(unit), _DIGITS_ALONE if exponent else _NO_UNIT_HERE)
            if number.type == "PARAMETER":
                return builder.parameter(number)
            return Literal(builder.number(number), builder.at(number))
        case "duration":
            builder.note(builder.first(node), _DURATION_ALONE)
            return _duration(builder, node)
        case "named":
            tokens = [as_token(child) for child in children]
            name, quoted = tokens[-1], tokens[-1].type == "STRING"
            text = unquoted(name) if quoted else str(name)
            return Named(_decorator(tokens), text, quoted, builder.first(node))
    return _call(builder, node, depth)


def _call(builder: Builder, node: Branch, depth: int) -> Call:
    name, *given = node.children
    arguments = tuple(
        Star(builder.first(one))
        if as_branch(one).data == "star"
        else _value(builder, as_branch(one), depth + 1)
        for one in given
    )
    return Call(as_token(name).lower(), arguments, builder.at(as_token(name)))
