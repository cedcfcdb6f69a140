"""The arcs of an automaton with their lives, as a table for each time between two changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat

from xscl.pattern_stage.automata.program import Life
from xscl.pattern_stage.automata.tables import PassedGates, Step, Table
from xscl.pattern_stage.automata.texts import CompiledArc
from xscl.pattern_stage.layouts import TypedEvent

__all__ = ["LivingArcs"]

_TABLES = 256
"""So many tables are remembered, for when the same arcs live together again."""

_FIRST, _LAST = float("-inf"), float("inf")


class LivingArcs:
    """`make` makes the table of some arcs."""

    def __init__(self, make: Callable[[Iterable[CompiledArc]], Table]) -> None:
        self._make = make
        self._arcs: list[tuple[Life, CompiledArc]] = []
        self._changes: list[float] = [_FIRST]
        self._tables: list[Table | None] = [None]
        self._made: dict[frozenset[CompiledArc], Table] = {}
        self._live: dict[int, CompiledArc] = {}
        """The arcs that live from a change on, by their places; of which change is `_place`."""
        self._place = -1
        self._edges: dict[float, list[int]] = {}
        """By change the places of the arcs whose lives begin or end with it."""
        self.opens = self.closes = self.epsilon = False
        """Whether there are arcs that fire when a window opens, when it closes, or at any time."""

    def replace(self, arcs: Iterable[tuple[Life, CompiledArc]]) -> None:
        """From now on these are the arcs."""
        self._arcs = [*arcs]
        kinds = {one.arc.kind for _, one in self._arcs}
        self.opens, self.closes, self.epsilon = (
            kind in kinds for kind in ("start", "end", "epsilon")
        )
        self._edges = {}
        for at, (life, _) in enumerate(self._arcs):
            for bound in life:
                self._edges.setdefault(bound, []).append(at)
        self._changes = sorted(self._edges.keys() - {_LAST} | {_FIRST})
        self._tables = [None] * len(self._changes)
        self._live, self._place = {}, -1

    def at(self, time: float) -> Table:
        """The table of a time."""
        place = bisect_right(self._changes, time) - 1 if len(self._changes) > 1 else 0
        table = self._tables[place]
        return self._made_at(place) if table is None else table

    def _made_at(self, place: int) -> Table:
        """Makes the table of the times after a change, or finds it again."""
        if place < self._place:
            self._live, self._place = {}, -1
        for time in self._changes[self._place + 1 : place + 1]:
            for at in self._edges.get(time, ()):
                # A life that is empty begins and ends with the same change.
                (since, until), one = self._arcs[at]
                if since <= time < until:
                    self._live[at] = one
                else:
                    self._live.pop(at, None)
        self._place = place
        live = frozenset(self._live.values())
        table = self._made.get(live)
        if table is None:
            if len(self._made) >= _TABLES:
                self._made.clear()
            table = self._made[live] = self._make([self._live[at] for at in sorted(self._live)])
        self._tables[place] = table
        return table

    def remake(self) -> None:
        """Tables of before are of other states or runs."""
        self._made.clear()

    def steps(self, events: Sequence[TypedEvent], times: Sequence[float]) -> Iterator[Step]:
        """What events in order of time do, each by the table of its time."""
        changes, table = self._changes, self.at(times[0])
        change = bisect_right(changes, times[0])
        if change == len(changes) or times[-1] < changes[change]:
            return zip(events, repeat(table), table.plans(events), strict=False)
        return self._in_turn(events, times, change)

    def _in_turn(
        self, events: Sequence[TypedEvent], times: Sequence[float], change: int
    ) -> Iterator[Step]:
        """As `steps`, from change to change, of which the next one is given."""
        place, changes = 0, self._changes
        # What their gates say of events is the same before and after a change.
        passed = PassedGates(events)
        while place < len(events):
            table, upto = self._tables[change - 1] or self._made_at(change - 1), len(events)
            if change < len(changes):
                upto = bisect_left(times, changes[change], place)
            some = events[place:upto]
            yield from zip(some, repeat(table), passed.plans(table, some, place), strict=False)
            place = upto
            if place < len(events):
                change = bisect_right(changes, times[place], change)

    def spans(self, since: float, until: float) -> Iterator[tuple[Table, float, float]]:
        """The tables of the times after `since`, up to and with `until`, each with its share."""
        while since < until:
            time = since + 1
            place = bisect_right(self._changes, time)
            end = self._changes[place] - 1 if place < len(self._changes) else _LAST
            yield self.at(time), since, min(until, end)
            since = end
