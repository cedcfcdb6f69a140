"""From complete runs to matches: negation, the wait for an absence, NON OVERLAPPING.

A run is complete at its last event.  An event of a negated component may forbid it immediately (at
the start or between two components) or until start + within (at the end).  Of the remaining ones
NON OVERLAPPING reports, partition by partition and in order of time, those whose start is after the
time of the one reported before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from xscl.pattern_stage.automaton import Automaton
from xscl.pattern_stage.bounds import MOST, Exceeded, Tally
from xscl.pattern_stage.cells import Cell, Chain, best, bound, chains
from xscl.pattern_stage.found import Outcome
from xscl.pattern_stage.layouts import END, NUMBER, Event
from xscl.pattern_stage.negation import NegationIndex
from xscl.pattern_stage.query_masks import QueryMasks

__all__ = ["Endings", "Identity", "Partition"]

Identity = Callable[[int], Any]
"""The order of simultaneous events, by number, where NON OVERLAPPING has to choose."""

Partition = tuple[str | None, ...] | None
"""The values that distinguish matches which must not overlap; None where all are in one
partition."""

_TICKETS = count()


class Endings:
    """The complete runs of one automaton."""

    def __init__(
        self,
        automaton: Automaton,
        members: QueryMasks,
        overlapping: bool,
        identity: Identity,
        indexed: bool,
        most: int = MOST,
    ) -> None:
        self._automaton, self.members, self._identity = automaton, members, identity
        self.most = most
        self._built, self._built_by, self._judged_at = 0, Tally(), 2 * most
        """The number of sequences built in this step, and the queries to check from `most` on."""
        self._most_due = most
        self._negated = [NegationIndex(one, members, indexed) for one in automaton.negated]
        self._by_component = {one.negated.component: one for one in self._negated}
        self._at_end = [one for one in self._negated if one.negated.before is None]
        self._before_end = [one for one in self._negated if one.negated.before is not None]
        self._plain = overlapping and not self._negated
        self._overlapping = overlapping
        distinguished = automaton.overlap is None or bool(automaton.keys)
        self._one_partition = not overlapping and not self._negated and distinguished
        self._partition = None
        if automaton.overlap is not None:
            self._partition = members.functions[automaton.overlap]
        self._due: list[tuple[int, int, int, Chain, list[Any]]] = []
        self._competing: list[tuple[int, int, int, Chain]] = []
        self._reported: dict[tuple[int, Partition], int] = {}
        self._done: list[Outcome] = []
        self._mask, self._numbers = 0, tuple[int, ...]()
        """The queries of the last mask, by bits and by numbers."""
        self._last: Event | None = None
        """The ends of the sequences in `_chains`: those with equal ends are one outcome."""
        self._time = 0
        self._chains: list[Chain] = []

    def snapshot(self) -> Any:
        """The pending runs and the decisions, once all `outcomes` have been read."""
        pending = [*self._due], [*self._competing], self._most_due
        return [one.snapshot() for one in self._negated], pending, {**self._reported}

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot, which must not be used again."""
        negated, pending, self._reported = snapshot
        self._due, self._competing, self._most_due = pending
        for one, events in zip(self._negated, negated, strict=True):
            one.restore(events)
        self.outcomes()

    @property
    def undecided(self) -> bool:
        """Whether some complete runs are undecided."""
        return bool(self._due or self._competing)

    def negate(self, component: int, event: Event, mask: int) -> None:
        """Adds an event of a negated component."""
        self._by_component[component].add(event, mask)

    def complete(self, mask: int, cell: Cell | Chain, time: int) -> None:
        """Adds a run that is complete for the queries of a mask, with all its chains."""
        if self._plain:
            self._report(mask, cell, time)
            return
        if self._one_partition and isinstance(cell, Cell):
            # Of rivals of one time and partition the best is reported, or none.
            floor = self._floor(time)
            chain = best(cell, floor, self._order)
            if floor is None or chain[0][1][END] > floor:
                self._known(mask, chain, time)
            return
        for chain in (cell,) if isinstance(cell, tuple) else chains(cell, self._floor(time)):
            try:
                self.sequence(mask, chain, time)
            except Exceeded:
                mask &= self.members.all_queries
                if not mask:
                    return
                self.sequence(mask, chain, time)

    def sequence(self, mask: int, chain: Chain, time: int) -> None:
        """Adds a run that is complete for the queries of a mask; raises Exceeded, without adding
        it, if queries had to be stopped."""
        self._built += 1
        if self._built > self.most:
            self._count(mask)
        if len(self._due) > self._most_due:
            self._count_due()
        if self._plain:
            self._report(mask, chain, time)
            return
        if not self._negated:
            self._known(mask, chain, time)
            return
        events = bound(chain, self._automaton.kleene)
        for index in self._before_end:
            after, before = index.negated.after, index.negated.before
            assert before is not None
            low = self._floor(time) if after is None else _last(events[after])[END]
            mask &= ~index.forbidden(events, low, _first(events[before])[END], mask)
            if not mask:
                return
        within = self._automaton.within
        if self._at_end and within is not None:
            due = chain[0][1][END] + within
            heappush(self._due, (due, next(_TICKETS), mask, chain, events))
        else:
            self._known(mask, chain, time)

    def _floor(self, time: int) -> int | None:
        within = self._automaton.within
        return None if within is None else time - within

    def settle(self, time: int | None, closed: bool = False) -> None:
        """Decides what depends on no event at or after `time` (None: on no further event); `closed`
        if those at `time` have come, too."""
        while self._due and (time is None or self._due[0][0] <= time):
            due, _, mask, chain, events = heappop(self._due)
            for index in self._at_end:
                mask &= ~index.forbidden(events, chain[-1][1][END], due, mask)
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

    def _report(self, mask: int, cell: Cell | Chain, time: int) -> None:
        mask &= self.members.all_queries
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
            self._report(mask, chain, time)
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
                last = self._reported.get((number, partition))
                if last is None or chain[0][1][END] > last:
                    self._reported[number, partition] = time
                    self._done.append(Outcome((number,), [chain], None, time))

    def _order(self, chain: Chain) -> tuple[object, ...]:
        names = self._automaton.names
        events = [
            (event[END], self._identity(event[NUMBER]), names[place]) for place, event in chain
        ]
        return (-chain[0][1][END], len(chain), events)

    def outcomes(self) -> list[Outcome]:
        """The matches since the last call."""
        done, self._done, self._last = self._done, [], None
        if self._built > self.most:
            self._drop_built()
        self._built = 0
        return done

    # Bounds

    def _count(self, mask: int) -> None:
        """Counts a sequence beyond `most`, for all queries together."""
        self._built_by.add(mask)
        if self._built > self._judged_at:
            self._judged_at += self.most
            self._stop(self._built_by, "matches in one step")

    def _count_due(self) -> None:
        """Counts matches that are pending beyond `most`, for all queries together."""
        tally = Tally()
        for _, _, mask, _, _ in self._due:
            tally.add(mask)
        self._most_due = len(self._due) + self.most
        self._stop(tally, "pending matches")

    def _drop_built(self) -> None:
        self._built, self._built_by, self._judged_at = 0, Tally(), 2 * self.most

    def _stop(self, tally: Tally, what: str) -> None:
        if not self.members.stop(tally, self.most, what):
            return
        stopped, all_queries = self.members.stopped, self.members.all_queries
        self._rewrite(lambda mask, _: mask & all_queries)
        self._most_due = len(self._due) + self.most
        left = [
            one._replace(numbers=tuple([number for number in one.numbers if number not in stopped]))
            for one in self._done
        ]
        self._done, self._last = [one for one in left if one.numbers], None
        self._mask = 0
        raise Exceeded

    def _rewrite(self, of: Callable[[int, Chain], int]) -> None:
        """Restricts pending matches to the queries that a function of these and the chain
        returns."""
        self._due = [
            (*one[:2], left, *one[3:]) for one in self._due if (left := of(one[2], one[3]))
        ]
        self._competing = [
            (*one[:2], left, one[3]) for one in self._competing if (left := of(one[2], one[3]))
        ]
        heapify(self._due)
        heapify(self._competing)

    def take_back(self, last: Event, late: Event | None = None) -> None:
        """Drops the sequences of this step that end with an event and have a late one: they are
        built again."""

        def stays(chain: Chain) -> bool:
            if chain[-1][1] is not last:
                return True
            return late is not None and all(event is not late for _, event in chain)

        self._rewrite(lambda mask, chain: mask if stays(chain) else 0)
        left = [
            one if isinstance(one.cell, Cell) else one._replace(cell=[*filter(stays, one.cell)])
            for one in self._done
        ]
        self._done, self._last = [one for one in left if one.cell], None
        self._drop_built()

    def evict(self, floor: int) -> None:
        """Drops negated events that are not after a time."""
        for index in self._negated:
            index.evict(floor)
        if self._reported:
            # What an absence at its end completes may start at the floor.
            self._reported = {key: at for key, at in self._reported.items() if at >= floor}

    @property
    def reported(self) -> Mapping[tuple[int, Partition], int]:
        """By query and partition the time of the last match, where matches do not overlap."""
        return self._reported

    @reported.setter
    def reported(self, reported: Mapping[tuple[int, Partition], int]) -> None:
        self._reported = dict(reported)

    def drop(self, number: int) -> None:
        """Drops a query."""
        self._reported = {key: time for key, time in self._reported.items() if key[0] != number}


def _first(events: Any) -> Event:
    return events[0] if isinstance(events, list) else events  # type: ignore[no-any-return]


def _last(events: Any) -> Event:
    return events[-1] if isinstance(events, list) else events  # type: ignore[no-any-return]
