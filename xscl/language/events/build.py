"""From lark's tree to the nodes of an event query: expressions, conditions, values
(patterns-cel.md, section 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal as OneOf
from typing import cast

from lark import Token

from xscl.language.build import DEEPEST, Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.events.walk import parts
from xscl.language.patterns.build import SPELT, Operator, build_block, build_consistency
from xscl.language.problems import Unreadable
from xscl.language.sources import build_window
from xscl.language.syntax import (
    Arithmetic,
    Block,
    Both,
    Call,
    Compared,
    Computed,
    Consistency,
    Declared,
    Deco,
    Duration,
    Either,
    EventCondition,
    Events,
    Every,
    Expression,
    Filtered,
    Fold,
    Grouping,
    Item,
    Literal,
    Minus,
    Name,
    Named,
    Next,
    Not,
    PerCent,
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

__all__ = ["ReadEvents", "build_cell"]

_NO_UNIT_HERE = "a unit stands beside DUR and in WINDOW alone, as in `DUR <= 5 min`"
_DIGITS_ALONE = "a number is written in digits, as in `1000000` or `0.001`"
_DURATION_ALONE = (
    "DUR is compared with a duration, as in `DUR <= 5 min` or `DUR > :t s`, and stands nowhere else"
)
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
        """The query that stands in `depth` parentheses."""
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
        items = tuple(self.item(as_branch(item)) for item in selection.children)
        star = len(items) == 1 and isinstance(items[0].path, Selected)
        if star and isinstance(cast(Selected, items[0].path).value, Star):
            return None
        return items

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
                condition = self.condition(as_branch(inner[0]), 1) if inner else None
                built = Next(built, right, condition, at)
            else:
                built = self.fold(built, right, [*map(as_branch, inner)], at)
        return built

    def fold(self, left: Expression, right: Expression, inner: list[Branch], at: int) -> Fold:
        """FOLD with the parts in its braces."""
        slots = [self.slot(part) for part in inner if part.data == "slot"]
        condition, going_on = (*slots, None, None)[:2]
        computed = (part.children for part in inner if part.data == "computed")
        aggregates = tuple(
            Computed(
                _value(self.builder, as_branch(value), 1),
                self.builder.name(as_token(alias)),
                self.builder.first(value),
            )
            for value, alias in computed
        )
        return Fold(left, right, condition, going_on, aggregates, at)

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
        return self.condition(as_branch(node.children[0]), 1) if node.children else None

    def condition(self, node: Branch, depth: int) -> EventCondition:
        """A condition that stands in so many others."""
        builder = self.builder
        at = builder.bounded(node, depth)
        match node.data:
            case "either":
                return Either(self.parts(node.children, Either, depth), at)
            case "every":
                return Every(self.parts(node.children, Every, depth), at)
            case "not":
                return Not(self.condition(as_branch(node.children[1]), depth + 1), at)
            case "truth":
                return Truth(as_token(node.children[0]).upper() == "TRUE", at)
            case "test":
                return _call(builder, node, depth)
        left, sign, right = node.children
        left, right = as_branch(left), as_branch(right)
        operator = cast(Operator, SPELT.get(str(sign), str(sign)))
        if (left.data == "duration") is (right.data == "duration"):
            first, second = (_value(builder, side, depth) for side in (left, right))
        elif left.data == "duration":
            first, second = _duration(builder, left), _length(builder, right)
        else:
            first, second = _length(builder, left), _duration(builder, right)
        return Compared(operator, first, second, at)

    def parts(
        self,
        nodes: Sequence[Node],
        kind: type[Every[EventCondition]] | type[Either[EventCondition]],
        depth: int,
    ) -> tuple[EventCondition, ...]:
        """The parts of a chain; one of the same kind among them gives its own."""
        some: list[EventCondition] = []
        for node in nodes:
            part = self.condition(as_branch(node), depth + 1)
            some += part.parts if isinstance(part, kind) else (part,)
        return tuple(some)


# Values.


def build_cell(builder: Builder, node: Branch) -> Selected:
    """A value in a list or a constructor."""
    node = as_branch(node.children[0]) if node.data == "cell" else node
    if node.data == "star":
        at = builder.first(node)
        return Selected(Star(at), at)
    value = _value(builder, node, 1)
    return Selected(value, value.at)


def _duration(builder: Builder, node: Branch) -> Duration:
    tokens = [as_token(child) for child in node.children]
    return Duration(_decorator(tokens), builder.at(tokens[0]))


def _length(builder: Builder, node: Branch) -> Window:
    """The duration beside DUR."""
    at = builder.first(node)
    tokens = [child for child in node.children if isinstance(child, Token)]
    constant = len(tokens) == len(node.children) and tokens[-1].type != "PERCENT"
    if node.data == "minus" and as_branch(node.children[1]).data == "number":
        builder.note(at, _NEGATIVE)
    elif node.data not in ("number", "parameter") or not constant:
        builder.note(at, f"found no duration beside DUR; {_DURATION_ALONE}")
    else:
        return build_window(builder, node)
    return Window(None, at)


def _decorator(tokens: list[Token]) -> Deco | None:
    if tokens[0].type != "DECORATOR":
        return None
    return cast(Deco, tokens[0].removesuffix("."))


def _value(builder: Builder, node: Branch, depth: int) -> Scalar:
    at = builder.bounded(node, depth)
    children = node.children
    match node.data:
        case "string":
            return Literal(unquoted(as_token(children[0])), at)
        case "number":
            number = Literal(builder.number(as_token(children[0])), at)
            return PerCent(number, at) if _percent(builder, children[1:]) else number
        case "parameter":
            _percent(builder, children[1:])
            return builder.parameter(as_token(children[0]))
        case "minus":
            return Minus(_value(builder, as_branch(children[1]), depth + 1), at)
        case "duration":
            builder.note(at, _DURATION_ALONE)
            return _duration(builder, node)
        case "named":
            tokens = [as_token(child) for child in children]
            name, quoted = tokens[-1], tokens[-1].type == "STRING"
            text = unquoted(name) if quoted else str(name)
            return Named(_decorator(tokens), text, quoted, at)
        case "call":
            return _call(builder, node, depth)
    depth += len(children) // 2
    built = _value(builder, as_branch(children[0]), depth)
    for sign, right in zip(children[1::2], children[2::2], strict=True):
        operator = cast(OneOf["+", "-", "*", "/"], str(sign))
        built = Arithmetic(operator, built, _value(builder, as_branch(right), depth + 1), built.at)
    return built


def _percent(builder: Builder, signs: Sequence[Node]) -> bool:
    """Whether a number is per cent; a unit cannot stand there."""
    for sign in map(as_token, signs):
        if sign.type == "PERCENT":
            return True
        exponent = sign.value[0] in "eExX"
        builder.note(builder.at(sign), _DIGITS_ALONE if exponent else _NO_UNIT_HERE)
    return False


def _call(builder: Builder, node: Branch, depth: int) -> Call:
    name, *given = node.children
    arguments = tuple(
        Star(builder.first(one))
        if as_branch(one).data == "star"
        else _value(builder, as_branch(one), depth + 1)
        for one in given
    )
    return Call(as_token(name).lower(), arguments, builder.at(as_token(name)))
