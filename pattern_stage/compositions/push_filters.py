"""Filters as far down as they go (NEXT CEP's first rewrite): σ of a union into its branches, and a
conjunct of φ that names its operand alone into σ of that.

σ_p(E1 | E2) is σ_p(E1) | σ_p(E2), with the fields of the other branch missing.  Of a chain σ is
what θ of its last step is; σ of an iteration stays above the union, as iterations have none.  θ is
never pushed: it would skip where it must fail.
"""

from __future__ import annotations

from dataclasses import replace

from xscl.pattern_stage.compositions.plan import (
    Chain,
    Conjunct,
    Either,
    Event,
    Many,
    Plan,
    Step,
    variables,
)
from xscl.pattern_stage.values.terms import (
    STEP,
    And,
    Column,
    Comparison,
    ForAll,
    Not,
    Or,
    Predicate,
    Range,
    Spread,
    TextTest,
    Truth,
    leaves,
)

__all__ = ["pushed", "restricted"]


def pushed(plan: Plan) -> Plan:
    """The plan in which the filters of a node are in its inputs where they may be."""
    match plan:
        case Either(operands, conditions=conditions):
            stay = list[Conjunct]()
            for one in conditions:
                branches = [_with_filter(branch, one) for branch in operands]
                some = tuple(branch for branch in branches if branch is not None)
                if len(some) == len(branches):
                    operands = some
                else:
                    stay.append(one)
            return replace(plan, operands=operands, conditions=tuple(stay))
        case Chain(operands, steps):
            parts, left = [*operands], [*steps]
            for place, step in enumerate(steps, 1):
                own = variables(parts[place])
                for one in step.phi:
                    if one.variables <= own and not one.quantified:
                        filtered = _with_filter(parts[place], one)
                        if filtered is not None and not isinstance(parts[place], Chain):
                            parts[place] = filtered
                            phi = tuple(each for each in left[place - 1].phi if each is not one)
                            left[place - 1] = replace(left[place - 1], phi=phi)
            return replace(plan, operands=tuple(parts), steps=tuple(left))
    return plan


def _with_filter(plan: Plan, conjunct: Conjunct) -> Plan | None:
    """A plan with a filter over it; None where it cannot have one."""
    own = variables(plan)
    predicate = restricted(conjunct.predicate, own)
    if predicate == Truth(True):
        return plan
    one = replace(
        conjunct,
        predicate=predicate,
        variables=conjunct.variables & own,
        quantified=conjunct.quantified & own,
    )
    match plan:
        case Event(conditions=conditions):
            return replace(plan, conditions=(*conditions, one))
        case Either(conditions=conditions):
            return pushed(replace(plan, conditions=(*conditions, one)))
        case Chain(steps=(*before, last)) if not one.quantified:
            step = Step(last.phi, (*last.theta, one))
            return replace(plan, steps=(*before, step))
        case Chain() | Many():
            return None


def restricted(predicate: Predicate, own: frozenset[str]) -> Predicate:
    """What is left of a predicate over composites that have these variables only."""

    def foreign(name: str) -> bool:
        return name.partition(STEP)[0] not in own

    match predicate:
        case Comparison() | TextTest():
            for leaf in leaves(predicate):
                match leaf:
                    case Column(_, name) if foreign(name):
                        return Truth(False)
                    case Spread(one, other) if foreign(one) or foreign(other):
                        return Truth(False)
            return predicate
        case ForAll(ranges):
            some = [one for one in ranges if isinstance(one, Range)]
            return Truth(True) if any(foreign(one.name) for one in some) else predicate
        case Not(operand):
            part = restricted(operand, own)
            return Truth(not part.value) if isinstance(part, Truth) else Not(part)
        case And(parts) | Or(parts):
            decides = isinstance(predicate, Or)
            left = [restricted(one, own) for one in parts]
            if Truth(decides) in left:
                return Truth(decides)
            left = [one for one in left if one != Truth(not decides)]
            if len(left) < 2:
                return left[0] if left else Truth(not decides)
            return type(predicate)(tuple(left))
    return predicate
