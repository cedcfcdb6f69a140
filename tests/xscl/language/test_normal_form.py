"""Join predicates in normal form, against their truth tables by brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.nested_loops import compare_strings
from xscl.language import parse
from xscl.language.normal_form import Conjunct, ConstantTest, NodeComparison, Operand, disjuncts
from xscl.language.syntax import Join

# The oracle: predicates as data, written as XSCL, and what they say of two values.

Side = tuple[str, ...]  # ("x",), ("'1'",) or functions around one of these, outermost first
Predicate = tuple[Any, ...]  # ("AND" or "OR", …) or (left, operator, right)

OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
VALUES = ["1", "1.0", " 1", "2", "10", "A", "a", "NaN", ""]
sides = st.tuples(st.sampled_from(["x", "y", "x", "y", "'1'", "1", "1.50", "'A'", "' 2 '"])) | (
    st.tuples(
        st.sampled_from(["lower-case", "normalize-space", "number"]),
        st.sampled_from(["x", "y", "x", "y", "'A'", "' 1 '", "'x'", "7.0"]),
    )
)
predicates = st.recursive(
    st.tuples(sides, st.sampled_from(OPERATORS), sides),
    lambda inner: st.tuples(st.sampled_from(["AND", "OR"]), inner, inner),
    max_leaves=6,
)


def written(predicate: Predicate) -> str:
    if predicate[0] in ("AND", "OR"):
        return f"({written(predicate[1])} {predicate[0]} {written(predicate[2])})"
    (*functions, name), operator, (*others, other) = predicate
    left = "(".join([*functions, name]) + ")" * len(functions)
    right = "(".join([*others, other]) + ")" * len(others)
    return f"{left} {operator} {right}"


NUMBERS = {"1": "1", "1.0": "1", " 1": "1", " 1 ": "1", "2": "2", " 2 ": "2", "10": "10"}
NUMBERS |= {"1.50": "1.5", "1.5": "1.5", "7.0": "7", "7": "7"}


def under(function: str, value: str | None) -> str | None:
    """A value under a function; None is NaN."""
    assert value is not None
    if function == "number":
        return NUMBERS.get(value)
    return value.lower() if function == "lower-case" else value.strip()


def value_of(side: Side, assignment: dict[str, str]) -> str | None:
    *functions, name = side
    value: str | None = assignment.get(name, name.strip("'"))
    if name[0].isdigit():
        value = NUMBERS[name]
    for function in reversed(functions):
        value = under(function, value)
    return value


def compare(left: str | None, operator: str, right: str | None) -> bool:
    if left is None or right is None:
        return operator == "!="
    return compare_strings(left, operator, right)


def holds(predicate: Predicate, assignment: dict[str, str]) -> bool:
    if predicate[0] in ("AND", "OR"):
        parts = [holds(part, assignment) for part in predicate[1:]]
        return all(parts) if predicate[0] == "AND" else any(parts)
    left, operator, right = predicate
    return compare(value_of(left, assignment), operator, value_of(right, assignment))


# What the normal form says.


def normal_form(predicate: str) -> list[tuple[Conjunct, ...]]:
    (query,), errors = parse(f"S//a->x JOIN {{{predicate}}} S//b->y")
    assert not errors
    assert isinstance(query.source, Join)
    return disjuncts(query.source.predicate)


def conjunct_holds(conjunct: Conjunct, assignment: dict[str, str]) -> bool:
    def value(operand: Operand) -> str | None:
        return value_of((*reversed(operand.functions), operand.variable), assignment)

    if isinstance(conjunct, ConstantTest):
        return compare(value(conjunct.operand), conjunct.operator, conjunct.constant)
    return compare(value(conjunct.left), conjunct.operator, value(conjunct.right))


@given(predicates)
@drawn(300)
def test_one_disjunct_holds_where_the_predicate_does(predicate: Predicate) -> None:
    found = normal_form(written(predicate))
    for x, y in product(VALUES, repeat=2):
        assignment = {"x": x, "y": y}
        some = any(all(conjunct_holds(c, assignment) for c in one) for one in found)
        assert some == holds(predicate, assignment), (written(predicate), assignment)
    assert len(set(found)) == len(found)
    assert all(len(set(one)) == len(one) for one in found)


def reported(conjunct: Conjunct) -> str:
    def operand(one: Operand) -> str:
        path = one.variable + "".join(f"{step.axis}{step.test}" for step in one.steps)
        for function in one.functions:
            path = f"{function}({path})"
        return path

    if isinstance(conjunct, NodeComparison):
        return f"{operand(conjunct.left)} {conjunct.operator} {operand(conjunct.right)}"
    return f"{operand(conjunct.operand)} {conjunct.operator} {conjunct.constant!r}"


@pytest.mark.parametrize(
    ("predicate", "form"),
    [
        ("x = y", [["x = y"]]),
        ("x = y AND x = y", [["x = y"]]),
        ("x = y OR x = y", [["x = y"]]),
        ("x = y OR x != y AND x < y", [["x = y"], ["x != y", "x < y"]]),
        ("(x = y OR x < y) AND y = 'v'", [["x = y", "y = 'v'"], ["x < y", "y = 'v'"]]),
        ("'v' = x", [["x = 'v'"]]),
        ("9 < x", [["x > '9'"]]),
        ("9 >= x", [["x <= '9'"]]),
        ("x = 7.0", [["x = '7'"]]),
        ("x = '7.0'", [["x = '7.0'"]]),
        ("x = 1000000", [["x = '1000000'"]]),
        ("'a' = 'b'", []),
        ("'a' = 'a'", [[]]),
        ("'a' = 'b' OR x = y", [["x = y"]]),
        ("'a' = 'a' AND x = y", [["x = y"]]),
        ("'10' > '9'", [[]]),
        ("'10' > '9a'", []),
        ("1 = 1.0", [[]]),
        ("'1' = '1.0'", []),
        ("number('1.0') = '1'", [[]]),
        ("number('x') = number('x')", []),
        ("number('x') != number('x')", [[]]),
        ("x = number('v')", []),
        ("x != number('v')", [["x != None"]]),
        ("x < number('v')", []),
        ("lower-case('V') = x", [["x = 'v'"]]),
        ("lower-case(x) = 'v'", [["lower-case(x) = 'v'"]]),
        (
            "lower-case(normalize-space(x/a//@b)) = y",
            [["lower-case(normalize-space(x/a//@b)) = y"]],
        ),
        ("number(x) = 7.0", [["number(x) = '7'"]]),
    ],
)
def test_forms(predicate: str, form: list[list[str]]) -> None:
    assert [[reported(conjunct) for conjunct in one] for one in normal_form(predicate)] == form


def test_every_occurrence_of_a_path_is_its_own() -> None:
    ((first, second),) = normal_form("x/n = y AND x/n = y/m")
    assert isinstance(first, NodeComparison)
    assert isinstance(second, NodeComparison)
    assert first.left.steps[0].at != second.left.steps[0].at
    ((first, second),) = normal_form("x/n = y AND x/n = y")
    assert first != second
