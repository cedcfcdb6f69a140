"""The runs of an automaton by their definition (docs/semantics.md#steps-of-an-automaton): every run
over every epoch, arc by arc, with what kept each arc from being taken.

It is slow, and shares no list of runs with the stage: it is also a check of the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from xscl.language.automata.description import Arc
from xscl.language.automata.unparse import conjuncts_of_fence
from xscl.pattern_stage.automata import program as stage
from xscl.pattern_stage.values.interpreter import Interpreter
from xscl.pattern_stage.values.terms import MISSING, And, Leaf, Read, Register
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.why.findings import Finding, judged_by
from xscl.why.sequences.taken import Event

__all__ = ["Entered", "Run", "Runs", "Step", "Tried"]

Kept = str | float | None
"""A value of a register, None where it is missing."""


class Run(NamedTuple):
    """Since when a run goes (microseconds), its state and its register."""

    start: int
    state: int
    register: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """An arc of a run, for an event if it takes one: the run beyond it (of an ignorable arc the
    same), or the conjunct that fails first."""

    arc: Arc
    run: Run
    event: Event | None
    beyond: Run | None
    fails: Finding | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A run at a time: what it tried and what became of it.  `begins` of one that is new, which
    only consumes; `closes` of one whose window closes."""

    run: Run
    tried: tuple[Tried, ...]
    after: frozenset[Run]
    begins: bool = False
    closes: bool = False

    @property
    def ended(self) -> bool:
        """Whether the epoch ended the run."""
        return not (self.after or self.begins or self.closes)


class Entered(NamedTuple):
    """A match: a run that entered a final state at a time."""

    run: Run
    time: int


@dataclass(slots=True)
class Runs:
    """The runs over the events of one part, whose values of `by` are given: the steps by time, in
    order, and the matches."""

    compiled: CompiledAutomaton
    by: tuple[str, ...]
    events: Sequence[Event]
    steps: dict[int, dict[Run, Step]] = field(default_factory=dict)
    matches: dict[Entered, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = sorted(self.events, key=lambda event: event.time)
        epochs = [(time, [*some]) for time, some in groupby(ordered, key=lambda one: one.time)]
        within = self.compiled.within
        for place, (time, events) in enumerate(epochs):
            begun = self._steps([self._new(time)], time, events, begins=True)
            self._go_on(begun, epochs[place + 1 :], time)
            if within is not None:
                window = [one for one in epochs[: place + 1] if one[0] > time - within]
                self._open(window, time - within)
        self.steps = dict(sorted(self.steps.items()))

    # Runs

    def _new(self, time: int) -> Run:
        program = self.compiled.program
        register = (*self.by, *(one.initial for one in program.register))
        return Run(time, program.start, register)

    def _go_on(self, runs: set[Run], epochs: Sequence[tuple[int, list[Event]]], start: int) -> None:
        """Runs of one start over the epochs of their window, and its end."""
        end = None if self.compiled.within is None else start + self.compiled.within
        for time, events in epochs:
            if not runs or (end is not None and time >= end):
                break
            runs = self._steps(runs, time, events)
        if end is not None:
            self._close(runs, end)

    def _close(self, runs: set[Run], time: int) -> None:
        """The windows of runs close."""
        for run in runs:
            tried = [one for one in self._tried(run, time, ()) if one.arc.kind == "end"]
            if tried:
                beyond = {one.beyond for one in tried if one.beyond is not None}
                extra, after = self._epsilon(beyond, time)
                self._note(Step(run, (*tried, *extra), frozenset(after), closes=True), time, after)

    def _open(self, window: Sequence[tuple[int, list[Event]]], start: int) -> None:
        """Along `start` arcs, runs whose window opens before that the last epoch closes."""
        first, (last, events) = window[0][0], window[-1]
        run = self._new(start)
        tried = [one for one in self._tried(run, first, ()) if one.arc.kind == "start"]
        opened = {one.beyond for one in tried if one.beyond is not None}
        _, runs = self._epsilon(opened, first)
        for time, some in window[:-1]:
            runs = self._steps(runs, time, some, matches=False)
        self._steps(runs, last, events, last=True)

    # Steps

    def _steps(
        self,
        runs: Iterable[Run],
        time: int,
        events: Sequence[Event],
        *,
        begins: bool = False,
        last: bool = False,
        matches: bool = True,
    ) -> set[Run]:
        """The runs after an epoch; those that begin there, or that it is the `last` one of, only
        consume."""
        after = set[Run]()
        for run in runs:
            before, more = [run], list[Tried]()
            if begins:
                more, reached = self._epsilon({run}, time)
                before = [*reached]
            tried = [*more, *(one for each in before for one in self._tried(each, time, events))]
            tried = [one for one in tried if one.arc.kind in ("consume", "ignore", "epsilon")]
            taken = {
                one.beyond for one in tried if one.beyond is not None and one.arc.kind == "consume"
            }
            passed = {
                id(one.event)
                for one in tried
                if one.arc.kind == "ignore" and one.beyond is not None
            }
            stays = not (begins or last) and len(passed) == len(events)
            if begins or last:
                tried = [one for one in tried if one.arc.kind != "ignore"]
            extra, reached = self._epsilon({*taken, *([run] if stays else [])}, time)
            entered = taken | {one.beyond for one in extra if one.beyond is not None}
            step = Step(run, (*tried, *extra), frozenset(reached), begins=begins)
            self._note(step, time, entered if matches else ())
            after |= reached
        return after

    def _note(self, step: Step, time: int, entered: Iterable[Run]) -> None:
        self.steps.setdefault(time, {})[step.run] = step
        for run in sorted(entered, key=repr):
            if run.state in self.compiled.final:
                self.matches[Entered(run, time)] = None

    def _epsilon(self, runs: set[Run], time: int) -> tuple[list[Tried], set[Run]]:
        """The ε-arcs of runs, and the runs with those beyond these arcs."""
        tried, reached, left = list[Tried](), set(runs), [*sorted(runs, key=repr)]
        while left:
            for one in self._tried(left.pop(), time, ()):
                if one.arc.kind == "epsilon":
                    tried.append(one)
                    if one.beyond is not None and one.beyond not in reached:
                        reached.add(one.beyond)
                        left.append(one.beyond)
        return tried, reached

    # Arcs

    def _tried(self, run: Run, time: int, events: Sequence[Event]) -> Iterator[Tried]:
        """The arcs of a run that live at a time, those that take events for each of them; without
        events the others."""
        arcs = zip(self.compiled.described, self.compiled.arcs, strict=True)
        for arc, ((at, until), compiled) in arcs:
            if compiled.source == run.state and at <= time < until:
                if compiled.kind not in ("consume", "ignore"):
                    if not events:
                        yield self._judged(arc, compiled, run, None)
                    continue
                for event in events:
                    if compiled.type in (None, event.component):
                        yield self._judged(arc, compiled, run, event)

    def _judged(self, arc: Arc, compiled: stage.Arc, run: Run, event: Event | None) -> Tried:
        sight = _Sight(compiled.constants, run.register, event)
        fence = compiled.fence
        parts = fence.parts if isinstance(fence, And) else (fence,)
        for part, text in zip(parts, conjuncts_of_fence(arc.when), strict=False):
            found = judged_by(sight, part, Finding("comparison", None, text, None))
            if not found.holds:
                return Tried(arc, run, event, None, found)
        register = [*run.register]
        by = len(self.by)
        for place, term in compiled.transfer:
            if self.compiled.program.register[place - by].number:
                number = sight.number(term)
                register[place] = number if number == number else None
            else:
                register[place] = sight.text(term)
        return Tried(arc, run, event, Run(run.start, compiled.target, tuple(register)))


class _Sight(Interpreter):
    """What an arc sees: the register, and its event if it takes one."""

    def __init__(
        self, constants: Sequence[str | float], register: Sequence[Kept], event: Event | None
    ) -> None:
        self.constants, self._register, self._event = constants, register, event

    def leaf(self, leaf: Leaf) -> object:
        value: Kept = None
        match leaf:
            case Register(place):
                value = self._register[place]
            case Read(attribute=attribute) if self._event is not None:
                value = self._event.read(attribute)
        return MISSING if value is None else value
