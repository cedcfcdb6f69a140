"""From runs that are complete to matches: negation, the wait for an absence, NON OVERLAPPING.

A run is complete at its last event.  An event of a negated component may forbid it at once (at
the start or between two components) or until start + within (at the end).  Of those that are left
NON OVERLAPPING tells, partition by partition and in order of time, one whose start is after the
time of the one told before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import Any

from pattern_stage.automaton import Automaton
from pattern_stage.bounds import MOST, Exceeded
from pattern_stage.cells import Cell, Chain, best, bound, chains
from pattern_stage.found import Outcome
from pattern_stage.layouts import Event
from pattern_stage.members import Members
from pattern_stage.negation import NegationIndex

__all__ = ["Endings", "Identity", "Partition"]

Identity = Callable[[int], Any]
"""What orders events of one time, by number, where NON OVERLAPPING has to choose."""

Partition = tuple[str | None, ...] | None
"""Values by which matches are told apart that must not overlap; None where all are one."""

_TICKETS = count()


class Endings:
    """The complete runs of one automaton."""

    def __init__(
        self,
        automaton: Automaton,
        members: Members,
        overlapping: bool,
        identity: Identity,
        indexed: bool,
        most: int = MOST,
    ) -> None:
        self.most = most
        self._gone_through = 0
        """How many sequences have been gone through in this step."""
        self._automaton, self._members, self._identity = automaton, members, identity
        self._negated = [NegationIndex(one, members, indexed) for one in automaton.negated]
        self._by_component = {one.negated.component: one for one in self._negated}
        self._at_end = [one for one in self._negated if one.negated.before is None]
        self._before_end = [one for one in self._negated if one.negated.before is not None]
        self._plain = overlapping and not self._negated
        self._overlapping = overlapping
        alike = automaton.overlap is None or bool(automaton.keys)
        self._one_partition = not overlapping and not self._negated and alike
        self._partition = None
        if automaton.overlap is not None:
            self._partition = members.functions[automaton.overlap]
        self._due: list[tuple[int, int, int, Chain, list[Any]]] = []
        self._competing: list[tuple[int, int, int, Chain]] = []
        self._told: dict[tuple[int, Partition], int] = {}
        self._done: list[Outcome] = []
        self._mask, self._numbers = 0, tuple[int, ...]()
        """The queries of the last mask, by bits and by numbers."""
        self._last: Event | None = None
        """What the sequences in `_chains` end with: those that end alike are one outcome."""
        self._time = 0
        self._chains: list[Chain] = []

    def copy(self) -> Endings:
        """One that goes on apart."""
        other = object.__new__(Endings)
        other.__dict__ |= self.__dict__
        copies = [one.copy() for one in self._negated]
        other._negated = copies
        other._by_component = {one.negated.component: one for one in copies}
        other._at_end = [one for one in copies if one.negated.before is None]
        other._before_end = [one for one in copies if one.negated.before is not None]
        other._due, other._competing = [*self._due], [*self._competing]
        other._told, other._done, other._last = {**self._told}, [], None
        return other

    @property
    def waiting(self) -> bool:
        """Whether runs are complete of which it is not known whether they are matches."""
        return bool(self._due or self._competing)

    def negate(self, component: int, event: Event, mask: int) -> None:
        """An event of a negated component."""
        self._by_component[component].add(event, mask)

    def complete(self, mask: int, cell: Cell | Chain, time: int) -> None:
        """A run that is complete for the queries of a mask, with all its chains."""
        if self._plain:
            self._tell(mask, cell, time)
            return
        if self._one_partition and isinstance(cell, Cell):
            # Of rivals of one time and partition that which is best is told, or none.
            chain, floor = best(cell, self._order), self._floor(time)
            if floor is None or chain[0][1][0] > floor:
                self._known(mask, chain, time)
            return
        for chain in (cell,) if isinstance(cell, tuple) else chains(cell, self._floor(time)):
            self.sequence(mask, chain, time)

    def sequence(self, mask: int, chain: Chain, time: int) -> None:
        """A run that is complete for the queries of a mask."""
        self._gone_through += 1
        if self._gone_through > self.most:
            raise Exceeded(self.most, "matches in one step")
        if len(self._due) > self.most:
            raise Exceeded(self.most, "pending matches")
        if self._plain:
            self._tell(mask, chain, time)
            return
        if not self._negated:
            self._known(mask, chain, time)
            return
        events = bound(chain, self._automaton.kleene)
        for index in self._before_end:
            after, before = index.negated.after, index.negated.before
            assert before is not None
            low = self._floor(time) if after is None else _last(events[after])[0]
            mask &= ~index.forbidden(events, low, _first(events[before])[0], mask)
            if not mask:
                return
        within = self._automaton.within
        if self._at_end and within is not None:
            due = chain[0][1][0] + within
            heappush(self._due, (due, next(_TICKETS), mask, chain, events))
        else:
            self._known(mask, chain, time)

    def _floor(self, time: int) -> int | None:
        within = self._automaton.within
        return None if within is None else time - within

    def settle(self, time: int | None, closed: bool = False) -> None:
        """Decides what depends on no event at or after `time` (None: on none that will come);
        `closed` if those at `time` have come, too."""
        while self._due and (time is None or self._due[0][0] <= time):
            due, _, mask, chain, events = heappop(self._due)
            for index in self._at_end:
                mask &= ~index.forbidden(events, chain[-1][1][0], due, mask)
            if mask:
                self._known(mask, chain, due)
        while self._competing:
            at = self._competing[0][0]
            if time is not None and (at > time or (at == time and not closed)):
                break
            rivals = []
            while self._competing and self._competing[0][0] == at:
                _, _, mask, chain = heappop(self._competing)
                rivals.append((mask, chain))
            self._choose(at, rivals)

    def _tell(self, mask: int, cell: Cell | Chain, time: int) -> None:
        mask &= self._members.everyone
        if mask != self._mask:
            self._mask, self._numbers = mask, tuple(self._members.numbers(mask))
            self._last = None
        if not mask:
            return
        if isinstance(cell, Cell):
            self._done.append(Outcome(self._numbers, cell, self._floor(time), time))
            return
        last = cell[-1][1]
        if last is self._last and time == self._time:
            self._chains.append(cell)
            return
        self._last, self._time, self._chains = last, time, [cell]
        self._done.append(Outcome(self._numbers, self._chains, None, time))

    def _known(self, mask: int, chain: Chain, time: int) -> None:
        if self._overlapping:
            self._tell(mask, chain, time)
        else:
            heappush(self._competing, (time, next(_TICKETS), mask, chain))

    def _choose(self, time: int, rivals: list[tuple[int, Chain]]) -> None:
        if len(rivals) > 1:
            rivals.sort(key=lambda one: self._order(one[1]))
        for mask, chain in rivals:
            partition = None
            if self._partition is not None:
                partition = self._partition(bound(chain, self._automaton.kleene))
            for number in self._members.numbers(mask):
                told = self._told.get((number, partition))
                if told is None or chain[0][1][0] > told:
                    self._told[number, partition] = time
                    self._done.append(Outcome((number,), [chain], None, time))

    def _order(self, chain: Chain) -> tuple[object, ...]:
        names = self._automaton.names
        events = [(event[0], self._identity(event[1]), names[place]) for place, event in chain]
        return (-chain[0][1][0], len(chain), events)

    def outcomes(self) -> list[Outcome]:
        """The matches since the last call."""
        done, self._done, self._last = self._done, [], None
        self._gone_through = 0
        return done

    def clear(self) -> None:
        """Drops all that is pending."""
        self._due, self._competing, self._done, self._last = [], [], [], None
        for index in self._negated:
            index.clear()

    def forget(self, floor: int) -> None:
        """Drops negated events that are not after a time."""
        for index in self._negated:
            index.forget(floor)

    @property
    def reported(self) -> Mapping[tuple[int, Partition], int]:
        """By query and partition the time of the last match, where matches do not overlap."""
        return self._told

    @reported.setter
    def reported(self, reported: Mapping[tuple[int, Partition], int]) -> None:
        self._told = dict(reported)

    def drop(self, number: int) -> None:
        """Forgets a query."""
        self._told = {key: time for key, time in self._told.items() if key[0] != number}


def _first(events: Any) -> Event:
    return events[0] if isinstance(events, list) else events  # type: ignore[no-any-return]


def _last(events: Any) -> Event:
    return events[-1] if isinstance(events, list) else events  # type: ignore[no-any-return]
