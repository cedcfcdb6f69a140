"""The arcs of an automaton with their lives, as a table for each time between two changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat

from xscl.pattern_stage.automata.program import Life
from xscl.pattern_stage.automata.tables import Step, Table, TypedEvent
from xscl.pattern_stage.automata.texts import CompiledArc
from xscl.pattern_stage.layouts import END

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
        self._made: dict[tuple[CompiledArc, ...], Table] = {}
        self.opens = self.closes = False
        """Whether there are arcs that fire when a window opens, or when it closes."""

    def replace(self, arcs: Iterable[tuple[Life, CompiledArc]]) -> None:
        """From now on these are the arcs."""
        self._arcs = [*arcs]
        kinds = {one.arc.kind for _, one in self._arcs}
        self.opens, self.closes = "start" in kinds, "end" in kinds
        bounds = {bound for life, _ in self._arcs for bound in life}
        self._changes = sorted(bounds - {_LAST} | {_FIRST})
        self._tables = [None] * len(self._changes)

    def at(self, time: float) -> Table:
        """The table of a time."""
        place = bisect_right(self._changes, time) - 1 if len(self._changes) > 1 else 0
        table = self._tables[place]
        if table is None:
            time = self._changes[place]
            live = tuple([one for (at, until), one in self._arcs if at <= time < until])
            table = self._made.get(live)
            if table is None:
                if len(self._made) >= _TABLES:
                    self._made.clear()
                table = self._made[live] = self._make(live)
            self._tables[place] = table
        return table

    def remake(self) -> None:
        """Tables of before are of other states or runs."""
        self._made.clear()

    def steps(self, events: Sequence[TypedEvent]) -> list[Step]:
        """What events in order of time do, each by the table of its time."""
        place, changes, steps = 0, self._changes, list[Step]()
        while place < len(events):
            time = events[place][1][END]
            table, change, upto = self.at(time), bisect_right(changes, time), len(events)
            if change < len(changes):
                upto = bisect_left(events, changes[change], place, key=_time)
            some = events[place:upto]
            steps += zip(some, repeat(table), table.plans(some))
            place = upto
        return steps

    def spans(self, since: float, until: float) -> Iterator[tuple[Table, float, float]]:
        """The tables of the times after `since`, up to and with `until`, each with its share."""
        while since < until:
            time = since + 1
            place = bisect_right(self._changes, time)
            end = self._changes[place] - 1 if place < len(self._changes) else _LAST
            yield self.at(time), since, min(until, end)
            since = end


def _time(coming: TypedEvent) -> int:
    return int(coming[1][END])
