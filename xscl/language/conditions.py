"""Conditions of filters as syntax: their parts, and what follows from these alone.

A condition whose value is a number asks for a position when it stands alone in a filter, and
`last()` asks for one wherever it is in the filter's own context (docs/semantics.md#filters).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xscl.language.syntax import (
    Binary,
    Condition,
    Function,
    Literal,
    Negative,
    Parameter,
    Path,
    Step,
)

__all__ = [
    "ARITHMETIC",
    "LOOSENESS",
    "NUMERIC",
    "as_filter",
    "binds",
    "conjuncts_of",
    "counts_positions",
    "existence",
    "is_number",
    "lasts",
    "operands_of",
    "paths_of",
]

ARITHMETIC = frozenset({"+", "-", "*", "div", "mod"})
_LEVELS = (("or",), ("and",), ("=", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "div", "mod"))
LOOSENESS = {operator: level for level, some in enumerate(_LEVELS, 1) for operator in some}
"""The operators by how tightly they bind; a sign binds more tightly, by 7."""
NUMERIC = frozenset({"count", "last", "number", "similar", "string-length"})
"""The functions whose value is a number."""


def operands_of(condition: Condition) -> tuple[Condition, ...]:
    """The conditions right below one; the filters of a path are in a context of their own."""
    match condition:
        case Function():
            return condition.arguments
        case Binary():
            return condition.left, condition.right
        case Negative():
            return (condition.operand,)
        case _:
            return ()


def conjuncts_of(condition: Condition) -> Iterator[Condition]:
    """The parts of a condition that are joined by `and`, in order."""
    if isinstance(condition, Binary) and condition.operator == "and":
        yield from conjuncts_of(condition.left)
        yield from conjuncts_of(condition.right)
    else:
        yield condition


def paths_of(condition: Condition) -> Iterator[Path]:
    """All paths of a condition, without those within their filters."""
    if isinstance(condition, Path):
        yield condition
    for operand in operands_of(condition):
        yield from paths_of(operand)


def binds(condition: Condition) -> bool:
    """Whether a condition binds a variable, at any depth."""
    if isinstance(condition, Path):
        return any(
            step.variable is not None or any(map(binds, step.filters)) for step in condition.steps
        )
    return any(map(binds, operands_of(condition)))


def lasts(condition: Condition) -> Iterator[Function]:
    """The calls of `last()` that mean a condition's own filter, not that of a path in it."""
    if isinstance(condition, Function) and condition.name == "last":
        yield condition
    for operand in operands_of(condition):
        yield from lasts(operand)


def is_number(condition: Condition) -> bool:
    """Whether a condition's value is a number: alone as a filter, it would be a position."""
    match condition:
        case Literal():
            return not isinstance(condition.value, str)
        case Function():
            return condition.name in NUMERIC
        case Negative():
            return True
        case Binary():
            return condition.operator in ARITHMETIC
        case Parameter():
            return condition.number
        case Path():
            return False


def counts_positions(condition: Condition) -> bool:
    """Whether a filter depends on its node's position: it is a number, or asks for `last()`."""
    return is_number(condition) or next(lasts(condition), None) is not None


def existence(steps: Sequence[Step]) -> Path:
    """The condition that a relative path leads to a node."""
    return Path(tuple(steps), steps[0].at)


def as_filter(condition: Condition) -> Condition:
    """A conjunct as a filter of its own: a number, alone, would be a position."""
    return Function("boolean", (condition,), condition.at) if is_number(condition) else condition
