"""The fences and transfers of a description, from text to a tree whose names are checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from xscl.language.build import Branch, Builder, as_branch, as_token
from xscl.language.checks.names import unquoted
from xscl.language.problems import Problem, Unreadable
from xscl.language.syntax import Attribute, Call, Name, Not, Read, Truth
from xscl.language.trees import tree_of
from xscl.language.values.build import build_condition, build_value, compared

__all__ = ["Assignment", "read_fence", "read_transfer"]

_Built = TypeVar("_Built")

_CALLED = re.compile(r"(?<![\w.-])([^\W\d][\w-]*)\s*\($")


@dataclass(frozen=True, slots=True)
class Assignment:
    """`field = value` of a transfer."""

    field: Name
    value: Any


@lru_cache(maxsize=10_000)
def read_fence(text: str) -> tuple[Any, tuple[Problem, ...]]:
    """The condition of a fence; with problems, None."""
    return _read(text, "fence", _condition)


@lru_cache(maxsize=10_000)
def read_transfer(text: str) -> tuple[tuple[Assignment, ...] | None, tuple[Problem, ...]]:
    """The assignments of a transfer; with problems, None."""
    return _read(text, "transfer", _assignments)


def _read(
    text: str, rule: str, build: Callable[[Builder, Branch], _Built]
) -> tuple[_Built | None, tuple[Problem, ...]]:
    builder = Builder({}, [], 0)
    try:
        built = build(builder, as_branch(tree_of(text, 0, len(text), rule, "the end")))
    except Unreadable as unreadable:
        return None, (_as_function(text, unreadable.problem),)
    return (None if builder.problems else built), tuple(builder.problems)


def _as_function(text: str, problem: Problem) -> Problem:
    """A problem, or what a name before an unexpected parenthesis is taken for."""
    name = _CALLED.search(text, 0, problem.at + 1)
    if name is None:
        return problem
    return Problem(name.start(1), f"`{name[1]}` is no function; there are `abs`, `max` and `min`")


def _assignments(builder: Builder, node: Branch) -> tuple[Assignment, ...]:
    built: list[Assignment] = []
    for one in [node] if node.data == "assignment" else map(as_branch, node.children):
        field, value = as_branch(one.children[0]), as_branch(one.children[2])
        built.append(Assignment(_field(builder, field), build_value(builder, value, 1, _leaf)))
    return tuple(built)


def _field(builder: Builder, node: Branch) -> Name:
    """The field that is set: `x`, or `reg.x`."""
    read = _leaf(builder, node, 1)
    name: Name = read.variable
    attribute = read.attribute
    if attribute is None:
        return name
    if name.text != "reg" or len(attribute.steps) != 1 or attribute.attribute is not None:
        builder.note(read.at, "only a field is set, as in `x = 1`, `reg.x = 1`")
    return Name("/".join(attribute.steps), attribute.at)


def _condition(builder: Builder, node: Branch, depth: int = 1) -> Any:
    node = as_branch(node.children[0]) if node.data == "fence" else node
    return build_condition(builder, node, depth, _atom)


def _atom(builder: Builder, node: Branch, depth: int) -> Any:
    at = builder.first(node)
    match node.data:
        case "not":
            return Not(_condition(builder, as_branch(node.children[1]), depth + 1), at)
        case "truth":
            return Truth(as_token(node.children[0]).upper() == "TRUE", at)
    left, sign, right = node.children
    one, other = (build_value(builder, as_branch(side), depth, _leaf) for side in (left, right))
    return compared(sign, one, other, at)


def _leaf(builder: Builder, node: Branch, depth: int) -> Any:
    name, *rest = node.children
    at = builder.at(as_token(name))
    if node.data == "call":
        arguments = (build_value(builder, as_branch(one), depth + 1, _leaf) for one in rest)
        return Call(as_token(name).lower(), tuple(arguments), at)
    attribute = _attribute(builder, as_branch(rest[0])) if rest else None
    return Read(builder.name(as_token(name)), None, attribute, at)


def _attribute(builder: Builder, node: Branch) -> Attribute:
    tokens = [as_token(one) for one in node.children]
    first = tokens[0]
    steps: list[str] = []
    while tokens and tokens[0].type in ("WORD", "STRING"):
        token = tokens.pop(0)
        steps.append(unquoted(token) if token.type == "STRING" else str(token))
    last = str(tokens[1]) if tokens else None
    return Attribute(tuple(steps), last, first.type == "STRING", builder.at(first))
