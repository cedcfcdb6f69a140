"""Sequences in which any event may be skipped: SASE's scan over active instance stacks.

Each component has its events in order of time, by key.  An event of the last component constructs
the sequences that end with it.  Where a further event only adds sequences, a late one does so, too:
each later event of the last component constructs the sequences with the late one in its place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from xscl.pattern_stage.automaton import Automaton
from xscl.pattern_stage.bounds import Exceeded
from xscl.pattern_stage.endings import Endings
from xscl.pattern_stage.layouts import END, NUMBER, Event
from xscl.pattern_stage.query_masks import QueryMasks

__all__ = ["Stacks"]

Entry = tuple[Event, Any]
"""An event with the queries whose scan it passes; where components share stacks, with those and its
component."""

Stack = dict[object, tuple[list[int], list[Entry]]]
"""By key the times of events, and these."""

_SWEEPS = 4
"""Expired events are swept so many times per window."""


class Stacks:
    """The events of the components of one sequence."""

    def __init__(
        self,
        automaton: Automaton,
        members: QueryMasks,
        endings: Endings,
        without: frozenset[str],
        late: bool,
    ) -> None:
        sequence = automaton.sequence
        assert sequence is not None
        functions = members.functions
        self.endings = endings
        self._within = None if "windows in scan" in without else automaton.within
        self._window, self._late = automaton.within, late
        self._first, self._last = sequence.components[0], sequence.components[-1]
        self._scans = {
            place: (members.scan(scan), functions[key] if key else None)
            for place, scan, key in zip(
                sequence.components, sequence.scans, sequence.keys, strict=True
            )
        }
        self._construct: Callable[..., None] = functions[sequence.construct]
        self._gates = [members.passed(gate) for gate in sequence.gates]
        self._shared = "active instance stacks" in without
        self._stacks: list[Stack] = [{} for _ in automaton.types]
        if self._shared:
            self._stacks = [self._stacks[0]] * len(automaton.types)
        types = enumerate(automaton.types)
        self._several = {place for place, several in types if len(several) > 1}
        self._taken = set[tuple[int, int]]()
        self._taken_at: int | None = None
        self._swept: int | None = None
        self.epoch: int | None = None
        self._floor: int | None = None
        self._tests = sequence.tests

    def snapshot(self) -> Any:
        """The stacks, and their times."""
        same = {id(stack): stack for stack in self._stacks}
        copies = {
            one: {key: ([*times], [*entries]) for key, (times, entries) in stack.items()}
            for one, stack in same.items()
        }
        stacks = [copies[id(stack)] for stack in self._stacks]
        return stacks, {*self._taken}, self._taken_at, self._swept, self._floor, self.epoch

    def restore(self, snapshot: Any) -> None:
        """Restores the stacks of a snapshot, which must not be used again."""
        stacks, self._taken, self._taken_at, self._swept, self._floor, self.epoch = snapshot
        self._stacks = stacks

    def __len__(self) -> int:
        stacks = {id(stack): stack for stack in self._stacks}.values()
        return sum(len(times) for stack in stacks for times, _ in stack.values())

    def event(self, type_: int, components: Iterable[int], event: Event, seeing: int) -> None:
        """Processes an event of a type that these components take, for the queries that see it: not
        before the newest one, except where late ones may come."""
        time = event[END]
        newest = self.epoch is None or time >= self.epoch
        if newest:
            self.epoch = time
            if not self._late and self._within is not None:
                self._expire(time - self._within)
        for component in components:
            scan = self._scans.get(component)
            if scan is None:
                self.endings.negate(component, event, seeing)
                continue
            if component in self._several and self._taken_before(component, event):
                continue
            admitted, key_of = scan
            mask = admitted(event, seeing)
            if not mask:
                continue
            key = () if key_of is None else key_of(event)
            if key is None:
                continue
            if component == self._last:
                self._build(event, mask, self._stacks)
                if not self._late or self._first == self._last:
                    continue
            elif not newest:
                self._construct_late(component, key, event, mask)
            self._push(component, key, event, mask)

    def _taken_before(self, component: int, event: Event) -> bool:
        """Whether a component of several types has taken an event already, as of another type."""
        if event[END] != self._taken_at:
            self._taken_at = event[END]
            self._taken.clear()
        if (component, event[NUMBER]) in self._taken:
            return True
        self._taken.add((component, event[NUMBER]))
        return False

    def _push(self, component: int, key: object, event: Event, mask: int) -> None:
        stack = self._stacks[component]
        bucket = stack.get(key)
        if bucket is None:
            bucket = stack[key] = ([], [])
        times, entries = bucket
        entry = (event, (component, mask) if self._shared else mask)
        if not times or event[END] >= times[-1]:
            times.append(event[END])
            entries.append(entry)
        else:
            place = bisect_right(times, event[END])
            times.insert(place, event[END])
            entries.insert(place, entry)
        if self._floor is not None and times[0] <= self._floor:
            gone = bisect_right(times, self._floor)
            if 2 * gone > len(times):
                del times[:gone], entries[:gone]

    def _construct_late(self, component: int, key: Any, event: Event, mask: int) -> None:
        """Constructs the sequences that have an event in its place, and end with one that came
        before it."""
        bucket = self._stacks[self._last].get(key[: self._tests])
        if bucket is None:
            return
        stacks = [*self._stacks]
        entry = (event, (component, mask) if self._shared else mask)
        stacks[component] = {key: ([event[END]], [entry])}
        times, entries = bucket
        for place in range(bisect_right(times, event[END]), len(times)):
            if self._window is not None and times[place] - self._window >= event[END]:
                break
            last, seeing = entries[place]
            if self._shared:
                of, seeing = seeing
                if of != self._last:
                    continue
            self._build(last, seeing, stacks, event)

    def _build(
        self, last: Event, mask: int, stacks: list[Stack], late: Event | None = None
    ) -> None:
        """The sequences that end with an event; with `late`, those that have the late one."""
        endings = self.endings
        while mask:
            try:
                self._construct(last, mask, stacks, self._gates, endings.sequence)
            except Exceeded:
                # Some have exceeded a bound: the others' sequences are searched separately.
                mask &= endings.members.all_queries
                endings.take_back(last, late)
            else:
                return

    def advance(self, watermark: int) -> None:
        """No event before the watermark will come any more."""
        if self._late and self._within is not None:
            self._expire(watermark - self._within)

    def _expire(self, floor: int) -> None:
        """Events that are not after `floor` can be in no sequence that is still to come."""
        assert self._within is not None
        self._floor = floor
        if self._swept is None:
            self._swept = floor
        if floor - self._swept <= self._within // _SWEEPS:
            return
        self._swept = floor
        for stack in self._stacks:
            for key, (times, entries) in [*stack.items()]:
                gone = bisect_right(times, floor)
                if gone == len(times):
                    del stack[key]
                elif gone:
                    del times[:gone], entries[:gone]
        self.endings.evict(floor)

    def drop(self, bit: int) -> None:
        """Removes a query: it is in no further match."""
