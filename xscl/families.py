"""Conditions with open parameters, as families of filters: what queries alike but for constants
ask of a node in common.

`[feed = :feed]` with any number of values for `:feed` is one filter to stage 1: it finds the
constants that hold at a node, whatever their number.  So can be asked for: a path equal to a
constant, a path in an order with a number, and a node's value, under functions, equal to one.
Where anything else depends on a parameter, its value must be known first (`Unbound`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import cast

from templates import FLIPPED
from xpath_stage import Constant, Family, Test, number_text
from xscl.filters import conjuncts_of, counts_positions, filters_of, is_number, relative_path
from xscl.language.problems import Unbound
from xscl.language.syntax import Binary, Condition, Function, Literal, Parameter, Path, Step

__all__ = ["Open", "asked_of_node"]


@dataclass(frozen=True, slots=True)
class Open:
    """A parameter that is left open: the family that it gives a constant of; with `text`, the
    constant is a string, whatever the value."""

    family: Family
    parameter: Parameter
    text: bool = False

    def constant(self, value: object) -> Constant:
        """The constant that a value of the parameter is."""
        if isinstance(value, str):
            return value
        number = float(cast(float, value))
        return number_text(number) if self.text else number


def asked_of_node(
    step: Step, conditions: Sequence[Condition]
) -> tuple[tuple[Test, ...], list[Open]]:
    """What a step's node must pass, given its conditions in order, and the parameters that are
    left open in it.  Raises Unbound for one that cannot be.

    >>> from xscl.language import parse
    >>> [query], _ = parse("S//item[author = :who]")
    >>> step = query.source.steps[0]
    >>> [family], [left] = asked_of_node(step, step.filters)
    >>> family.values.expression, family.operator, left.parameter.name
    ('author', '=', 'who')
    """
    counted = max((i + 1 for i, c in enumerate(conditions) if counts_positions(c)), default=0)
    plain = list(conditions[:counted])
    left: list[Open] = []
    for condition in conditions[counted:]:
        opened = [_open(conjunct) for conjunct in conjuncts_of(condition)]
        if not any(opened):
            plain.append(condition)
            continue
        for conjunct, one in zip(conjuncts_of(condition), opened, strict=True):
            if one is None:
                plain.append(_boolean(conjunct))
            else:
                left.append(one)
    for one in left:
        if step.test.startswith("@") and one.family.values.expression != ".":
            raise Unbound(one.parameter.name)
    families = sorted({one.family for one in left}, key=repr)
    return (*filters_of(step, plain), *families), left


def _open(condition: Condition) -> Open | None:
    """The parameter that a condition leaves open, if it does so in a way that is a family's."""
    match condition:
        case Binary(operator, Path() as path, Parameter() as parameter):
            return _compared(path, operator, parameter)
        case Binary(operator, Parameter() as parameter, Path() as path) if operator in FLIPPED:
            return _compared(path, FLIPPED[operator], parameter)
        case Function("compare", (Path() as path, Literal(functions), Literal("="), last)):
            if not isinstance(last, Parameter):
                return None
            family = Family(relative_path(path), functions=tuple(str(functions).split()))
            return Open(family, last, text=True)
        case Path():
            raised = _raised(condition)
            return None if raised is None else _open(raised)
        case _:
            return None


def _compared(path: Path, operator: str, parameter: Parameter) -> Open | None:
    if operator != "=" and not (operator in ("<", "<=", ">", ">=") and parameter.number):
        return None
    order = cast(OneOf["=", "<", "<=", ">", ">="], operator)
    return Open(Family(relative_path(path), order, parameter.number), parameter)


def _raised(path: Path) -> Condition | None:
    """`author[name = :n]` as `author/name = :n`: a filter of the last step that leaves a
    parameter open, asked from further up."""
    *front, last = path.steps
    if any(map(counts_positions, last.filters)):
        return None
    conjuncts = [conjunct for filter in last.filters for conjunct in conjuncts_of(filter)]
    for index, conjunct in enumerate(conjuncts):
        raised = _raised(conjunct) if isinstance(conjunct, Path) else conjunct
        if raised is None or _open(raised) is None:
            continue
        others = (*conjuncts[:index], *conjuncts[index + 1 :])
        rest = tuple(_boolean(other) for other in others)
        return _below((*front, replace(last, filters=rest)), raised)
    return None


def _below(steps: tuple[Step, ...], condition: Condition) -> Condition:
    """A condition that leaves a parameter open, of the nodes to which steps lead."""

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


def _boolean(condition: Condition) -> Condition:
    """A conjunct as a filter of its own: a number, alone, would be a position."""
    return Function("boolean", (condition,), condition.at) if is_number(condition) else condition
