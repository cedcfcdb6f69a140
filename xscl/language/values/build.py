"""From lark's tree to conditions and values; what is a language's own is built by its builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xscl.language.build import Branch, Builder, Node, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.sources import build_window
from xscl.language.syntax import (
    Arithmetic,
    Compared,
    Consistency,
    Either,
    Every,
    Item,
    Literal,
    Minus,
    PerCent,
    Select,
    Selected,
    Star,
)

__all__ = [
    "build_cell_of",
    "build_condition",
    "build_consistency",
    "build_items",
    "build_value",
    "compared",
]

Build = Callable[[Builder, Branch, int], Any]
"""Builds a node that is in so many others."""

_OPERATORS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}


def build_items(item: Callable[[Branch], Item], selection: Branch) -> Select:
    """The items of a list; `*` alone is all, as no SELECT is."""
    items = tuple(item(as_branch(one)) for one in selection.children)
    if len(items) == 1 and isinstance(items[0].path, Selected):
        return None if isinstance(items[0].path.value, Star) else items
    return items


def build_cell_of(value: Build, builder: Builder, node: Branch) -> Selected:
    """A value in a list or a constructor, or `*`; `value` builds that of a language."""
    if node.data in ("cell", "eql_cell"):
        node = as_branch(node.children[0])
    if node.data == "star":
        at = builder.first(node)
        return Selected(Star(at), at)
    built = value(builder, node, 1)
    return Selected(built, built.at)


def build_condition(builder: Builder, node: Branch, depth: int, atom: Build) -> Any:
    """A condition; `atom` builds what is between AND and OR."""
    at = builder.bounded(node, depth)
    kind: type[Every[Any]] | type[Either[Any]]
    match node.data:
        case "either":
            kind = Either
        case "every":
            kind = Every
        case _:
            return atom(builder, node, depth)
    parts: list[Any] = []
    for one in map(as_branch, node.children):
        part = build_condition(builder, one, depth + 1, atom)
        # One of the same kind gives its own.
        parts += part.parts if isinstance(part, kind) else (part,)
    return kind(tuple(parts), at)


def compared(sign: Node, left: Any, right: Any, at: int) -> Compared[Any]:
    """A comparison, its operator in its plain spelling."""
    operator: Any = str(sign)
    return Compared(_OPERATORS.get(operator, operator), left, right, at)


def build_value(builder: Builder, node: Branch, depth: int, leaf: Build) -> Any:
    """A value; `leaf` builds what the languages do not share."""
    at = builder.bounded(node, depth)
    children = node.children
    match node.data:
        case "string":
            return Literal(unquoted(as_token(children[0])), at)
        case "number":
            number = Literal(builder.number(as_token(children[0])), at)
            percent = any(as_token(one).type == "PERCENT" for one in children[1:])
            return PerCent(number, at) if percent else number
        case "parameter":
            return builder.parameter(as_token(children[0]))
        case "minus":
            return Minus(build_value(builder, as_branch(children[1]), depth + 1, leaf), at)
        case "value" | "times":
            return _arithmetic(builder, children, depth + len(children) // 2, leaf)
    return leaf(builder, node, depth)


def _arithmetic(builder: Builder, nodes: Sequence[Node], depth: int, leaf: Build) -> Any:
    """`a - b - c` as `(a - b) - c`."""
    built = build_value(builder, as_branch(nodes[0]), depth, leaf)
    for sign, right in zip(nodes[1::2], nodes[2::2], strict=True):
        operand = build_value(builder, as_branch(right), depth + 1, leaf)
        operator: Any = str(sign)
        built = Arithmetic(operator, built, operand, built.at)
    return built


def build_consistency(builder: Builder, node: Branch) -> Consistency:
    """CONSISTENCY with its level."""
    level, *windows = node.children
    token = as_token(level)
    window = build_window(builder, as_branch(windows[0])) if windows else None
    named: Any = token.lower()
    return Consistency(named, window, builder.at(token))
