"""Writes paths and their filters as XPath 1.0, for libxml2.

The language's conditions are XPath's but for a few functions of XPath 2.0, which are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.terms import (
    Branch,
    Call,
    Condition,
    Filter,
    Negation,
    Number,
    Operation,
    Step,
    Text,
)

__all__ = ["filters_in_xpath", "path_in_xpath", "step_in_xpath"]

LATER = ("ends-with", "exists", "empty", "lower-case", "matches", "upper-case")
"""Functions that XPath 1.0 does not have."""


def path_in_xpath(path: Sequence[Step], context: str) -> str:
    """A path from a context, its bindings left out."""
    return context + "".join(map(step_in_xpath, path))


def step_in_xpath(step: Step) -> str:
    """A step with the conditions of its filters, without their bindings."""
    if step.test == ".":
        return "/self::node()" + filters_in_xpath(step.filters)
    test = step.test
    if test.startswith("*:"):
        test = f"*[local-name() = '{test[2:]}']"
    elif test[0] in "'\"":
        test = test[1:-1]  # of those drawn for XML, each is a name
    return step.axis + test + filters_in_xpath(step.filters)


def filters_in_xpath(filters: Sequence[Filter]) -> str:
    """Predicates for the conditions of the filters, without their bindings."""
    written = ""
    for filter in filters:
        conditions = [part for part in filter.parts if not isinstance(part, Branch)]
        if conditions:
            written += f"[{' and '.join(map(_condition, conditions))}]"
    return written


def _condition(condition: Condition) -> str:
    match condition:
        case tuple():
            return path_in_xpath(condition, ".")
        case Text(value):
            quote = '"' if "'" in value else "'"
            return quote + value + quote
        case Number(written):
            return written
        case Negation(operand):
            return f"(- {_condition(operand)})"
        case Operation(sign, left, right):
            return f"({_condition(left)} {sign} {_condition(right)})"
        case Call(name, arguments):
            if name in LATER:
                raise ValueError(f"no function of XPath 1.0: {name}")
            return f"{name}({', '.join(map(_condition, arguments))})"
