"""Matches as the pattern stage reports them: one by one, or grouped without enumerating them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from xscl.pattern_stage.cells import Cell, Chain, chains, counted
from xscl.pattern_stage.layouts import END, NUMBER, Event

__all__ = [
    "RESULT",
    "Found",
    "FoundGroup",
    "Outcome",
    "Result",
    "events_of",
    "found_in",
    "grouped",
]


RESULT = -1
"""The place of what tells the matches of an automaton apart, where others have a component's."""


class Result(tuple[tuple[int, Event], ...]):
    """The events of an automaton's match, none where it keeps none, with the `start` and the
    `register` of its run."""

    start: int
    register: tuple[str | float | None, ...]

    @classmethod
    def of(
        cls, events: Iterable[tuple[int, Event]], start: int, register: tuple[Any, ...]
    ) -> Result:
        """That of a run."""
        result = cls(events)
        result.start, result.register = start, register
        return result


class Found:
    """A match of query `number`: `events` are (component's place, event) in order of time; `start`
    is the first one's time, `time` when the match is known, both in microseconds."""

    __slots__ = ("_chains", "_place", "number", "time")

    def __init__(self, number: int, chains: Chains, place: int, time: int) -> None:
        self.number, self.time = number, time
        self._chains, self._place = chains, place

    @property
    def events(self) -> Chain:
        """The events, with their components' places; built on first use."""
        return self._chains.all[self._place]

    @property
    def start(self) -> int:
        """The time of the first event, or when the run of an automaton began."""
        events = self.events
        return events.start if isinstance(events, Result) else int(events[0][1][END])

    @property
    def register(self) -> tuple[str | float | None, ...]:
        """The register of an automaton's run."""
        events = self.events
        return events.register if isinstance(events, Result) else ()

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it apart from all other matches."""
        if isinstance(self.events, Result):
            return (self.number, (RESULT, (self.start, self.time, *self.register)), *self._events)
        return (self.number, *self._events)

    @property
    def _events(self) -> Iterator[tuple[int, int]]:
        return ((place, event[NUMBER]) for place, event in self.events)

    def __repr__(self) -> str:
        events = ", ".join(f"{place}: {event[NUMBER]}" for place, event in self.events)
        return f"Found({self.number}, {{{events}}}, start={self.start}, time={self.time})"


class Chains:
    """The chains of a cell whose first event is after `floor`, or some chains."""

    __slots__ = ("_all", "_cell", "_floor")

    def __init__(self, cell: Cell | Sequence[Chain], floor: int | None) -> None:
        self._cell, self._floor = cell, floor
        self._all: Sequence[Chain] | None = None if isinstance(cell, Cell) else cell

    @property
    def all(self) -> Sequence[Chain]:
        """The chains, each once."""
        if self._all is None:
            assert isinstance(self._cell, Cell)
            self._all = [*chains(self._cell, self._floor)]
        return self._all


class Outcome(NamedTuple):
    """Matches of some queries that end with one event and are known at one time: chains, or those
    of a cell whose first event is after `floor`."""

    numbers: tuple[int, ...]
    cell: Cell | list[Chain]
    floor: int | None
    time: int

    @property
    def size(self) -> int:
        """The number of chains, without enumerating them."""
        return len(self.cell) if isinstance(self.cell, list) else counted(self.cell, self.floor)

    @property
    def last(self) -> tuple[int, Event] | None:
        """The last event, and its component's place; None of an automaton that keeps none."""
        if isinstance(self.cell, list):
            return self.cell[0][-1] if self.cell[0] else None
        assert self.cell.event is not None
        return self.cell.place, self.cell.event


class FoundGroup:
    """The matches of query `number` that end with one event, and are known at one time."""

    __slots__ = ("number", "outcomes")

    def __init__(self, number: int, outcomes: list[Outcome]) -> None:
        self.number, self.outcomes = number, outcomes

    @property
    def last(self) -> tuple[int, Event] | None:
        """The event that they end with, and its component's place; None where an automaton keeps
        none."""
        return self.outcomes[0].last

    @property
    def time(self) -> int:
        """When they are known."""
        return self.outcomes[0].time

    @property
    def count(self) -> int:
        """Their number, without enumerating them."""
        return sum(outcome.size for outcome in self.outcomes)

    def matches(self) -> Iterator[Found]:
        """The matches, each once."""
        for outcome in self.outcomes:
            cell = outcome.cell
            for chain in cell if isinstance(cell, list) else chains(cell, outcome.floor):
                yield Found(self.number, Chains((chain,), None), 0, outcome.time)

    def __repr__(self) -> str:
        last = None if self.last is None else self.last[1][NUMBER]
        return f"FoundGroup({self.number}, count={self.count}, last={last}, time={self.time})"


def events_of(groups: Iterable[FoundGroup]) -> Iterator[Event]:
    """The events of the matches of some groups, without enumerating these."""
    seen: set[int] = set()
    pending: list[Cell] = []
    for group in groups:
        for outcome in group.outcomes:
            if isinstance(outcome.cell, list):
                for found in outcome.cell:
                    yield from (event for _, event in found)
            else:
                pending.append(outcome.cell)
    while pending:
        cell = pending.pop()
        if id(cell) not in seen:
            seen.add(id(cell))
            if cell.event is not None:
                yield cell.event
            if cell.before is not None:
                pending += (cell.before, *cell.further)


def found_in(outcomes: Iterable[Outcome]) -> list[Found]:
    """The matches one by one, in order of time."""
    found = list[Found]()
    for outcome in outcomes:
        several, size, time = Chains(outcome.cell, outcome.floor), outcome.size, outcome.time
        for number in outcome.numbers:
            found += [Found(number, several, place, time) for place in range(size)]
    found.sort(key=lambda match: match.time)
    return found


def grouped(outcomes: Iterable[Outcome]) -> list[FoundGroup]:
    """The matches by query, last event and time, in order of time."""
    groups: dict[tuple[int, int, int], FoundGroup] = {}
    for outcome in outcomes:
        for number in outcome.numbers:
            last = outcome.last
            key = (outcome.time, number, -1 if last is None else last[1][NUMBER])
            group = groups.get(key)
            if group is None:
                groups[key] = FoundGroup(number, [outcome])
            else:
                group.outcomes.append(outcome)
    return [groups[key] for key in sorted(groups)]
