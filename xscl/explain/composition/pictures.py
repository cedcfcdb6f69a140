"""A composition as a picture: its operands in a row, or the operators of the plan that runs."""

from __future__ import annotations

from itertools import pairwise

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.explain.composition.words import (
    Words,
    compiled_of,
    composition_notes,
    conjunct_lines,
    figure,
    part_lines,
    scope_of,
    waits_for,
)
from xscl.explain.drawing import DrawnState
from xscl.pattern_stage.compositions.operators import Operator
from xscl.pattern_stage.compositions.plan import Chain, Conjunct, Exception_, Plan, Step, events

__all__ = ["composition_edges", "composition_graph", "composition_states"]


def composition_states(dissection: Dissection) -> tuple[list[DrawnState], list[str]]:
    """The operands of a composition, each with its lines and conjuncts, and exceptions behind the
    operands that they follow; what is said below."""
    compiled, words = compiled_of(dissection), Words(dissection)
    states = [_state(one, words) for _, one in _row(compiled.composition.normal)]
    waits = (compiled.level or STRONG).said(waits_for(compiled))
    cost = figure(compiled.planned.rewriting.cost)
    said = [
        f"consistency {waits}",
        f"runs as {words.plan(compiled.planned.rewriting.plan)}, cost {cost}",
        *(f"note: {note}" for note in composition_notes(dissection)),
    ]
    return states, said


def composition_edges(
    dissection: Dissection,
) -> tuple[list[str], list[tuple[int, int, str, str, str]]]:
    """The operands of a composition by name, and the steps from each to the next."""
    compiled, words = compiled_of(dissection), Words(dissection)
    row = _row(compiled.composition.normal)
    names = [words.normal(_of(one)) for forbidden, one in row if not forbidden]
    return names, [(one, other, ";", "", "") for one, other in pairwise(range(len(names)))]


_Placed = tuple[Plan, tuple[Conjunct, ...], tuple[Conjunct, ...], int] | Exception_


def _row(plan: Plan) -> list[tuple[bool, _Placed]]:
    if not isinstance(plan, Chain):
        return [(False, (plan, (), (), 1))]
    found: list[tuple[bool, _Placed]] = []
    steps = (Step(), *plan.steps)
    for number, (operand, step) in enumerate(zip(plan.operands, steps, strict=True), 1):
        found.append((False, (operand, step.phi, step.theta, number)))
        found += [(True, one) for one in plan.exceptions if one.high == number]
    return found


def _of(one: _Placed) -> Plan:
    return one.forbidden if isinstance(one, Exception_) else one[0]


def _state(one: _Placed, words: Words) -> DrawnState:
    if isinstance(one, Exception_):
        blocks = [words.event(each) for each in events(one.forbidden)]
        conjuncts = [*_inside(one.forbidden, words), *conjunct_lines(words, λ=one.conditions)]
        lines = [f"! {words.normal(one.forbidden)}", *blocks]
        return DrawnState(lines, [*conjuncts, f"in {scope_of(one)}"], forbidden=True)
    plan, phi, theta, number = one
    blocks = [words.event(each) for each in events(plan)]
    named = {f"φ{number}": phi, f"θ{number}": theta}
    lines = [words.normal(plan), *blocks] if len(blocks) > 1 else blocks
    edges = [*_inside(plan, words), *conjunct_lines(words, **named)]
    return DrawnState(lines, edges or ["each event"])


def _inside(plan: Plan, words: Words) -> list[str]:
    """The conjuncts in a part."""
    lines = (line.lstrip(" ;|+\\") for line in part_lines(plan, words))
    return [line for line in lines if line[:1] in "φθσλ" and not line.startswith("in ")]


def composition_graph(
    dissection: Dissection,
) -> tuple[list[str], list[tuple[int, int, str]], list[str]]:
    """The operators of the plan that runs by their names, first the events, last the root; edges
    from inputs, with the conjuncts that decide; and the streams of the events."""
    compiled, words = compiled_of(dissection), Words(dissection)
    rewriting = compiled.planned.rewriting
    leaves = [*events(rewriting.plan)]
    names = [words.event(one) for one in leaves]
    place = {(one.variable, one.type): number for number, one in enumerate(leaves)}
    edges: list[tuple[int, int, str]] = []

    def added(one: Operator) -> int:
        if one.event is not None:
            return place[one.event.variable, one.event.type]
        inputs = [added(each) for each in one.inputs]
        names.append("σ" if one.kind == "σ" else one.kind)
        said = [words.conjunct(each) for each in (*one.conditions, *one.continuing)]
        edges.extend((each, len(names) - 1, "") for each in inputs[:-1])
        edges.append((inputs[-1], len(names) - 1, " AND ".join(said)))
        return len(names) - 1

    added(rewriting.root)
    return names, edges, [compiled.streams[one.type] for one in leaves]
