"""From runs that are complete to matches: negation, the wait for an absence, NON OVERLAPPING.

A run is complete at its last event.  An event of a negated component may forbid it at once (at
the start or between two components) or until start + within (at the end).  Of those that are left
NON OVERLAPPING tells, partition by partition and in order of time, one whose start is after the
time of the one told before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from pattern_stage.automaton import Automaton
from pattern_stage.bounds import MOST, Exceeded, Tally
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
        self._automaton, self.members, self._identity = automaton, members, identity
        self.most = most
        self._built, self._built_by, self._judged_at = 0, Tally(), 2 * most
        """How many sequences have been built in this step, and from `most` on for whom."""
        self._most_due = most
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
        other._forget_built()
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
            try:
                self.sequence(mask, chain, time)
            except Exceeded:
                mask &= self.members.everyone
                if not mask:
                    return
                self.sequence(mask, chain, time)

    def sequence(self, mask: int, chain: Chain, time: int) -> None:
        """A run that is complete for the queries of a mask; raises Exceeded, without having taken
        it, if queries had to be stopped."""
        self._built += 1
        if self._built > self.most:
            self._count(mask)
        if len(self._due) > self._most_due:
            self._count_due()
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
        mask &= self.members.everyone
        if mask != self._mask:
            self._mask, self._numbers = mask, tuple(self.members.numbers(mask))
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
            for number in self.members.numbers(mask):
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
        if self._built > self.most:
            self._forget_built()
        self._built = 0
        return done

    # Bounds

    def _count(self, mask: int) -> None:
        """A sequence more than `most`, of all queries together."""
        self._built_by.add(mask)
        if self._built > self._judged_at:
            self._judged_at += self.most
            self._stop(self._built_by, "matches in one step")

    def _count_due(self) -> None:
        """More matches are pending than `most`, of all queries together."""
        tally = Tally()
        for _, _, mask, _, _ in self._due:
            tally.add(mask)
        self._most_due = len(self._due) + self.most
        self._stop(tally, "pending matches")

    def _forget_built(self) -> None:
        self._built, self._built_by, self._judged_at = 0, Tally(), 2 * self.most

    def _stop(self, tally: Tally, what: str) -> None:
        if not self.members.stop(tally, self.most, what):
            return
        stopped, everyone = self.members.stopped, self.members.everyone
        self._due = [
            (due, ticket, mask & everyone, chain, events)
            for due, ticket, mask, chain, events in self._due
            if mask & everyone
        ]
        self._competing = [
            (time, ticket, mask & everyone, chain)
            for time, ticket, mask, chain in self._competing
            if mask & everyone
        ]
        heapify(self._due)
        heapify(self._competing)
        self._most_due = len(self._due) + self.most
        left = [
            one._replace(numbers=tuple([number for number in one.numbers if number not in stopped]))
            for one in self._done
        ]
        self._done, self._last = [one for one in left if one.numbers], None
        self._mask = 0
        raise Exceeded

    def take_back(self, last: Event, late: Event | None = None) -> None:
        """Forgets the sequences of this step that end with an event and have a late one: they are
        built again."""

        def stays(chain: Chain) -> bool:
            if chain[-1][1] is not last:
                return True
            return late is not None and all(event is not late for _, event in chain)

        self._due = [one for one in self._due if stays(one[3])]
        self._competing = [one for one in self._competing if stays(one[3])]
        heapify(self._due)
        heapify(self._competing)
        left = [
            one if isinstance(one.cell, Cell) else one._replace(cell=[*filter(stays, one.cell)])
            for one in self._done
        ]
        self._done, self._last = [one for one in left if one.cell], None
        self._forget_built()

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
