"""What a level of patterns has found -> rows, counts and groups, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from xscl.documents.composites import Composite, Computed, OperatorRow
from xscl.documents.events import PLACES, EventNode
from xscl.pattern_stage.layouts import NUMBER

if TYPE_CHECKING:
    from xscl.pattern_stage.found import Found, FoundGroup
    from xscl.pattern_stage.processor import PatternStage
    from xscl.patterns.timed_query import TimedQuery

__all__ = ["PatternReading", "PatternRows"]


class PatternRows:
    """The matches that a level of patterns has found, by query; `feeding` says whether any of its
    queries publishes, so that they must be looked at."""

    def __init__(self, stage: PatternStage, *, feeding: bool) -> None:
        self._stage = stage
        self.feeding = feeding
        self._rows: dict[int, list[tuple[Found]]] | None = None

    def by_query(self) -> Iterable[tuple[int, Sequence[tuple[Found]]]]:
        """Queries by number, with their matches."""
        return self._found().items()

    def withdrawn(self) -> Iterable[tuple[int, Sequence[tuple[Found]]]]:
        """Queries by number, with the matches of theirs that are taken back."""
        rows: dict[int, list[tuple[Found]]] = {}
        for one in self._stage.withdrawn():
            rows.setdefault(one.number, []).append((one,))
        return rows.items()

    def counts(self) -> Mapping[int, int]:
        """The number of matches of each query; where nobody looks at any, nobody goes through
        them."""
        if self._rows is None and not self.feeding:
            return self._stage.counts()
        return {number: len(found) for number, found in self._found().items()}

    def groups(self) -> Sequence[FoundGroup]:
        """The matches in groups of those of a query that end alike."""
        if self._rows is None and not self.feeding:
            return self._stage.groups()
        from xscl.pattern_stage.found import Outcome, grouped

        found = [one for some in self._found().values() for (one,) in some]
        return grouped(Outcome((one.number,), [one.events], None, one.time) for one in found)

    def _found(self) -> dict[int, list[tuple[Found]]]:
        if self._rows is None:
            self._rows = {}
            for one in self._stage.found():
                self._rows.setdefault(one.number, []).append((one,))
        return self._rows


class PatternReading:
    """How the matches of a pattern are read, given the nodes of events."""

    distinct = True

    def __init__(self, pattern: TimedQuery, node: Callable[[int], EventNode]) -> None:
        self._names = pattern.names
        self._node = node

    def read(
        self, rows: Iterable[tuple[Found]], composites: Mapping[int, Composite]
    ) -> Iterable[OperatorRow]:
        """The rows that matches are: their documents in order of time, and the output nodes."""
        return (self.row(found) for (found,) in rows)

    def row(self, found: Found) -> OperatorRow:
        """The row of a match."""
        node = self._node
        events = [(component, event[NUMBER]) for component, event in found.events]
        nodes = [node(number) for _, number in events]
        return OperatorRow(
            tuple([number >> PLACES for _, number in events]),
            tuple([one.code for one in nodes]),
            (),
            Computed(
                variables=tuple([self._names[component] for component, _ in events]),
                bound=tuple([one.bound for one in nodes]),
                start=found.start,
                time=found.time,
                values=found.register,
            ),
        )
