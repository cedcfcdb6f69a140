"""From lark's tree to the nodes of a pattern: components, conditions, values
(docs/semantics.md#reading-a-pattern)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from lark import Token

from xscl.language.build import Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.sources import build_constant, build_window
from xscl.language.syntax import (
    Aggregate,
    Attribute,
    Block,
    Call,
    Component,
    Consistency,
    Demand,
    Equivalence,
    EventPattern,
    Every,
    Item,
    Name,
    Read,
    Selected,
    Selection,
    Value,
    Window,
)
from xscl.language.values.build import build_condition, build_consistency, build_value, compared
from xscl.language.values.calls import bad_call

__all__ = [
    "build_block",
    "build_items",
    "build_pattern",
    "build_selected",
]

_BLANK = re.compile(r"[ \t\r\n]+")


def build_pattern(builder: Builder, node: Branch) -> EventPattern:
    """The pattern of a tree; its problems are noted in the builder."""
    first, *parts = node.children
    selection: Selection | None = None
    condition: Demand | None = None
    window: Window | None = None
    consistency: Consistency | None = None
    non_overlapping = False
    components: list[Component] = []
    for part in map(as_branch, parts):
        match part.data:
            case "component":
                components.append(_component(builder, part))
            case "qualification":
                selection, condition = _qualification(builder, part)
            case "window":
                window = build_window(builder, part)
            case "output":
                non_overlapping = as_token(part.children[0]).type == "OVERLAPPING"
            case "consistency":
                consistency = build_consistency(builder, part)
    return EventPattern(
        "EVENT" if as_token(first).upper() == "EVENT" else "PATTERN",
        tuple(components),
        selection,
        condition,
        window,
        non_overlapping,
        consistency,
        builder.at(as_token(first)),
    )


def build_items(builder: Builder, node: Branch) -> tuple[Item, ...]:
    """What SELECT lists of a pattern's matches."""
    built: list[Item] = []
    for item in map(as_branch, node.children):
        value, *alias = item.children
        selected = build_selected(builder, as_branch(value))
        if alias:
            token = as_token(alias[0])
            named = Name(builder.test(token), builder.at(token))
            built.append(Item(selected, named, str(token)))
        else:
            built.append(Item(selected, None))
    return tuple(built)


def build_selected(builder: Builder, node: Branch) -> Selected:
    """A value in a constructor or a list."""
    value = build_value(builder, node, 1, _leaf)
    return Selected(value, value.at)


# Components.


def _component(builder: Builder, node: Branch) -> Component:
    types: list[Block] = []
    plus = brackets = False
    variable: Name | None = None
    any_of = negated = False
    places: list[int] = []
    for part in node.children:
        if isinstance(part, Token):
            match part.type:
                case "NOT":
                    negated = True
                    continue
                case "ANY":
                    any_of = True
                case "PLUS":
                    plus = True
                case "NOUN":
                    variable = builder.variable(part)
            places.append(builder.at(part))
        elif part.data == "block":
            types.append(build_block(builder, part))
            places.append(types[-1].at)
        else:
            brackets = True
    return Component(tuple(types), any_of, plus, negated, variable, brackets, places[0])


def build_block(builder: Builder, node: Branch) -> Block:
    """A block whose stream may be quoted."""
    stream = as_token(node.children[0])
    at = builder.at(stream)
    text = unquoted(stream) if stream.type == "STRING" else str(stream)
    return Block(Name(text, at), builder.steps(node.children[1:], 0), at)


# Conditions.


def _qualification(builder: Builder, node: Branch) -> tuple[Selection | None, Demand | None]:
    selection: Selection | None = None
    condition: Demand | None = None
    token: Token | None = None
    listed: tuple[Name, ...] | None = None
    for part in node.children:
        if isinstance(part, Token):
            token = part if part.type == "STRATEGY" else token
        elif part.data == "listed":
            nouns = [one for one in map(as_token, part.children) if one.type == "NOUN"]
            listed = tuple(map(builder.variable, nouns))
        else:
            condition = build_condition(builder, part, 1, _atom)
    if token is not None:
        selection = Selection(token.lower().replace("-", "_"), listed, builder.at(token))
    return selection, condition


def _atom(builder: Builder, node: Branch, depth: int) -> Demand:
    if node.data == "tests":
        tests = tuple(_test(builder, as_branch(one)) for one in node.children[1:])
        return tests[0] if len(tests) == 1 else Every(tests, builder.first(node))
    left, sign, right = node.children
    first, second = (build_value(builder, as_branch(side), depth, _leaf) for side in (left, right))
    return compared(sign, first, second, builder.first(node))


def _test(builder: Builder, node: Branch) -> Equivalence:
    attribute = _attribute(builder, as_branch(node.children[0]).children)
    if len(node.children) == 1:
        return Equivalence(attribute, None, attribute.at)
    against = as_branch(node.children[2])
    if against.data == "attribute":
        other = _attribute(builder, against.children)
        return Equivalence(attribute, other, attribute.at)
    constant = build_constant(builder, [as_token(child) for child in against.children])
    return Equivalence(attribute, constant, attribute.at)


# Values.


def _leaf(builder: Builder, node: Branch, depth: int) -> Value:
    match node.data:
        case "signed":
            return cast(Value, build_value(builder, as_branch(node.children[1]), depth + 1, _leaf))
        case "aggregate":
            function, read = node.children
            return Aggregate(as_token(function).lower(), _read(builder, read), builder.first(node))
        case "call":
            called, *given = node.children
            values = [build_value(builder, as_branch(one), depth + 1, _leaf) for one in given]
            call = Call(as_token(called).lower(), tuple(values), builder.first(node))
            problem = bad_call(call)
            if problem is not None:
                builder.note(call.at, problem)
            return call
    return _read(builder, node)


def _read(builder: Builder, node: Node) -> Read:
    children = as_branch(node).children
    at = builder.first(node)
    if as_branch(node).data == "bare":
        return Read(None, None, _attribute(builder, children), at)
    variable = builder.variable(as_token(children[0]))
    index: str | None = None
    attribute: Attribute | None = None
    for part in map(as_branch, children[1:]):
        if part.data == "index":
            index = "".join(_BLANK.sub("", token) for token in _between(part))
        else:
            attribute = _attribute(builder, part.children)
    return Read(variable, index, attribute, at)


def _between(index: Branch) -> Iterator[Token]:
    """The index in brackets."""
    return (one for one in map(as_token, index.children) if one.type == "INDEX")


def _attribute(builder: Builder, nodes: Sequence[Node]) -> Attribute:
    tokens = [as_token(node) for node in nodes]
    at = builder.at(tokens[0])
    quoted = tokens[0].type == "STRING"
    steps: list[str] = []
    while tokens and tokens[0].type not in ("AT", "AT_STEP"):
        token = tokens.pop(0)
        steps.append(unquoted(token) if token.type == "STRING" else str(token))
    return Attribute(tuple(steps), str(tokens[1]) if tokens else None, quoted, at)
