"""Canonical forms of operators: alike operators have one form, whatever their variables are called
(Schultz-Møller et al., section 4.3).

A form has the kind of the operator, the forms of its inputs (those of a union sorted), its
conjuncts sorted, with variables as the places of their events, and its scope.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from xscl.pattern_stage.compositions.operators import Operator
from xscl.pattern_stage.compositions.plan import Conjunct, Event
from xscl.pattern_stage.values.terms import (
    STEP,
    Column,
    Comparison,
    Constant,
    Range,
    Spread,
    rebuilt,
)

__all__ = ["Sources", "by_type", "canonical", "canonicals"]

Sources = Callable[[Event], Hashable]


def by_type(event: Event) -> Hashable:
    """What makes two sources one, within one query."""
    return event.type, event.source


def canonical(operator: Operator, constants: Sequence[Any] = (), source: Sources = by_type) -> str:
    """The canonical form of an operator; without constants, their places are part of it.  `source`
    returns what makes two sources one, which across queries is not the type alone."""
    return canonicals(operator, constants, source)[operator]


def canonicals(
    root: Operator, constants: Sequence[Any] = (), source: Sources = by_type
) -> dict[Operator, str]:
    """The canonical forms of an operator and of all below it."""
    forms = dict[Operator, str]()

    def form(one: Operator) -> tuple[str, tuple[str, ...]]:
        """The form, and the variables of its events."""
        if one.event is not None:
            forms[one] = repr(source(one.event))
            return forms[one], (one.event.variable,)
        inputs = [form(each) for each in one.inputs]
        if one.kind == "|":
            inputs.sort()
        variables = tuple(name for _, some in inputs for name in some)
        places = {
            name: "&".join(str(place) for place, each in enumerate(variables) if each == name)
            for name in variables
        }
        judged = [
            sorted(_conjunct(each, places, constants) for each in some)
            for some in (one.conditions, one.continuing)
        ]
        below = ", ".join(each for each, _ in inputs)
        forms[one] = f"{one.kind}({below}; {judged} {one.scope})"
        return forms[one], variables if one.kind != "\\" else inputs[0][1]

    form(root)
    return forms


def _conjunct(conjunct: Conjunct, places: dict[str, str], constants: Sequence[Any]) -> str:
    def placed(name: str) -> str:
        variable, step, rest = name.partition(STEP)
        return f"{places.get(variable, '')}{step}{rest}"

    def instead(term: Any) -> Any:
        match term:
            case Column(side, name):
                return Column(side, placed(name))
            case Range(side, name, which):
                return Range(side, placed(name), which)
            case Spread(one, other):
                return Spread(*sorted((placed(one), placed(other))))
            case Constant(place) if constants:
                return (constants[place],)
            case Comparison("=" | "!=", left, right, mode):
                one, other = sorted((rebuilt(left, instead), rebuilt(right, instead)), key=repr)
                return Comparison(term.operator, one, other, mode)
        return None

    return repr(rebuilt(conjunct.predicate, instead))
