"""How far the runs of an automaton come over many documents: events by type, what each arc let
pass, the states that runs reached and where they ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from xscl.counts import counted
from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.language.automata.description import Arc
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.why.automata.input import input_of
from xscl.why.automata.runs import Run, Runs
from xscl.why.findings import instead
from xscl.why.report import as_text

__all__ = ["ArcCount", "AutomatonFunnel", "StateCount", "TypeCount", "count_automaton"]

_MOST = 300
"""Runs are followed from each document over those after it, so of more the newest are taken."""


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many events of a type there are."""

    name: str
    block: str
    events: int


@dataclass(frozen=True, slots=True)
class ArcCount:
    """How often runs tried an arc, how often it could be taken, and which conjuncts of its fence
    failed first how often, the most frequent one first; `near` says what all but met that one."""

    name: str
    arc: str
    tried: int
    passed: int
    failed: tuple[tuple[str, int], ...]
    near: str = ""


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many runs reached a state, and how many an event ended there."""

    name: str
    final: bool
    reached: int
    ended: int


@dataclass(frozen=True, slots=True)
class AutomatonFunnel:
    """What became of an automaton's runs over the newest documents of its streams; `outside` is how
    many of these hold no event of it."""

    query: str
    documents: int
    outside: int
    types: tuple[TypeCount, ...]
    arcs: tuple[ArcCount, ...]
    states: tuple[StateCount, ...]
    matches: int

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """As text of 100 columns."""
        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As tables for a terminal: events, arcs, states."""
        events = _table("event", "events")
        for type_ in self.types:
            events.add_row(Text(f"{type_.name}: {type_.block}"), f"{type_.events:,}")
        arcs = _table("arc", "tried", "passed")
        arcs.add_column("failed first", overflow="fold")
        for arc in self.arcs:
            failed = "; ".join(f"{text}: {number:,}" for text, number in arc.failed)
            name = Text(f"{arc.name}: {arc.arc}")
            arcs.add_row(name, f"{arc.tried:,}", f"{arc.passed:,}", Text(failed))
        states = _table("state", "runs", "ended there")
        for state in self.states:
            name = Text(f"{state.name} (final)" if state.final else state.name)
            states.add_row(name, f"{state.reached:,}", f"{state.ended:,}")
        many = counted(self.documents, "document")
        outside = f", {self.outside:,} without an event" if self.outside else ""
        title = Text.assemble((self.query, "bold cyan"), f": {many}{outside}")
        return Group(title, events, arcs, states, Text(counted(self.matches, "match", "matches")))


def count_automaton(dissection: Dissection, held: Sequence[Document]) -> AutomatonFunnel:
    """Counts the runs of an automaton over the newest documents."""
    compiled = dissection.compiled
    assert isinstance(compiled, CompiledAutomaton)
    read = [one for one in held if one.stream in dissection.streams]
    some = sorted(read, key=lambda document: document.time)[-_MOST:]
    seen = input_of(compiled, some)
    types, tried, passed = Counter[int](), Counter[Arc](), Counter[Arc]()
    failed: dict[Arc, Counter[str]] = {arc: Counter() for arc in compiled.described}
    near: dict[tuple[Arc, str], str] = {}
    reached, ended = Counter[int](), Counter[int]()
    matches = 0
    for by, events in seen.parts.items():
        runs = Runs(compiled, by, events)
        matches += len(runs.matches)
        types.update(event.component for event in events)
        steps = [step for some in runs.steps.values() for step in some.values()]
        for step in steps:
            for one in step.tried:
                tried[one.arc] += 1
                passed[one.arc] += one.beyond is not None
                if one.fails is not None:
                    failed[one.arc][one.fails.text] += 1
                    if words := instead(one.fails):
                        near.setdefault((one.arc, one.fails.text), words.removeprefix("; "))
        found: set[Run] = {run for step in steps for run in step.after}
        found |= {match.run for match in runs.matches}
        reached.update(state for _, state in {(run.start, run.state) for run in found})
        ended.update(step.run.state for step in steps if step.ended)
    blocks = compiled.automaton.events.items()
    return AutomatonFunnel(
        dissection.query.name,
        len(some),
        len(seen.outside),
        tuple(TypeCount(name, block, types[at]) for at, (name, block) in enumerate(blocks)),
        tuple(
            ArcCount(
                str(arc.name),
                _shown(arc),
                tried[arc],
                passed[arc],
                tuple(failed[arc].most_common()),
                next((near.get((arc, text), "") for text, _ in failed[arc].most_common(1)), ""),
            )
            for arc in compiled.described
        ),
        tuple(
            StateCount(name, number in compiled.final, reached[number], ended[number])
            for number, name in enumerate(compiled.states)
        ),
        matches,
    )


def _shown(arc: Arc) -> str:
    kind = "" if arc.kind == "consume" else f"{arc.kind} "
    event = "" if arc.event is None else f"{arc.event}, "
    return f"{kind}{event}{arc.source} → {arc.target}"


def _table(name: str, *numbers: str) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1), pad_edge=False)
    table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right")
    return table
