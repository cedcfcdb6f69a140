"""An automaton for people, for programs and as a picture: its states in order, with their arcs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from xscl.consistency import STRONG
from xscl.dissection.parts import Dissection
from xscl.explain.drawing import DrawnState
from xscl.language.automata.check import initial_of, is_number_field, life_of
from xscl.language.automata.description import Arc
from xscl.language.automata.unparse import conjuncts_of_fence
from xscl.language.same_query import bare
from xscl.language.syntax import Described
from xscl.pattern_stage.values.terms import And, Comparison
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.patterns.notes import never, never_together
from xscl.times import moment, span, to_seconds

__all__ = [
    "automaton_edges",
    "automaton_lines",
    "automaton_members",
    "automaton_notes",
    "automaton_states",
    "automaton_template",
]

_WAITS = "the watermark"


def _compiled(dissection: Dissection) -> CompiledAutomaton:
    assert isinstance(dissection.compiled, CompiledAutomaton)
    return dissection.compiled


def _arcs(compiled: CompiledAutomaton, state: str) -> list[Arc]:
    return [arc for arc in compiled.described if arc.source == state]


def _id(compiled: CompiledAutomaton) -> str:
    """The name of what automata share that differ in constants alone."""
    arcs = [(life, replace(arc, constants=())) for life, arc in compiled.arcs]
    types = [[bare(block) for block in some] for some in compiled.blocks]
    said = (compiled.program, compiled.states, sorted(compiled.final), arcs, types)
    return sha256(repr(said).encode()).hexdigest()[:12]


def _marks(compiled: CompiledAutomaton, state: int) -> list[str]:
    """What a state is, beside a state."""
    marks = ["start"] if state == compiled.program.start else []
    return [*marks, "final"] if state in compiled.final else marks


def _life(arc: Arc) -> str:
    """When an arc lives, nothing of one that always does."""
    at, until = life_of(arc)
    since = "" if arc.at is None else f" from {moment(int(at))}"
    return since if arc.until is None else f"{since} until {moment(int(until))}"


def _said(arc: Arc) -> str:
    """What an arc takes, or when it fires, with its fence and transfer."""
    what = arc.event or ""
    if arc.kind != "consume":
        what = f"{arc.kind} {what}".strip()
    fence = "" if arc.when is None else f" where {arc.when}"
    transfer = "" if arc.set is None else f", set {arc.set}"
    return f"{what}{fence}{transfer}{_life(arc)}"


def _has_circle(compiled: CompiledAutomaton) -> bool:
    """Whether a run can go on for good."""
    after: dict[str, set[str]] = {}
    for arc in compiled.described:
        after.setdefault(arc.source, set()).add(arc.target)
    left = {state: set(some) for state, some in after.items()}
    while free := [state for state, some in left.items() if not some & left.keys()]:
        for state in free:
            del left[state]
    return bool(left)


def _bounded(compiled: CompiledAutomaton) -> bool:
    return compiled.within is not None or not _has_circle(compiled)


def automaton_notes(dissection: Dissection) -> list[str]:
    """The notes on an automaton."""
    compiled = _compiled(dissection)
    found = [*_impossible(compiled)]
    if not _bounded(compiled):
        found.append("a run can go on for good, so its state is not bounded; give it a `within`")
    return found


def _impossible(compiled: CompiledAutomaton) -> Iterator[str]:
    """The fences that never hold."""
    for arc, (_, made) in zip(compiled.described, compiled.arcs, strict=True):
        fence = made.fence
        parts = fence.parts if isinstance(fence, And) else (fence,)
        texts = conjuncts_of_fence(arc.when)
        some = [(at, one) for at, one in enumerate(parts) if isinstance(one, Comparison)]
        alone = [at for at, one in some if never(one, made.constants)]
        together = never_together(some, made.constants)
        if alone:
            yield f"arc `{arc.name}` is never taken: `{texts[alone[0]]}` never holds"
        elif together is not None:
            both = " and ".join(f"`{texts[at]}`" for at in together)
            yield f"arc `{arc.name}` is never taken: {both} never hold together"


# For people.


def automaton_lines(dissection: Dissection) -> Iterator[str]:
    """The text of an automaton, line by line, without its name."""
    compiled = _compiled(dissection)
    automaton = compiled.automaton
    yield f"  automaton: {', '.join(compiled.states)}"
    for name, block in automaton.events.items():
        yield f"    event {name}: {block}"
    for number, state in enumerate(compiled.states):
        marks = _marks(compiled, number)
        yield f"    {state} ({', '.join(marks)})" if marks else f"    {state}"
        for arc in _arcs(compiled, state):
            yield f"      {arc.name} → {arc.target}: {_said(arc)}"
    if automaton.by:
        yield f"  partition: {', '.join(automaton.by)}"
    if automaton.sequence is not None:
        yield f"  sequence: {automaton.sequence}"
    if automaton.register:
        yield "  register"
        for name, described in automaton.register.items():
            kind = "number" if is_number_field(described) else "string"
            initial = initial_of(described)
            shown = "missing" if initial is None else json.dumps(_first(initial))
            yield f"    {name}: {kind}, first {shown}"
    if (selected := _selected(dissection)) is not None:
        yield f"  select {', '.join(selected)}"
    yield f"  consistency {(compiled.level or STRONG).said(_waits(compiled))}"
    yield f"  template {_id(compiled)}"
    if compiled.within is None:
        yield "  kept: each event for good"
    else:
        yield f"  kept: each event for {span(compiled.within)} after its time"
    yield from (f"  note: {note}" for note in automaton_notes(dissection))


def _waits(compiled: CompiledAutomaton) -> str:
    """What matches wait for."""
    if not compiled.eager:
        return _WAITS
    number = f"a number of `{compiled.automaton.sequence}`"
    return f"{_WAITS} where {number} is missing, or a stream is revisable"


def _selected(dissection: Dissection) -> list[str] | None:
    """What SELECT lists."""
    source = dissection.query.source
    assert isinstance(source, Described)
    if source.fields is None:
        return None
    return [field if field == name else f"{field} AS {name}" for field, name in source.fields]


def automaton_template(dissection: Dissection) -> tuple[str, str]:
    """The template of an automaton, and its states in order."""
    compiled = _compiled(dissection)
    return _id(compiled), " → ".join(compiled.states)


# For programs.


def automaton_members(dissection: Dissection) -> dict[str, object]:
    """The members of an automaton."""
    compiled = _compiled(dissection)
    automaton = compiled.automaton
    return {
        "name": dissection.query.name,
        "template": _id(compiled),
        "kind": "automaton",
        "streams": list(dict.fromkeys(dissection.streams)),
        "publishes": dissection.feeds,
        "events": dict(automaton.events),
        "by": list(automaton.by),
        "sequence": automaton.sequence,
        "register": {
            name: {
                "type": "number" if is_number_field(one) else "string",
                "initial": _first(initial_of(one)),
            }
            for name, one in automaton.register.items()
        },
        "states": [
            {
                "name": state,
                "final": number in compiled.final,
                "arcs": [_arc(arc) for arc in _arcs(compiled, state)],
            }
            for number, state in enumerate(compiled.states)
        ],
        "select": _selected(dissection),
        "within": None if compiled.within is None else to_seconds(compiled.within),
        "consistency": str(compiled.level or STRONG),
        "monotone": False,
        "waits": _waits(compiled),
        "bounded": _bounded(compiled),
        "notes": automaton_notes(dissection),
    }


def _first(initial: str | float | None) -> str | float | None:
    """An initial value, an integer as one."""
    return int(initial) if isinstance(initial, float) and initial.is_integer() else initial


def _arc(arc: Arc) -> dict[str, object]:
    names = ("name", "kind", "event", "when", "set")
    return {
        **{name: getattr(arc, name) for name in names},
        "to": arc.target,
        "at": None if arc.at is None else to_seconds(int(life_of(arc)[0])),
        "until": None if arc.until is None else to_seconds(int(life_of(arc)[1])),
    }


# As a picture.


def automaton_edges(
    dissection: Dissection,
) -> tuple[list[str], list[tuple[int, int, str, str, str]]]:
    """The states of an automaton by name, and its edges: from, to, name, what is on it, how it is
    drawn: an ignorable arc dashed, one whose life has an end as dead."""
    compiled = _compiled(dissection)
    place = {state: number for number, state in enumerate(compiled.states)}
    edges = [
        (place[arc.source], place[arc.target], str(arc.name), _said(arc), _drawn(arc))
        for arc in compiled.described
    ]
    return list(compiled.states), edges


def _drawn(arc: Arc) -> str:
    if arc.until is not None:
        return "dead"
    return "dashed" if arc.kind == "ignore" else ""


def automaton_states(dissection: Dissection) -> tuple[list[DrawnState], list[str]]:
    """The states of an automaton, each with its lines and those of its arcs; what is said below."""
    compiled = _compiled(dissection)
    states = []
    for number, state in enumerate(compiled.states):
        arcs = [f"{arc.name} → {arc.target}: {_said(arc)}" for arc in _arcs(compiled, state)]
        states.append(DrawnState([state, *_marks(compiled, number)], arcs))
    notes = [f"note: {note}" for note in automaton_notes(dissection)]
    return states, [f"consistency {(compiled.level or STRONG).said(_waits(compiled))}", *notes]
