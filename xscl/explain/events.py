"""An event query for people, for programs and as a picture: the schemas of its parts, its plan in
normal form, its automaton (docs/how-it-runs.md#event-queries-in-plans)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.event_queries.automaton import Automaton, Entry, State
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.event_queries.identity import Operator
from xscl.event_queries.notes import notes
from xscl.event_queries.plan_words import plan_lines
from xscl.event_queries.schema import Schema
from xscl.explain.drawing import DrawnState
from xscl.explain.event_plans import EventPlans, schema_text, step_text
from xscl.explain.words import shortened
from xscl.language.syntax import Query
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select, Source, Union
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.stream_names import is_internal

__all__ = [
    "event_lines",
    "event_members",
    "event_operators",
    "event_states",
    "event_template",
]

_WIDEST, _LINE = 60, 100
_SIGNS = {Select: "σ", Map: "π", Union: "∪", Following: ";", Iterate: "µ", Aggregate: "α"}


# For people.


def event_lines(dissection: Dissection, plans: EventPlans) -> Iterator[str]:
    """The text of an event query, line by line, without its name."""
    plan = plans.of(dissection)
    compiled = plan.compiled
    yield "  events, from the first operator to the last"
    yield from _aligned("    ", _steps(compiled.step, compiled))
    yield "  plan"
    lines = plan_lines(plan.plan.node, compiled.constants, compiled.blocks)
    for (line, _), one in zip(lines, plan.plan.everything(), strict=True):
        yield f"    {one.id}  {line}"
    for made in plan.automata:
        yield f"  automaton of {made.stream}" if made.stream else "  automaton"
        yield from _automaton(made)
    others = {one.id: also for one, also in plans.shared(plan, dissection.query.name)}
    if others:
        yield "  shared"
        yield from (f"    {id}: with {shortened(also)}" for id, also in others.items())
    alike = [one for one in plans.channel(plan) if one != dissection.query.name]
    if alike:
        yield f"  one channel with {shortened(alike)}, alike but for constants"
    yield f"  consistency {plan.consistency}"
    yield f"  template {plan.plan.form}"
    yield from (f"  note: {note}" for note in notes(compiled))


def _aligned(indent: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Rows of what is there and of what is said about it, which begins a line where it is long."""
    every = list(rows)
    width = max((len(one) for one, _ in every if len(one) <= _WIDEST), default=0)
    for one, said in every:
        row = f"{indent}{one:<{width}}  {said}"
        if len(row) <= _LINE:
            yield row
        else:
            yield f"{indent}{one}"
            yield f"{indent}    {said}"


def _steps(step: Step, compiled: CompiledEvents) -> Iterator[tuple[str, str]]:
    """The parts of a query from the first to the last; what is right of an operator is further in.

    A query without a SELECT is its expression.
    """
    before, *beside = step.inputs or (None,)
    if before is not None:
        yield from _steps(before, compiled)
    if isinstance(step.part, Query) and before is not None and step.node is before.node:
        return
    said = schema_text(step.schema)
    operator = step_text(step, compiled)
    if not beside:
        yield operator, said
        return
    (right,) = beside
    assert right is not None
    if not right.inputs:
        yield f"{operator} {step_text(right, compiled)[2:]}", said
        return
    yield f"{operator} of", said
    yield from ((f"    {one}", other) for one, other in _steps(right, compiled))


def _automaton(made: Automaton) -> Iterator[str]:
    for entry in made.entries:
        where = "" if entry.condition == "TRUE" else f", where {entry.condition}"
        items = "" if entry.items is None else f" ({entry.items})"
        yield f"    {entry.stream}{where} → {entry.target}{items}"
        yield from (f"      index    {index}" for index in entry.indexes)
    for state in made.states:
        yield f"    state {state.name}, {state.operator}, reads {state.stream}"
        yield f"      holds    {state.instances}"
        yield f"      filter   {state.filter}"
        if state.rebind is not None:
            yield f"      rebind   {state.rebind}"
        taken = "as rebind" if state.rebind is not None else ""
        for forward in state.forward:
            also = "" if forward.condition == "TRUE" else forward.condition
            on = " and ".join(one for one in (taken, also) if one)
            items = "" if forward.items is None else f" ({forward.items})"
            yield f"      forward  {on + ' ' if on else ''}→ {forward.target}{items}"
        yield from (f"      index    {index}" for index in state.indexes)
        if state.until is not None:
            yield f"      dropped  {state.until} after its start"


def event_template(dissection: Dissection, plans: EventPlans) -> tuple[str, str]:
    """The template of an event query, and the signs of its operators, the first one first."""
    plan = plans.of(dissection).plan
    signs = [_SIGNS.get(type(one.node), "") for one in plan.everything()]
    return plan.form, " ".join(sign for sign in reversed(signs) if sign)


# For programs.


def event_members(dissection: Dissection, plans: EventPlans) -> dict[str, object]:
    """The members of an event query."""
    plan = plans.of(dissection)
    compiled = plan.compiled
    streams = (stream for stream in dissection.streams if not is_internal(stream))
    states = [state for made in plan.automata for state in made.states]
    entries = [entry for made in plan.automata for entry in made.entries]
    return {
        "name": dissection.query.name,
        "template": plan.plan.form,
        "kind": "cel",
        "streams": list(dict.fromkeys(streams)),
        "publishes": dissection.feeds,
        "schema": _schema(compiled.step.schema),
        "expression": _expression(compiled.step, compiled),
        "plan": _plan(plan.plan, compiled, plans),
        "entries": [*map(_members, entries)],
        "states": [*map(_members, states)],
        "indexes": [
            *(index for one in entries for index in one.indexes),
            *(f"{one.name}: {index}" for one in states for index in one.indexes),
        ],
        "channel": plans.channel(plan),
        "consistency": str(compiled.level or STRONG),
        "monotone": compiled.monotone,
        "waits": plan.waits,
        "notes": notes(compiled),
    }


def _members(one: Entry | State) -> dict[str, object]:
    """What belongs to an automaton, but for its indexes."""
    return {name: value for name, value in asdict(one).items() if name != "indexes"}


def _schema(schema: Schema) -> dict[str, object]:
    return {"open": schema.open, "names": list(schema.names)}


def _expression(step: Step, compiled: CompiledEvents) -> dict[str, object]:
    operator = step_text(step, compiled)[2:]
    if isinstance(step.part, Query) and step.node is step.inputs[0].node:
        return _expression(step.inputs[0], compiled)
    return {
        "operator": operator,
        "schema": _schema(step.schema),
        "inputs": [_expression(one, compiled) for one in step.inputs],
    }


def _plan(operator: Operator, compiled: CompiledEvents, plans: EventPlans) -> dict[str, object]:
    (said, _), *_ = plan_lines(operator.node, compiled.constants, compiled.blocks)
    return {
        "id": operator.id,
        "form": operator.form,
        "operator": said,
        "queries": list(plans.of_operator.get(operator.id, ())),
        "inputs": [_plan(one, compiled, plans) for one in operator.inputs],
    }


# As a picture.


def event_operators(
    dissection: Dissection, plans: EventPlans
) -> Iterator[tuple[Operator, str, str | None]]:
    """The operators of an event query, each after its inputs, with its words; of a source the
    stream, and of one with a path its words, too."""
    plan = plans.of(dissection)
    compiled = plan.compiled
    for one in reversed([*plan.plan.everything()]):
        (said, _), *_ = plan_lines(one.node, compiled.constants, compiled.blocks)
        stream = None
        if isinstance(one.node, Source):
            block = compiled.blocks[one.node.type]
            stream, said = block.stream.text, said if block.steps else ""
        yield one, said, stream


def event_states(dissection: Dissection, plans: EventPlans) -> tuple[list[DrawnState], list[str]]:
    """The states of an event query; what is said below."""
    plan = plans.of(dissection)
    boxes: list[DrawnState] = []
    for made in plan.automata:
        for entry in made.entries:
            where = [] if entry.condition == "TRUE" else [f"where {entry.condition}"]
            boxes.append(DrawnState([entry.stream, *where], [f"→ {entry.target}"]))
        for state in made.states:
            edges = [f"filter: {state.filter}"]
            edges += [f"rebind: {state.rebind}"] if state.rebind is not None else []
            edges += [f"forward → {one.target}: {one.condition}" for one in state.forward]
            boxes.append(DrawnState([state.name, f"{state.operator} {state.stream}"], edges))
    said = [f"note: {note}" for note in notes(plan.compiled)]
    return boxes, [f"consistency {plan.consistency}", *said]
