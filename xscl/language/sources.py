"""From lark's tree to blocks, joins and sub-queries: predicates and windows
(docs/semantics.md#statements-and-names, #predicates).

What is in them is left where it was written: the rewriting into value-join normal form
(section 6.2 of the thesis) and the split at OR come later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal as OneOf

from lark import Token

from xscl.language.build import DEEPEST, Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.functions import NO_MEASURE, WRAPPING, not_wrapping
from xscl.language.checks.likeness import ENOUGH, NO_LEAST, NO_UNLIKENESS, millionths
from xscl.language.checks.names import unquoted
from xscl.language.patterns.refused import JOINED
from xscl.language.problems import Unreadable
from xscl.language.syntax import (
    Block,
    Comparison,
    Conjunction,
    Disjunction,
    EventPattern,
    Join,
    Literal,
    Parameter,
    Predicate,
    Query,
    Side,
    Source,
    SubQuery,
    Window,
    Wrapped,
)
from xscl.times import NEGATIVE, TOO_LONG, is_unit, microseconds, no_unit
from xscl.xpath_stage.texts.likeness import MEASURES

__all__ = ["build_constant", "build_source", "build_window"]

ReadQuery = Callable[[Branch, int], Query]

_CONDITIONS = {"predicate", "conjuncts", "comparison"}


def build_source(builder: Builder, node: Branch, read: ReadQuery, depth: int = 0) -> Source:
    """The source that a query reads; its problems are noted in the builder.

    `read` reads the query in a parenthesis, given how deep that stands; so does the source
    itself at `depth`.
    """
    first, *others = map(as_branch, node.children)
    built = _operand(builder, first, read, depth)
    for operator, operand in zip(others[::2], others[1::2], strict=True):
        right = _operand(builder, operand, read, depth)
        for side in (built, right):
            if isinstance(side, EventPattern):
                builder.note(side.at, JOINED)
        built = _join(builder, built, operator, right)
    return built


def _operand(builder: Builder, node: Branch, read: ReadQuery, depth: int) -> Source:
    if node.data == "block":
        stream = as_token(node.children[0])
        return Block(builder.name(stream), builder.steps(node.children[1:], 0), builder.at(stream))
    opening, inner, _, *path = node.children
    at, query = builder.at(as_token(opening)), as_branch(inner)
    if depth == DEEPEST:
        raise Unreadable(at, f"parentheses are nested more than {DEEPEST} deep")
    if len(query.children) == 1 and not path:
        # Without SELECT, PUBLISH and path it groups.
        alone = query.children[0]
        if isinstance(alone, Token):
            built = read(query, depth + 1)
            return built.source if alone.type == "EVENTS" else SubQuery(built, (), at)
        return build_source(builder, as_branch(query.children[0]), read, depth + 1)
    return SubQuery(read(query, depth + 1), builder.steps(path, 0), at)


def _join(builder: Builder, left: Source, node: Branch, right: Source) -> Join:
    operator, brace, *constraint = node.children
    predicate: Predicate | None = None
    window = Window(None, builder.at(as_token(brace)))
    for part in map(as_branch, constraint):
        if part.data == "window":
            window = build_window(builder, part)
        else:
            predicate = _predicate(builder, part, 1)
    written: OneOf["FOLLOWED BY", "JOIN"]
    written = "JOIN" if as_token(operator).type == "JOIN" else "FOLLOWED BY"
    return Join(written, left, right, predicate, window, left.at)


# Windows.


def build_window(builder: Builder, node: Branch) -> Window:
    """The length of time that a window is."""
    tokens = [as_token(child) for child in node.children]
    minus = tokens.pop(0) if tokens[0].type == "MINUS" else None
    number, *units = tokens
    at = builder.at(number)
    if number.type == "INF":
        return Window(None, at)
    if minus is not None:
        builder.note(builder.at(minus), NEGATIVE)
    unit = str(units[0]) if units else "s"
    if not is_unit(unit):
        builder.note(builder.at(units[0]), no_unit(unit))
        # Some length: that there is none would be another problem to patterns that need one.
        return Window(1, at)
    if number.type == "PARAMETER":
        return Window(None, at, builder.parameter(number), unit)
    length = microseconds(number, unit)
    if length is None:
        builder.note(at, TOO_LONG)
    return Window(length, at, None, unit)


# Predicates.


def _predicate(builder: Builder, node: Branch, depth: int) -> Predicate:
    at = builder.bounded(node, depth)
    match node.data:
        case "predicate":
            return Disjunction(_parts(builder, node.children[::2], Disjunction, depth), at)
        case "conjuncts":
            return Conjunction(_parts(builder, node.children[::2], Conjunction, depth), at)
        case "comparison":
            left, operator, right = node.children
            sides = as_branch(left), as_branch(right)
            if any(_is_likeness(side) for side in sides):
                return _likeness(builder, sides, str(operator), at, depth)
            first = _side(builder, as_branch(left), depth)
            return Comparison(str(operator), first, _side(builder, as_branch(right), depth), at)
    # A call that is compared with nothing.
    if _is_likeness(node):
        builder.note(at, f"found `similar()` compared with nothing; {ENOUGH}")
        return Comparison("=", Literal("", at), Literal("", at), at)
    side = _side(builder, node, depth)
    if isinstance(side, Wrapped):
        compared = f"compare it, as in `{side.function}(x) = y`"
        builder.note(at, f"found `{side.function}()` compared with nothing; {compared}")
    return Comparison("=", side, side, at)


def _is_likeness(node: Branch) -> bool:
    return node.data == "wrapped" and str(node.children[0]) == "similar"


def _has_likeness(node: Branch) -> bool:
    return any(map(_is_likeness, node.iter_subtrees()))


def _likeness(
    builder: Builder, sides: tuple[Branch, Branch], sign: str, at: int, depth: int
) -> Comparison:
    """`similar(one, other, 'measure') >= number`, which may be written the other way round; in
    place of one that is refused, a comparison that says nothing."""
    nothing = Comparison("=", Literal("", at), Literal("", at), at)
    call, number = sides if _is_likeness(sides[0]) else sides[::-1]
    arguments = [as_branch(child) for child in call.children[1:]]
    if sign != (">=" if call is sides[0] else "<=") or number.data != "constant":
        unlike = sign == ("<" if call is sides[0] else ">")
        instead = NO_UNLIKENESS if unlike else ENOUGH
        builder.note(at, f"found `similar()` compared otherwise; {instead}")
        return nothing
    if len(arguments) not in (2, 3):
        said = f"found {len(arguments)}: two values, and a measure where it is not 'words'"
        builder.note(at, f"`similar()` takes 2 or 3 arguments, {said}")
        return nothing
    measure = _measure(builder, arguments[2]) if len(arguments) == 3 else MEASURES[0]
    least = _least(builder, number)
    if measure is None:
        return nothing
    one, other = (_value(builder, argument, depth + 1) for argument in arguments[:2])
    return Comparison(measure, one, other, at, least)


def _measure(builder: Builder, node: Branch) -> str | None:
    if node.data == "constant":
        constant = build_constant(builder, [as_token(child) for child in node.children])
        if isinstance(constant, Literal) and constant.value in MEASURES:
            return str(constant.value)
    builder.note(builder.first(node), NO_MEASURE)
    return None


def _least(builder: Builder, node: Branch) -> Literal | Parameter:
    """The least likeness."""
    least = build_constant(builder, [as_token(child) for child in node.children])
    if isinstance(least, Literal) and millionths(least.value) is None:
        builder.note(least.at, NO_LEAST)
    return least


def _value(builder: Builder, node: Branch, depth: int) -> Side:
    """An argument that is a side of a comparison; in place of a condition, a constant."""
    if node.data not in _CONDITIONS:
        return _side(builder, node, depth)
    expected = "a variable, a path from one or a constant"
    at = builder.first(node)
    builder.note(at, f"found a comparison, expected {expected}")
    return Literal("", at)


def _parts(
    builder: Builder,
    nodes: Sequence[Node],
    kind: type[Conjunction] | type[Disjunction],
    depth: int,
) -> tuple[Predicate, ...]:
    """The parts of a chain; one of the same kind among them gives its own."""
    parts: list[Predicate] = []
    for node in nodes:
        part = _predicate(builder, as_branch(node), depth + 1)
        parts += part.parts if isinstance(part, kind) else (part,)
    return tuple(parts)


def _side(builder: Builder, node: Branch, depth: int) -> Side:
    match node.data:
        case "variable_path":
            return builder.variable_path(node, depth)
        case "constant":
            return build_constant(builder, [as_token(child) for child in node.children])
        case _:
            return _wrapped(builder, node, depth + 1)


def build_constant(builder: Builder, tokens: list[Token]) -> Literal | Parameter:
    """A constant of a predicate."""
    at = builder.at(tokens[0])
    match tokens:
        case [Token(type="STRING") as string]:
            return Literal(unquoted(string), at)
        case [Token(type="PARAMETER") as parameter]:
            return builder.parameter(parameter)
        case [number]:
            return Literal(builder.number(number), at)
        case _:
            return Literal(-builder.number(tokens[1]), at)


def _wrapped(builder: Builder, node: Branch, depth: int) -> Side:
    """A call around a side; in place of one that is refused, a constant."""
    at = builder.bounded(node, depth)
    name = str(node.children[0])
    arguments = [as_branch(child) for child in node.children[1:]]
    if name not in WRAPPING:
        if name.lower() == "not" and any(map(_has_likeness, arguments)):
            builder.note(at, f"`{name}` is not part of the language of joins; {NO_UNLIKENESS}")
        else:
            builder.note(at, not_wrapping(name))
    elif len(arguments) != 1:
        builder.note(at, f"`{name}()` takes 1 argument, found {len(arguments)}")
    else:
        return Wrapped(name, _value(builder, arguments[0], depth), at)
    return Literal("", at)
