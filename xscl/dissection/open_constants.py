"""Conditions with open parameters, as families of filters that queries with different constants
share.

`[feed = :feed]` with any number of values for `:feed` is one filter to stage 1.  Where a path, or a
node's value under functions, is equal to a constant, or a path is in an order with a number, stage
1 finds the values that hold at a node, whatever their number.  Any other condition it evaluates for
each value.  Where a position depends on a parameter, the value must be known first (`Unbound`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import cast

from xscl.dissection.xpath_text import (
    filters_of,
    in_order,
    open_condition,
    positional,
    relative_path,
)
from xscl.language.conditions import as_filter, conjuncts_of, counts_positions, operands_of
from xscl.language.problems import Unbound
from xscl.language.syntax import (
    Binary,
    Condition,
    Function,
    Literal,
    Parameter,
    Path,
    Step,
)
from xscl.templates import FLIPPED
from xscl.xpath_stage import Constant, Family, Test, number_of_constant, number_text

__all__ = ["OpenConstant", "asked_of_node"]


@dataclass(frozen=True, slots=True)
class OpenConstant:
    """Parameters that are left open together, and the family whose constants they are; `texts` says
    which of them are compared as strings, whatever their values."""

    family: Family
    parameters: tuple[Parameter, ...]
    texts: tuple[bool, ...] = (False,)

    def constant(self, values: Sequence[object]) -> Constant:
        """The constant for values of the parameters."""
        if self.family.operator == "holds":
            return tuple([_constant(*one) for one in zip(values, self.texts, strict=True)])
        return _constant(values[0], self.texts[0])


def _constant(value: object, text: bool) -> str | float:
    if isinstance(value, str):
        return value
    number = float(cast(float, value))
    return number_text(number) if text else number_of_constant(number)


def asked_of_node(
    step: Step, conditions: Sequence[Condition]
) -> tuple[tuple[Test, ...], list[OpenConstant]]:
    """The tests of a step's node, given its conditions in order, and the constants left open in
    them.  Raises Unbound for one on which a position depends.

    >>> from xscl.language import parse
    >>> [query], _ = parse("S//item[author = :who]")
    >>> step = query.source.steps[0]
    >>> [family], [left] = asked_of_node(step, step.filters)
    >>> family.values.expression, family.operator, left.parameters[0].name
    ('author', '=', 'who')
    """
    counted = positional(conditions)
    plain = list(conditions[:counted])
    left: list[OpenConstant] = []
    for condition in conditions[counted:]:
        conjuncts = list(conjuncts_of(condition))
        if not any(next(_parameters(conjunct), None) for conjunct in conjuncts):
            plain.append(condition)
            continue
        for conjunct in conjuncts:
            if next(_parameters(conjunct), None) is None:
                plain.append(as_filter(conjunct))
            else:
                left.append(_left_open(conjunct, attribute=step.test.startswith("@")))
    return in_order([*filters_of(step, plain), *(one.family for one in left)]), left


def _left_open(condition: Condition, *, attribute: bool) -> OpenConstant:
    """The constants that a condition leaves open: compared with the values of a path, or else of
    the whole condition."""
    with suppress(Unbound):
        found = _open(condition)
        # An attribute's conditions are evaluated at its element.
        if found is not None and not (attribute and found.family.values.expression != "."):
            return found
    whole, parameters = open_condition(condition)
    texts = tuple(compared for _, compared in _parameters(condition))
    return OpenConstant(Family(whole, "holds"), tuple(parameters), texts)


def _parameters(condition: Condition) -> Iterator[tuple[Parameter, bool]]:
    """The parameters of a condition in its order, each with whether `compare` has it."""
    match condition:
        case Parameter():
            yield condition, False
        case Path():
            for step in condition.steps:
                for filter in step.filters:
                    yield from _parameters(filter)
        case _:
            compares = isinstance(condition, Function) and condition.name == "compare"
            for operand in operands_of(condition):
                for parameter, compared in _parameters(operand):
                    yield parameter, compared or compares


def _open(condition: Condition) -> OpenConstant | None:
    """The parameter that a condition leaves open, if it compares a path's values with it."""
    match condition:
        case Binary(operator, Path() as path, Parameter() as parameter):
            return _compared(path, operator, parameter)
        case Binary(operator, Parameter() as parameter, Path() as path) if operator in FLIPPED:
            return _compared(path, FLIPPED[operator], parameter)
        case Function("compare", (Path() as path, Literal(functions), Literal("="), last)):
            if not isinstance(last, Parameter):
                return None
            family = Family(relative_path(path), functions=tuple(str(functions).split()))
            return OpenConstant(family, (last,), (True,))
        case Path():
            raised = _raised(condition)
            return None if raised is None else _open(raised)
        case _:
            return None


def _compared(path: Path, operator: str, parameter: Parameter) -> OpenConstant | None:
    if operator != "=" and not (operator in ("<", "<=", ">", ">=") and parameter.number):
        return None
    order = cast(OneOf["=", "<", "<=", ">", ">="], operator)
    return OpenConstant(Family(relative_path(path), order, parameter.number), (parameter,))


def _raised(path: Path) -> Condition | None:
    """`author[name = :n]` as `author/name = :n`: a filter of the last step that leaves a parameter
    open, moved to an earlier step."""
    *front, last = path.steps
    if any(map(counts_positions, last.filters)):
        return None
    conjuncts = [conjunct for filter in last.filters for conjunct in conjuncts_of(filter)]
    for index, conjunct in enumerate(conjuncts):
        raised = _raised(conjunct) if isinstance(conjunct, Path) else conjunct
        if raised is None or _open(raised) is None:
            continue
        others = (*conjuncts[:index], *conjuncts[index + 1 :])
        rest = tuple(as_filter(other) for other in others)
        return _below((*front, replace(last, filters=rest)), raised)
    return None


def _below(steps: tuple[Step, ...], condition: Condition) -> Condition:
    """A condition that leaves a parameter open, on the nodes to which steps lead."""

    def joined(path: Path) -> Path:
        first = path.steps[0]
        itself = first.test == "." and not first.filters
        return replace(path, steps=(*steps, *(path.steps[1:] if itself else path.steps)))

    match condition:
        case Binary(_, Path() as path, _):
            return replace(condition, left=joined(path))
        case Binary(_, _, Path() as path):
            return replace(condition, right=joined(path))
        case Function(_, (Path() as path, *others)):
            return replace(condition, arguments=(joined(path), *others))
    raise TypeError(condition)
