"""Runs of an automaton over events in order of time (SASE+, section 4; patterns-afa.md, section 2).

Time goes from epoch to epoch.  Each event of an epoch moves runs as they were before it, so the
order of simultaneous events does not matter, and the epoch stays open: what it moves and what it
ends is noted, and done when a later event comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from pattern_stage.automaton import START, Automaton, Ignoring, Register
from pattern_stage.bounds import Tally
from pattern_stage.cells import Cell, Chain, bound, chains
from pattern_stage.endings import Endings
from pattern_stage.layouts import Event
from pattern_stage.members import Members, passing
from pattern_stage.moves import BoundEpsilon, BoundMove, Run
from pattern_stage.states import KeyOf, States

__all__ = ["Coming", "Runs"]

_SWEEPS = 4
"""A window is swept of what has expired so many times while it passes."""


Coming = tuple[int, tuple[int, ...], Event]
"""An event with its type, and the components that take it."""


class Runs:
    """The runs of one automaton."""

    def __init__(
        self, automaton: Automaton, members: Members, endings: Endings, buffered: bool = True
    ) -> None:
        self._buffered = buffered
        self.automaton, self.members, self.endings = automaton, members, endings
        self.epoch: int | None = None
        self._moves: dict[int, list[BoundMove]] = {}
        for move in automaton.moves:
            goes_on = any(one.source == move.target for one in automaton.moves)
            self._moves.setdefault(move.component, []).append(BoundMove(move, members, goes_on))
        functions = members.functions
        self._keys = {place: functions[name] for place, name in automaton.keys.items()}
        self._belongs = {type_: functions[name] for type_, name in automaton.belongs.items()}
        self._gates = {type_: members.gates(of) for type_, of in automaton.partition.items()}
        self._same = {at: functions[name] for at, name in automaton.same_partition.items()}
        self._negated = {one.component for one in automaton.negated}
        types = enumerate(automaton.types)
        self._several = {place for place, several in types if len(several) > 1}
        self._taken = set[tuple[int, int]]()
        """Which component has taken which event of this epoch: one of two types comes twice."""
        self._states = States(_indexes(self._moves.values()), automaton.merging)
        self._arrived: list[tuple[int, object, Run]] = []
        self._ended: list[tuple[Run, int]] = []
        self._input = 0
        self._swept: int | None = None
        self._dead = self._alive = self._came = 0
        """How many runs have ended, were there when it was swept, and have come since."""
        self._most = self._most_arrived = endings.most
        """With how many runs it is looked at which queries have too many."""
        self._starting = True

    def copy(self, endings: Endings) -> Runs:
        """Runs that go on apart."""
        other = object.__new__(Runs)
        other.__dict__ |= self.__dict__
        other.endings = endings
        same: dict[int, Run] = {}

        def apart(run: Run) -> Run:
            return same.setdefault(id(run), run.copy())

        other._states = self._states.copy(apart)
        other._taken = {*self._taken}
        other._arrived = [(state, key, apart(run)) for state, key, run in self._arrived]
        other._ended = [(apart(run), mask) for run, mask in self._ended]
        return other

    def __len__(self) -> int:
        return sum(1 for _ in self._states) + len(self._arrived)

    # An event

    def event(self, type_: int, components: Iterable[int], event: Event, seeing: int) -> None:
        """An event of a type that these components take, for the queries that see it.

        Not before the newest epoch.
        """
        time = event[0]
        if time != self.epoch:
            self._commit(time)
        ignoring = self.automaton.ignoring
        if ignoring is Ignoring.NONE:
            self._input |= seeing
        elif ignoring is Ignoring.NONE_OF_PARTITION:
            self._interrupt(type_, event, seeing)
        within = self.automaton.within
        floor = None if within is None else time - within
        for component in components:
            if component in self._several:
                if (component, event[1]) in self._taken:
                    continue
                self._taken.add((component, event[1]))
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
        if len(self._arrived) > self._most_arrived:
            self._stop(run for _, _, run in self._arrived)
            self._arrived = [one for one in self._arrived if one[2].mask]
            self._most_arrived = len(self._arrived) + self.endings.most

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
        if move.source == START:
            if self._starting:
                self._step(move, component, key, mask, (), event[0], None, event)
            return
        index = self._states.index(move.source, move.index)
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
        for alike, run in runs.items():
            moved = run.mask & mask
            if not moved or (floor is not None and run.start <= floor):
                if not run.mask or (floor is not None and run.start <= floor):
                    gone = [alike] if gone is None else [*gone, alike]
                continue
            moved = self._step(
                move, component, key, moved, run.register, run.start, run.cell, event
            )
            if moved and ended:
                self._ended.append((run, moved))
        for alike in gone or ():
            del runs[alike]
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
        """A run that goes by a move, for those queries of a mask for which it can."""
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
        if move.goes_on:
            self._arrived.append((move.target, key, Run(mask, register, start, cell)))
        if move.epsilon is not None:
            self._go_on(move.epsilon, key, mask, register, start, cell)
        if move.finishes:
            complete = mask
            if move.test is not None and not move.test(register):
                complete = 0
            if complete and move.finish_gates:
                complete = passing(move.finish_gates, complete, register)
            if complete and (move.finish_walk is None or move.finish_walk(self._events(cell))):
                self.endings.complete(complete, cell, event[0])
        return mask

    def _go_on(
        self,
        epsilon: BoundEpsilon,
        key: object,
        mask: int,
        register: Register,
        start: int,
        cell: Cell | Chain,
    ) -> None:
        """A run that has moved and goes on at once."""
        mask = passing(epsilon.gates, mask, register)
        if not mask or (epsilon.walk is not None and not epsilon.walk(self._events(cell))):
            return
        left = register if epsilon.step is None else epsilon.step(register)
        if left is not None:
            self._arrived.append((epsilon.target, key, Run(mask, left, start, cell)))

    def _events(self, cell: Cell | Chain) -> list[Any]:
        chain = cell if isinstance(cell, tuple) else next(chains(cell, None))
        return bound(chain, self.automaton.kleene)

    def _interrupt(self, type_: int, event: Event, seeing: int) -> None:
        """Ends the runs of the event's partition."""
        mask = passing(self._gates[type_], seeing, event)
        key: object = ()
        if self._belongs:
            key = self._belongs[type_](event)
            if key is None or not mask:
                return
        together = not self._keys
        for state, runs in self._states.partition(() if together else key):
            same = self._same.get((state, type_))
            for run in runs.values():
                if run.mask & mask and (same is None or same(run.register, event)):
                    self._ended.append((run, mask))

    # Between epochs

    def _commit(self, time: int | None) -> None:
        """Does what the newest epoch has noted; the next one is at `time`."""
        for run, mask in self._ended:
            run.mask &= ~mask
        self._dead += len(self._ended)
        self._ended.clear()
        if self._input:
            if self._input == self.members.everyone:
                self._states = self._states.empty()
            for run in self._states:
                run.mask &= ~self._input
            self._input = 0
        for state, key, run in self._arrived:
            self._states.add(state, key, run)
        within = self.automaton.within
        self._came += len(self._arrived)
        self._arrived.clear()
        self._most_arrived = self.endings.most
        self._bound(None if within is None or time is None else time - within)
        self._taken.clear()
        self.epoch = time
        if within is not None and time is not None:
            if self._swept is None:
                self._swept = time
            if time - self._swept > within // _SWEEPS:
                self._swept = time
                self.sweep(time - within)
        elif self._dead > self._alive + 1000:
            self.sweep(None)

    def _bound(self, floor: int | None) -> None:
        """Sees that there are not too many runs; those that have expired do not count."""
        if self._alive + self._came > self._most:
            self.sweep(floor)
            if self._alive > self._most:
                self._stop(self._states)
                self.sweep(None)
                self._most = self._alive + self.endings.most

    def _stop(self, runs: Iterable[Run]) -> None:
        """Stops the queries that have too many of these runs."""
        tally = Tally()
        for run in runs:
            tally.add(run.mask)
        gone = self.members.stop(tally, self.endings.most, "partial matches")
        if gone:
            self.drop(gone)

    def sweep(self, floor: int | None) -> None:
        """Drops what has ended, and what does not begin after `floor`."""
        self._came = 0
        # Chains stay for a window more: what prunes them copies what is behind them.
        overdue = 0 if floor is None else floor - (self.automaton.within or 0)
        self._dead, self._alive = 0, self._states.sweep(floor, overdue)
        most = self.endings.most
        self._most = max(most, min(self._most, self._alive + most))
        if floor is not None:
            self.endings.forget(floor)

    def drop(self, bit: int) -> None:
        """Forgets a query, or several."""
        for run in self._states:
            run.mask &= ~bit
        for _, _, run in self._arrived:
            run.mask &= ~bit

    # Late events, where nothing that a further event does is ever undone

    def late(self, before: Iterable[Coming], late: Coming, after: Iterable[Coming]) -> None:
        """Takes in an event before the newest epoch.  What it makes of the events before it and
        after it, in its window and not simultaneous, is added to these runs."""
        scratch = self.copy(self.endings.copy())
        scratch._states, scratch._arrived = self._states.empty(), []
        for type_, components, event in before:
            scratch.event(type_, components, event, self.members.seeing(event))
        # From here on only with what it makes.
        type_, components, event = late
        scratch._commit(event[0])
        scratch.endings = self.endings
        scratch.event(type_, components, event, self.members.seeing(event))
        scratch._states, scratch._starting = self._states.empty(), False
        for type_, components, event in after:
            scratch.event(type_, components, event, self.members.seeing(event))
        for state, key, run in scratch._states.items():
            self._states.add(state, key, run)
        self._arrived += scratch._arrived


def _indexes(moves: Iterable[list[BoundMove]]) -> dict[int, list[KeyOf]]:
    """For each state the indexes that the moves from it need, to which each gets its number."""
    indexes: dict[int, list[KeyOf]] = {}
    for move in chain.from_iterable(moves):
        there = indexes.setdefault(move.source, [])
        if move.equal_of not in there:
            there.append(move.equal_of)
        move.index = there.index(move.equal_of)
    return indexes
