"""What a level of patterns has found -> rows, counts and groups, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from xscl.documents.composites import Composite, Computed, OperatorRow
from xscl.documents.events import PLACES, EventNode

if TYPE_CHECKING:
    from pattern_stage.found import Found, Group
    from pattern_stage.processor import PatternStage
    from xscl.patterns.compile import CompiledPattern

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

    def counts(self) -> Mapping[int, int]:
        """The number of matches of each query; where nobody looks at any, nobody goes through
        them."""
        if self._rows is None and not self.feeding:
            return self._stage.counts()
        return {number: len(found) for number, found in self._found().items()}

    def groups(self) -> Sequence[Group]:
        """The matches in groups of those of a query that end alike."""
        if self._rows is None and not self.feeding:
            return self._stage.groups()
        from pattern_stage.found import Outcome, grouped

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

    def __init__(self, pattern: CompiledPattern, node: Callable[[int], EventNode]) -> None:
        self._names = tuple([component.name for component in pattern.pattern.components])
        self._node = node

    def read(
        self, rows: Iterable[tuple[Found]], composites: Mapping[int, Composite]
    ) -> Iterable[OperatorRow]:
        """The rows that matches are: their documents in order of time, and the output nodes."""
        return (self.row(found) for (found,) in rows)

    def row(self, found: Found) -> OperatorRow:
        """The row of a match."""
        node = self._node
        events = [(component, event[1]) for component, event in found.events]
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
            ),
        )
