"""An event query for people, for programs and as a picture: the schemas of its parts, its plan in
normal form, its automaton (patterns-cel.md, sections 5, 8 and 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select, Source, Union
from pattern_stage.algebra.nodes import Sequence as Next
from pattern_stage.algebra.normal_form import normal_form
from xscl.dissection.parts import Dissection
from xscl.event_queries.automaton import Automaton, automaton, plan_lines
from xscl.event_queries.compile import CompiledEvents, Step, compile_events
from xscl.event_queries.identity import Operator, operators
from xscl.event_queries.notes import notes
from xscl.event_queries.published import Published
from xscl.event_queries.schema import Schema
from xscl.event_queries.wording import OF_ONE, OF_TWO, TermWording, name
from xscl.explain.words import plain, shortened
from xscl.language.syntax import Block, Events, Query, SubQuery
from xscl.stream_names import is_internal, public_name

__all__ = ["EventPlan", "EventPlans", "event_lines", "event_members", "event_states", "is_events"]

_WIDEST = 60


def is_events(dissection: Dissection) -> bool:
    """Whether a query is one of events, and so has no join."""
    return isinstance(dissection.query.source, Events)


@dataclass(frozen=True, slots=True)
class EventPlan:
    """What is shown of an event query: how it compiled, its plan in normal form."""

    compiled: CompiledEvents
    plan: Operator

    @property
    def automata(self) -> list[Automaton]:
        """The automaton, after those of the streams that it reads."""
        return automaton(self.plan.node, self.compiled.constants, self.compiled.blocks)

    @property
    def waits(self) -> str:
        """What its results wait for."""
        if self.compiled.monotone:
            return "nothing: told at once"
        return "the watermark above the time of a result"


class EventPlans:
    """The event queries among some, compiled in their order: what one publishes a later one
    reads."""

    def __init__(self, dissections: Iterable[Dissection]) -> None:
        self._plans: dict[int, EventPlan] = {}
        # The queries of each operator and form, in order.
        self.of_operator: dict[str, dict[str, None]] = {}
        self.of_form: dict[str, dict[str, None]] = {}
        published = Published()
        for dissection in dissections:
            for one in dissection.everything():
                if is_events(one):
                    self._add(one, dissection.query.name, published)
            step = self._plans[id(dissection)].compiled.step if is_events(dissection) else None
            published.add(dissection.query, step)

    def _add(self, dissection: Dissection, of: str, published: Published) -> None:
        compiled = compile_events(dissection.query, published)
        root = normal_form(compiled.root)
        plan = operators(root, compiled.constants, compiled.blocks)
        self._plans[id(dissection)] = EventPlan(compiled, plan)
        for operator in plan.everything():
            self.of_operator.setdefault(operator.id, {})[of] = None
            self.of_form.setdefault(operator.form, {})[of] = None

    def of(self, dissection: Dissection) -> EventPlan:
        """The plan of one of them."""
        known = self._plans.get(id(dissection))
        return EventPlans([dissection]).of(dissection) if known is None else known

    def shared(self, plan: EventPlan, name: str) -> Iterator[tuple[Operator, list[str]]]:
        """The greatest parts of a plan that other queries have, too, with these."""
        left = [plan.plan]
        while left:
            top = left.pop()
            others = [one for one in self.of_operator.get(top.id, ()) if one != name]
            if not others:
                left += reversed(top.inputs)
            elif not isinstance(top.node, Source):
                yield top, others

    def channel(self, plan: EventPlan) -> list[str]:
        """The queries whose plans are equal but for constants: their results are one channel."""
        return list(self.of_form.get(plan.plan.form, ()))


# For people.


def event_lines(dissection: Dissection, plans: EventPlans) -> Iterator[str]:
    """The text of an event query, line by line, without its name."""
    plan = plans.of(dissection)
    compiled = plan.compiled
    yield "  events, from the first operator to the last"
    yield from _aligned("    ", _steps(compiled.step, compiled))
    yield "  plan"
    ids = [one.id for one in plan.plan.everything()]
    lines = plan_lines(plan.plan.node, compiled.constants, compiled.blocks)
    yield from _aligned("    ", ((line, id) for (line, _), id in zip(lines, ids, strict=True)))
    for made in plan.automata:
        yield f"  automaton of {made.stream}" if made.stream else "  automaton"
        yield from _automaton(made)
    others = [(one, queries) for one, queries in plans.shared(plan, dissection.query.name)]
    if others:
        yield "  shared"
        for one, queries in others:
            yield f"    {one.id}: with {shortened(queries)}"
    alike = [one for one in plans.channel(plan) if one != dissection.query.name]
    if alike:
        yield f"  one channel with {shortened(alike)}, alike but for constants"
    yield f"  consistency {'weak' if compiled.weak else f'strong, waits for {plan.waits}'}"
    yield f"  template {plan.plan.form}"
    yield from (f"  note: {note}" for note in notes(compiled))


def _aligned(indent: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Rows of what is there and of what is said about it."""
    every = list(rows)
    width = max((len(one) for one, _ in every if len(one) <= _WIDEST), default=0)
    yield from (f"{indent}{one:<{width}}  {said}".rstrip() for one, said in every)


def schema_text(schema: Schema) -> str:
    """A schema in words.

    >>> schema_text(Schema(("cnt",), True, ("Name",))), schema_text(Schema(("a", "b"), False))
    ('open: cnt, Name, …', 'closed: a, b')
    """
    names = [*map(name, schema.names), *(["…"] if schema.open else [])]
    return f"{'open' if schema.open else 'closed'}: {', '.join(names)}"


def _steps(step: Step, compiled: CompiledEvents) -> Iterator[tuple[str, str]]:
    """The parts of a query from the first to the last; what is right of an operator is further in.

    A query without a SELECT is its expression.
    """
    words = TermWording(compiled.constants)
    before, *beside = step.inputs or (None,)
    if before is not None:
        yield from _steps(before, compiled)
    if isinstance(step.part, Query) and before is not None and step.node is before.node:
        return
    said = schema_text(step.schema)
    operator, sign = _operator(step, words, compiled)
    if not beside:
        yield operator, f"{sign}  {said}"
        return
    (right,) = beside
    assert right is not None
    if not right.inputs:
        yield f"{operator} {_operator(right, words, compiled)[0]}", f"{sign}  {said}"
        return
    yield f"{operator} of", f"{sign}  {said}"
    yield from ((f"  {one}", other) for one, other in _steps(right, compiled))


def _operator(step: Step, words: TermWording, compiled: CompiledEvents) -> tuple[str, str]:
    """An operator as it is written, with its names as they are resolved; its sign."""
    node = step.node
    if isinstance(step.part, Block | SubQuery):
        assert isinstance(node, Source)
        block = compiled.blocks[node.type]
        return plain(public_name(block.stream.text)) + ("//…" if block.steps else ""), " "
    match node:
        case Select(condition):
            return f"FILTER{{{words.condition(condition, OF_ONE)}}}", "σ"
        case Map(star, items):
            listed = ["*"] * star + [words.items(items, OF_ONE)] * bool(items)
            return f"SELECT {', '.join(listed)}", "π"
        case Union():
            return "UNION", "∪"
        case Next(condition):
            return f"NEXT{{{words.condition(condition, OF_TWO)}}}", ";"
        case Iterate(condition, going_on, aggregates):
            parts = [words.condition(condition, OF_TWO), words.condition(going_on, OF_TWO)]
            parts += [words.items(aggregates, OF_TWO)] * bool(aggregates)
            return f"FOLD{{{', '.join(parts)}}}", "µ"
        case Aggregate(window, keys, items):
            length = (
                "INF" if window is None else words.constant(compiled.constants[window], age=True)
            )
            by = f" GROUP BY {', '.join(map(name, keys))}" if keys else ""
            return f"SELECT {words.items(items, OF_ONE)}{by} over WINDOW{{{length}}}", "α"
        case _:
            return "FILTER{}", "σ"


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
            yield f"      let go   {state.until} after its start"


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
        "entries": [
            {
                "stream": one.stream,
                "condition": one.condition,
                "items": one.items,
                "target": one.target,
            }
            for one in entries
        ],
        "states": [
            {
                "name": one.name,
                "operator": one.operator,
                "stream": one.stream,
                "instances": one.instances,
                "filter": one.filter,
                "rebind": one.rebind,
                "forward": [
                    {"condition": edge.condition, "items": edge.items, "target": edge.target}
                    for edge in one.forward
                ],
                "until": one.until,
            }
            for one in states
        ],
        "indexes": [
            *(index for one in entries for index in one.indexes),
            *(f"{one.name}: {index}" for one in states for index in one.indexes),
        ],
        "channel": plans.channel(plan),
        "consistency": "weak" if compiled.weak else "strong",
        "monotone": compiled.monotone,
        "waits": plan.waits,
        "notes": notes(compiled),
    }


def _schema(schema: Schema) -> dict[str, object]:
    return {"open": schema.open, "names": list(schema.names)}


def _expression(step: Step, compiled: CompiledEvents) -> dict[str, object]:
    operator, _ = _operator(step, TermWording(compiled.constants), compiled)
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


def event_states(
    dissection: Dissection, plans: EventPlans
) -> tuple[list[tuple[list[str], list[str]]], list[str]]:
    """The states of an event query, each with its lines and those of its edges; what is said
    below."""
    plan = plans.of(dissection)
    boxes: list[tuple[list[str], list[str]]] = []
    for made in plan.automata:
        for entry in made.entries:
            where = [] if entry.condition == "TRUE" else [f"where {entry.condition}"]
            boxes.append(([entry.stream, *where], [f"→ {entry.target}"]))
        for state in made.states:
            edges = [f"filter: {state.filter}"]
            edges += [f"rebind: {state.rebind}"] if state.rebind is not None else []
            edges += [f"forward → {one.target}: {one.condition}" for one in state.forward]
            boxes.append(([state.name, f"{state.operator} {state.stream}"], edges))
    waits = "weak" if plan.compiled.weak else f"strong, waits for {plan.waits}"
    said = [f"note: {note}" for note in notes(plan.compiled)]
    return boxes, [f"consistency {waits}", *said]
