r"""The normal form of a pattern in EQL (docs/semantics.md#composites): chains with exceptions in
place of nested `;` and `\`, flat unions, and each conjunct at the smallest part that has its
variables (docs/semantics.md#where-a-qualification-decides).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from xscl.language.syntax import (
    Alternatives,
    EventOf,
    Excepted,
    Repeated,
    Sequenced,
    Structure,
)
from xscl.pattern_stage.compositions.plan import (
    Chain,
    Conjunct,
    Either,
    Event,
    Exception_,
    Many,
    Plan,
    Step,
    left_deep,
    variables,
)

__all__ = ["attached", "normal_form"]

EventPlan = Callable[[EventOf], Event]


def normal_form(structure: Structure, event: EventPlan, conjuncts: Iterable[Conjunct]) -> Plan:
    """The plan of a pattern, its chains and unions in the order of the text."""
    plan = _plan(structure, event)
    for one in conjuncts:
        plan = attached(plan, one)
    return plan


# Chains.


def _plan(structure: Structure, event: EventPlan) -> Plan:
    operands, exceptions = _chained(structure, event)
    if len(operands) == 1 and not exceptions:
        return operands[0]
    steps = (Step(),) * (len(operands) - 1)
    return Chain(tuple(operands), steps, left_deep(len(operands)), tuple(exceptions))


def _chained(structure: Structure, event: EventPlan) -> tuple[list[Plan], list[Exception_]]:
    """The operands of a part as a chain, and its exceptions."""
    match structure:
        case EventOf():
            return [event(structure)], []
        case Alternatives():
            branches = tuple(_plan(one, event) for one in _branches(structure))
            return [Either(branches, left_deep(len(branches)))], []
        case Repeated(operand):
            return [Many(_plan(operand, event))], []
        case Sequenced(parts):
            operands, exceptions = list[Plan](), list[Exception_]()
            for part in parts:
                others, more = _chained(part, event)
                after = len(operands)
                exceptions += [
                    replace(one, low=one.low + after, high=one.high + after) for one in more
                ]
                operands += others
            return operands, exceptions
        case Excepted(left, right):
            operands, exceptions = _chained(left, event)
            forbidden = Exception_(_plan(right, event), 0, len(operands))
            return operands, [*exceptions, forbidden]


def _branches(structure: Structure) -> Iterable[Structure]:
    if isinstance(structure, Alternatives):
        for part in structure.parts:
            yield from _branches(part)
    else:
        yield structure


# Conjuncts.


def attached(plan: Plan, conjunct: Conjunct) -> Plan:
    """A plan with a conjunct where it decides.

    What concerns one operand alone, an event or a union, is σ of it, but θ of the step or the
    iteration whose operand it is unless it filters.
    """
    found = _inside(plan, conjunct)
    return _selected(plan, conjunct) if found is None else found


def _inside(plan: Plan, conjunct: Conjunct) -> Plan | None:
    """The plan with a conjunct in a part of it or on one of its steps; None where it concerns the
    plan as a whole."""
    match plan:
        case Event():
            return None
        case Either(operands):
            around = [place for place, one in enumerate(operands) if _reads(one, conjunct)]
            if len(around) > 1 or not _concerns(operands[around[0]], conjunct):
                return None
            return replace(plan, operands=_with(operands, around[0], attached, conjunct))
        case Many(operand):
            return _repeated(plan, operand, conjunct)
        case Chain():
            return _in_chain(plan, conjunct)


def _with(
    operands: tuple[Plan, ...], place: int, made: Callable[[Plan, Conjunct], Plan], one: Conjunct
) -> tuple[Plan, ...]:
    return (*operands[:place], made(operands[place], one), *operands[place + 1 :])


def _concerns(plan: Plan, conjunct: Conjunct) -> bool:
    return conjunct.variables <= variables(plan, forbidden=True)


def _reads(plan: Plan, conjunct: Conjunct) -> bool:
    return not conjunct.variables.isdisjoint(variables(plan, forbidden=True))


def _selected(plan: Plan, conjunct: Conjunct) -> Plan:
    assert isinstance(plan, Event | Either)
    return replace(plan, conditions=(*plan.conditions, conjunct))


def _repeated(plan: Many, operand: Plan, conjunct: Conjunct) -> Plan:
    """What `E+` repeats has a conjunct on the iteration where E is an event or a union, and what
    reads events before this one has it there, unless a step inside has these events."""
    if conjunct.quantified and not _is_read_inside(operand, conjunct):
        return _iterated(plan, conjunct)
    found = _inside(operand, conjunct)
    return _iterated(plan, conjunct) if found is None else replace(plan, operand=found)


def _iterated(plan: Many, conjunct: Conjunct) -> Many:
    if conjunct.filters:
        return replace(plan, phi=(*plan.phi, conjunct))
    return replace(plan, theta=(*plan.theta, conjunct))


def _is_read_inside(plan: Plan, conjunct: Conjunct) -> bool:
    """Whether an iteration in a part takes a conjunct, or a step whose earlier operands have all
    events that it reads by PREV, ALL or OCCURS WITHIN; or an exception, whose variables no
    iteration has."""
    match plan:
        case Event():
            return False
        case Many():
            return True
        case Either(operands):
            return any(
                _is_read_inside(one, conjunct) for one in operands if _concerns(one, conjunct)
            )
        case Chain(operands, _, _, exceptions):
            if any(
                conjunct.variables & variables(one.forbidden, forbidden=True) for one in exceptions
            ):
                return True
            concerned = [
                one for one in operands if conjunct.variables & variables(one, forbidden=True)
            ]
            if len(concerned) == 1:
                return _is_read_inside(concerned[0], conjunct)
            earlier = [variables(one) for one in operands[: operands.index(concerned[-1])]]
            return conjunct.quantified <= frozenset().union(*earlier)


def _in_chain(plan: Chain, conjunct: Conjunct) -> Chain:
    operands, steps, exceptions = plan.operands, plan.steps, plan.exceptions
    for place, one in enumerate(exceptions):
        own = variables(one.forbidden, forbidden=True)
        if not own & conjunct.variables:
            continue
        if conjunct.variables <= own:
            changed = replace(one, forbidden=attached(one.forbidden, conjunct))
        else:
            changed = replace(one, conditions=(*one.conditions, conjunct))
        return replace(plan, exceptions=(*exceptions[:place], changed, *exceptions[place + 1 :]))
    concerned = [place for place, one in enumerate(operands) if _reads(one, conjunct)]
    last = concerned[-1]
    if len(concerned) == 1:
        found = _inside(operands[last], conjunct)
        if found is None and (last == 0 or conjunct.filters):
            found = _selected(operands[last], conjunct)
        if found is not None:
            changed_operands = (*operands[:last], found, *operands[last + 1 :])
            return replace(plan, operands=changed_operands)
    step = steps[last - 1]
    if conjunct.filters:
        step = replace(step, phi=(*step.phi, conjunct))
    else:
        step = replace(step, theta=(*step.theta, conjunct))
    return replace(plan, steps=(*steps[: last - 1], step, *steps[last:]))
