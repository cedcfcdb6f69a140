"""A pattern's automaton for people, for programs and as a picture: Figure 2 of SASE+, the plan of
SASE's Figure 6 (docs/how-it-runs.md#patterns)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.explain.drawing import DrawnState
from xscl.explain.words import listed
from xscl.language.syntax import EventPattern
from xscl.patterns.automaton import PEEKING, Automaton, automaton, template_id
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.notes import is_single, notes
from xscl.times import span, to_seconds

__all__ = [
    "pattern_edges",
    "pattern_lines",
    "pattern_members",
    "pattern_notes",
    "pattern_states",
    "pattern_template",
]


def _parts(dissection: Dissection) -> tuple[EventPattern, CompiledPattern, Automaton]:
    query = dissection.query
    assert isinstance(query.source, EventPattern)
    compiled = _compiled(dissection)
    return query.source, compiled, automaton(query, compiled)


def _compiled(dissection: Dissection) -> CompiledPattern:
    assert isinstance(dissection.compiled, CompiledPattern)
    return dissection.compiled


def _strategy(compiled: CompiledPattern) -> str:
    return compiled.pattern.strategy.name.lower()


def pattern_notes(dissection: Dissection) -> list[str]:
    """The notes on a pattern."""
    return notes(dissection.query, _compiled(dissection))


# For people.


def pattern_lines(dissection: Dissection) -> Iterator[str]:
    """The text of a pattern, line by line, without its name."""
    source, compiled, made = _parts(dissection)
    pattern = compiled.pattern
    how = "sequence" if source.kind == "EVENT" else f"pattern, {_strategy(compiled)}"
    names = [state.name for state in made.states]
    yield f"  {how}: {' → '.join([*names, 'F'])}"
    for state in made.states:
        component = "" if state.name.endswith("[i]") else f": {state.component}"
        yield f"    {state.name}{component}"
        for edge, formulas in state.edges.items():
            yield f"      {edge + ':':<9}{_joined(formulas)}"
    for negated in made.negated:
        yield f"    {negated.component}: none in {negated.interval}"
        if negated.conditions:
            yield f"      where    {_joined(negated.conditions)}"
    if made.partition:
        yield f"  partition: {', '.join(made.partition)}"
    if made.columns:
        yield "  computation state"
        yield from _masks(made)
    if made.plan:
        yield "  plan"
        yield from (f"    {line}" for line in made.plan)
    if pattern.non_overlapping:
        yield "  output: non overlapping"
    yield f"  consistency {(compiled.level or STRONG).said(made.waits)}"
    yield f"  template {template_id(compiled)}"
    if is_single(pattern):
        yield "  kept: nothing, since each event is a match by itself"
    elif pattern.within is None:
        yield "  kept: each event for good"
    else:
        yield f"  kept: each event for {span(pattern.within)} after its time"
    yield from (f"  note: {note}" for note in notes(dissection.query, compiled))


def _joined(formulas: list[str]) -> str:
    # Peeking is no formula, though it comes with them.
    peeking = [one for one in formulas if one.startswith(PEEKING)]
    holds = " AND ".join(one for one in formulas if one not in peeking)
    return ", ".join([holds, *peeking] if holds else peeking) or "true"


def _masks(made: Automaton) -> Iterator[str]:
    """The columns, and the states that need them, those together that need the same."""
    needing: dict[tuple[str, ...], list[str]] = {}
    for column in made.columns:
        states = tuple(state.name for state in made.states if column in state.mask)
        needing.setdefault(states, []).append(column)
    for states, columns in needing.items():
        yield f"    {', '.join(columns)}: for {listed(list(states))}"


def pattern_template(dissection: Dissection) -> tuple[str, str]:
    """The template of a pattern, and its states in order."""
    _, compiled, made = _parts(dissection)
    return template_id(compiled), " → ".join(state.name for state in made.states)


# For programs.


def pattern_members(dissection: Dissection) -> dict[str, object]:
    """The members of a pattern."""
    source, compiled, made = _parts(dissection)
    pattern = compiled.pattern
    return {
        "name": dissection.query.name,
        "template": template_id(compiled),
        "kind": source.kind.lower(),
        "strategy": _strategy(compiled),
        "streams": list(dict.fromkeys(dissection.streams)),
        "publishes": dissection.feeds,
        "states": [*map(asdict, made.states)],
        "negated": [*map(asdict, made.negated)],
        "partition": made.partition,
        "within": None if pattern.within is None else to_seconds(pattern.within),
        "columns": made.columns,
        "output": "non overlapping" if pattern.non_overlapping else "all",
        "consistency": str(compiled.level or STRONG),
        "monotone": pattern.monotone,
        "waits": made.waits,
        "plan": made.plan,
        "notes": notes(dissection.query, compiled),
    }


# As a picture.


def pattern_edges(dissection: Dissection) -> tuple[list[str], list[tuple[int, int, str, str, str]]]:
    """The states of a pattern by name, the last of them F, and its edges: from, to, name,
    formula, how it is drawn."""
    _, _, made = _parts(dissection)
    names = [*(state.name for state in made.states), "F"]
    edges: list[tuple[int, int, str, str, str]] = []
    for at, state in enumerate(made.states):
        for edge, formulas in state.edges.items():
            stays = edge in ("take", "ignore")
            edges.append((at, at if stays else at + 1, edge, _joined(formulas), ""))
    return names, edges


def pattern_states(dissection: Dissection) -> tuple[list[DrawnState], list[str]]:
    """The states of a pattern, the last of them F, and of what is forbidden; what is said below:
    what it waits for, and the notes."""
    _, compiled, made = _parts(dissection)
    states = []
    for state in made.states:
        # In a loop it is the component of the state before.
        component = [] if state.name.endswith("[i]") else [state.component]
        edges = [f"{edge}: {_joined(formulas)}" for edge, formulas in state.edges.items()]
        states.append(DrawnState([state.name, *component], edges))
    every = _with_forbidden([*states, DrawnState(["F"], [])], compiled, made)
    waits = (compiled.level or STRONG).said(made.waits)
    said = [f"note: {note}" for note in notes(dissection.query, compiled)]
    return every, [f"consistency {waits}", *said]


def _with_forbidden(
    states: list[DrawnState], compiled: CompiledPattern, made: Automaton
) -> list[DrawnState]:
    """The states of a pattern with those of its negated components, `!name`, at their places."""
    every, left, negated = [], iter(states), iter(made.negated)
    begun = next(left)
    for component in compiled.pattern.components:
        if component.negated:
            one = next(negated)
            where = [f"where {_joined(one.conditions)}"] if one.conditions else []
            lines = [f"!{one.name}", one.component]
            every.append(DrawnState(lines, [f"none in {one.interval}", *where], forbidden=True))
            continue
        every.append(begun)
        # A loop is of the component of the state before.
        while (begun := next(left)).lines[0].endswith("[i]"):
            every.append(begun)
    return [*every, begun]
