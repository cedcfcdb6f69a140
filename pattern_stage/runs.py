"""Runs of an automaton over events in order of time (docs/semantics.md#runs, #epochs).

Time moves from epoch to epoch.  Each event of an epoch moves runs as they were before it, so the
order of simultaneous events does not matter, and the epoch stays open: moved and ended runs are
noted, and applied when a later event comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from xscl.pattern_stage.automaton import START, Automaton, Ignoring, Register
from xscl.pattern_stage.bounds import Tally
from xscl.pattern_stage.cells import Cell, Chain, bound, chains
from xscl.pattern_stage.endings import Endings
from xscl.pattern_stage.layouts import END, NUMBER, Event
from xscl.pattern_stage.moves import BoundEpsilon, BoundMove, Run
from xscl.pattern_stage.query_masks import QueryMasks, passing
from xscl.pattern_stage.run_index import KeyOf, RunIndex

__all__ = ["Coming", "Runs"]

_SWEEPS = 4
"""Expired runs are swept so many times per window."""


Coming = tuple[int, tuple[int, ...], Event]
"""An event with its type, and the components that take it."""


@dataclass(slots=True)
class Alive:
    """The runs that are alive, and the notes of the newest epoch."""

    states: RunIndex
    most: int
    most_arrived: int
    """At so many runs it is checked which queries have too many."""
    epoch: int | None = None
    taken: set[tuple[int, int]] = field(default_factory=set)
    """Which component has taken which event of this epoch: an event of two types comes twice."""
    arrived: list[tuple[int, object, Run]] = field(default_factory=list)
    ended: list[tuple[Run, int]] = field(default_factory=list)
    input: int = 0
    """The queries that have had an event."""
    swept: int | None = None
    dead: int = 0
    """The number of ended runs."""
    left: int = 0
    """The number of runs after the last sweep."""
    came: int = 0
    """The number of runs since."""


class Runs:
    """The runs of one automaton."""

    def __init__(
        self, automaton: Automaton, members: QueryMasks, endings: Endings, buffered: bool = True
    ) -> None:
        self._buffered = buffered
        self.automaton, self.members, self.endings = automaton, members, endings
        self._moves: dict[int, list[BoundMove]] = {}
        for move in automaton.moves:
            continues = any(one.source == move.target for one in automaton.moves)
            self._moves.setdefault(move.component, []).append(BoundMove(move, members, continues))
        functions = members.functions
        self._keys = {place: functions[name] for place, name in automaton.keys.items()}
        self._belongs = {type_: functions[name] for type_, name in automaton.belongs.items()}
        self._gates = {type_: members.gates(of) for type_, of in automaton.partition.items()}
        self._same = {at: functions[name] for at, name in automaton.same_partition.items()}
        self._negated = {one.component for one in automaton.negated}
        types = enumerate(automaton.types)
        self._several = {place for place, several in types if len(several) > 1}
        self._indexes = _indexes(self._moves.values())
        self._alive = self._none()
        self._starting = self._completing = True
        """Whether runs may begin, and be complete."""

    def _none(self) -> Alive:
        """No run."""
        most = self.endings.most
        return Alive(RunIndex(self._indexes, self.automaton.merging), most, most)

    @property
    def epoch(self) -> int | None:
        """The time of the newest events."""
        return self._alive.epoch

    def snapshot(self) -> Alive:
        """What is alive."""
        copies: dict[int, Run] = {}

        def copied(run: Run) -> Run:
            return copies.setdefault(id(run), run.copy())

        alive = self._alive
        return replace(
            alive,
            states=alive.states.copy(copied),
            taken={*alive.taken},
            arrived=[(state, key, copied(run)) for state, key, run in alive.arrived],
            ended=[(copied(run), mask) for run, mask in alive.ended],
        )

    def restore(self, snapshot: Alive) -> None:
        """Restores a snapshot, which must not be used again."""
        self._alive = snapshot

    def __len__(self) -> int:
        alive = self._alive
        return sum(1 for _ in alive.states) + len(alive.arrived)

    # An event

    def event(self, type_: int, components: Iterable[int], event: Event, seeing: int) -> None:
        """An event of a type that these components take, for the queries that see it.

        Not before the newest epoch.
        """
        alive = self._alive
        time = event[END]
        if time != alive.epoch:
            self._commit(time)
        ignoring = self.automaton.ignoring
        if ignoring is Ignoring.NONE:
            alive.input |= seeing
        elif ignoring is Ignoring.NONE_OF_PARTITION:
            self._interrupt(type_, event, seeing)
        within = self.automaton.within
        floor = None if within is None else time - within
        for component in components:
            if component in self._several:
                if (component, event[NUMBER]) in alive.taken:
                    continue
                alive.taken.add((component, event[NUMBER]))
            if component in self._negated:
                self.endings.negate(component, event, seeing)
                continue
            key: object = ()
            if self._keys:
                key = self._keys[component](event)
                if key is None:
                    continue
            for move in self._moves[component]:
                mask = move.admitted(event, seeing)
                if mask:
                    self._move(move, component, key, mask, floor, event)
        if len(alive.arrived) > alive.most_arrived:
            self._stop(run for _, _, run in alive.arrived)
            alive.arrived = [one for one in alive.arrived if one[2].mask]
            alive.most_arrived = len(alive.arrived) + self.endings.most

    def _move(
        self,
        move: BoundMove,
        component: int,
        key: object,
        mask: int,
        floor: int | None,
        event: Event,
    ) -> None:
        """All runs that a move takes with an event."""
        alive = self._alive
        if move.source == START:
            if self._starting:
                self._step(move, component, key, mask, (), event[END], None, event)
            return
        index = alive.states.index(move.source, move.index)
        if index is None:
            return
        found = key
        if move.equal is not None:
            values = move.equal(event)
            if values is None:
                return
            found = (key, values)
        runs = index.get(found)
        if not runs:
            return
        gone = None
        ended = move.stops and self.automaton.ignoring is Ignoring.UNMOVED
        for run_key, run in runs.items():
            moved = run.mask & mask
            if not moved or (floor is not None and run.start <= floor):
                if not run.mask or (floor is not None and run.start <= floor):
                    gone = [run_key] if gone is None else [*gone, run_key]
                continue
            moved = self._step(
                move, component, key, moved, run.register, run.start, run.cell, event
            )
            if moved and ended:
                alive.ended.append((run, moved))
        for run_key in gone or ():
            del runs[run_key]
        if not runs:
            del index[found]

    def _step(
        self,
        move: BoundMove,
        component: int,
        key: object,
        mask: int,
        register: Register,
        start: int,
        before: Cell | Chain | None,
        event: Event,
    ) -> int:
        """A run after a move, for those queries of a mask for which it can move."""
        if move.gates:
            mask = passing(move.gates, mask, register, event)
            if not mask:
                return 0
        if move.step is not None:
            register = move.step(register, event)
            if register is None:
                return 0
        cell: Cell | Chain
        if self._buffered:
            cell = Cell(event, component, before)  # type: ignore[arg-type]
        else:
            cell = (*(before or ()), (component, event))  # type: ignore[misc]
        if move.walk is not None and not move.walk(self._events(cell)):
            return 0
        if move.continues:
            self._alive.arrived.append((move.target, key, Run(mask, register, start, cell)))
        if move.epsilon is not None:
            self._continue(move.epsilon, key, mask, register, start, cell)
        if move.finishes and self._completing:
            complete = mask
            if move.test is not None and not move.test(register):
                complete = 0
            if complete and move.finish_gates:
                complete = passing(move.finish_gates, complete, register)
            if complete and (move.finish_walk is None or move.finish_walk(self._events(cell))):
                self.endings.complete(complete, cell, event[END])
        return mask

    def _continue(
        self,
        epsilon: BoundEpsilon,
        key: object,
        mask: int,
        register: Register,
        start: int,
        cell: Cell | Chain,
    ) -> None:
        """Makes the further moves of a run that has moved."""
        mask = passing(epsilon.gates, mask, register)
        if not mask or (epsilon.walk is not None and not epsilon.walk(self._events(cell))):
            return
        left = register if epsilon.step is None else epsilon.step(register)
        if left is not None:
            self._alive.arrived.append((epsilon.target, key, Run(mask, left, start, cell)))

    def _events(self, cell: Cell | Chain) -> list[Any]:
        chain = cell if isinstance(cell, tuple) else next(chains(cell, None))
        return bound(chain, self.automaton.kleene)

    def _interrupt(self, type_: int, event: Event, seeing: int) -> None:
        """Ends the runs of the event's partition."""
        alive = self._alive
        mask = passing(self._gates[type_], seeing, event)
        key: object = ()
        if self._belongs:
            key = self._belongs[type_](event)
            if key is None or not mask:
                return
        together = not self._keys
        for state, runs in alive.states.partition(() if together else key):
            same = self._same.get((state, type_))
            for run in runs.values():
                if run.mask & mask and (same is None or same(run.register, event)):
                    alive.ended.append((run, mask))

    # Between epochs

    def _commit(self, time: int | None) -> None:
        """Applies the notes of the newest epoch; the next one is at `time`."""
        alive = self._alive
        for run, mask in alive.ended:
            run.mask &= ~mask
        alive.dead += len(alive.ended)
        alive.ended.clear()
        if alive.input:
            if alive.input == self.members.all_queries:
                alive.states = alive.states.empty()
            for run in alive.states:
                run.mask &= ~alive.input
            alive.input = 0
        for state, key, run in alive.arrived:
            alive.states.add(state, key, run)
        within = self.automaton.within
        alive.came += len(alive.arrived)
        alive.arrived.clear()
        alive.most_arrived = self.endings.most
        self._bound(None if within is None or time is None else time - within)
        alive.taken.clear()
        alive.epoch = time
        if within is not None and time is not None:
            if alive.swept is None:
                alive.swept = time
            if time - alive.swept > within // _SWEEPS:
                alive.swept = time
                self.sweep(time - within)
        elif alive.dead > alive.left + 1000:
            self.sweep(None)

    def _bound(self, floor: int | None) -> None:
        """Checks that there are not too many runs; expired ones do not count."""
        alive = self._alive
        if alive.left + alive.came > alive.most:
            self.sweep(floor)
            if alive.left > alive.most:
                self._stop(alive.states)
                self.sweep(None)
                alive.most = alive.left + self.endings.most

    def _stop(self, runs: Iterable[Run]) -> None:
        """Stops the queries that have too many of these runs."""
        tally = Tally()
        for run in runs:
            tally.add(run.mask)
        gone = self.members.stop(tally, self.endings.most, "partial matches")
        if gone:
            self.drop(gone)

    def sweep(self, floor: int | None) -> None:
        """Drops ended runs, and those that do not begin after `floor`."""
        alive = self._alive
        alive.came = 0
        # Chains stay for one more window: pruning copies the cells after them.
        overdue = 0 if floor is None else floor - (self.automaton.within or 0)
        alive.dead, alive.left = 0, alive.states.sweep(floor, overdue)
        most = self.endings.most
        alive.most = max(most, min(alive.most, alive.left + most))
        if floor is not None:
            self.endings.evict(floor)

    def drop(self, bit: int) -> None:
        """Drops a query, or several."""
        alive = self._alive
        for run in alive.states:
            run.mask &= ~bit
        for _, _, run in alive.arrived:
            run.mask &= ~bit

    # Late events, where no further event undoes anything.

    def late(self, before: Iterable[Coming], late: Coming, after: Iterable[Coming]) -> None:
        """Processes an event before the newest epoch.  Its runs with the events before it and after
        it, in its window and not simultaneous, are added to these runs."""
        alive, self._alive = self._alive, self._none()
        self._completing = False
        for type_, components, event in before:
            self.event(type_, components, event, self.members.seeing(event))
        # From here on only with its runs.
        type_, components, event = late
        self._commit(event[END])
        self._completing = True
        self.event(type_, components, event, self.members.seeing(event))
        self._alive.states, self._starting = self._alive.states.empty(), False
        for type_, components, event in after:
            self.event(type_, components, event, self.members.seeing(event))
        made, self._alive, self._starting = self._alive, alive, True
        for state, key, run in made.states.items():
            alive.states.add(state, key, run)
        alive.arrived += made.arrived


def _indexes(moves: Iterable[list[BoundMove]]) -> dict[int, list[KeyOf]]:
    """For each state the indexes that the moves from it need; each move gets the number of its
    index."""
    indexes: dict[int, list[KeyOf]] = {}
    for move in chain.from_iterable(moves):
        there = indexes.setdefault(move.source, [])
        if move.equal_of not in there:
            there.append(move.equal_of)
        move.index = there.index(move.equal_of)
    return indexes
