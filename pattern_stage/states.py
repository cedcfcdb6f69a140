"""The runs that are alive: by state, partition, and what a move compares by equality.

Runs that behave alike from here on, by state, register and queries, are merged (SASE+, section
5.2): one run with the chains of both.  What has ended is dropped when it is met, or swept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from pattern_stage.cells import Cell, joined, pruned
from pattern_stage.moves import Run

__all__ = ["KeyOf", "Partition", "States"]

Partition = dict[object, Run]
"""Runs of one state and key; by what makes them alike, or by a number of their own."""

KeyOf = Callable[[Any], object] | None
"""Of a register: the values that a move compares with the event's; None where it compares none."""

_TICKETS = count()


class States:
    """Runs by state.  Each state has an index for each way in which its moves find runs: by
    partition, or by partition and values of the register."""

    def __init__(self, indexes: Mapping[int, Sequence[KeyOf]], merging: bool) -> None:
        self._indexes, self._merging = indexes, merging
        self._runs: dict[int, list[dict[object, Partition]]] = {}

    def empty(self) -> States:
        """None of the runs."""
        return States(self._indexes, self._merging)

    def copy(self, apart: Callable[[Run], Run]) -> States:
        """The same, of other runs."""
        other = self.empty()
        other._runs = {
            state: [
                {
                    key: {alike: apart(run) for alike, run in runs.items()}
                    for key, runs in one.items()
                }
                for one in kept
            ]
            for state, kept in self._runs.items()
        }
        return other

    def __bool__(self) -> bool:
        return bool(self._runs)

    def __iter__(self) -> Iterator[Run]:
        for _, _, run in self.items():
            yield run

    def items(self) -> Iterator[tuple[int, object, Run]]:
        """(state, partition, run)."""
        for state, kept in self._runs.items():
            keyed = self._indexes[state][0] is not None
            for key, runs in kept[0].items():
                for run in runs.values():
                    yield state, key[0] if keyed else key, run  # type: ignore[index]

    def index(self, state: int, number: int) -> dict[object, Partition] | None:
        """The runs of a state by one of its indexes."""
        kept = self._runs.get(state)
        return None if kept is None else kept[number]

    def partition(self, key: object) -> Iterator[tuple[int, Partition]]:
        """The runs of each state in a partition, where no index is by more."""
        for state, kept in self._runs.items():
            runs = kept[0].get(key)
            if runs:
                yield state, runs

    def add(self, state: int, key: object, run: Run) -> None:
        """Takes a run in, or merges it with one that is alike."""
        indexes = self._indexes[state]
        kept = self._runs.get(state)
        if kept is None:
            kept = self._runs[state] = [{} for _ in indexes]
        alike: object = None
        for key_of, index in zip(indexes, kept, strict=True):
            runs = index.setdefault(key if key_of is None else (key, key_of(run.register)), {})
            if alike is None:
                alike, run = self._merged(runs, run)
            runs[alike] = run

    def _merged(self, runs: Partition, run: Run) -> tuple[object, Run]:
        if not self._merging:
            return next(_TICKETS), run
        alike = (run.register, run.mask)
        other = runs.get(alike)
        if other is None or not other.mask:
            return alike, run
        if other.mask != run.mask:
            return next(_TICKETS), run
        assert isinstance(other.cell, Cell)
        assert isinstance(run.cell, Cell)
        cell = joined(other.cell, run.cell)
        return alike, Run(run.mask, run.register, max(run.start, other.start), cell)

    def sweep(self, floor: int | None, overdue: int = 0) -> int:
        """Drops what has ended and runs whose start is not after `floor`; of merged runs also the
        chains, once one of these begins no later than `overdue`.  How many runs are left."""
        for state, kept in [*self._runs.items()]:
            for index in kept:
                for key, runs in [*index.items()]:
                    for alike, run in [*runs.items()]:
                        if not run.mask or (floor is not None and run.start <= floor):
                            del runs[alike]
                    if not runs:
                        del index[key]
            if not any(kept):
                del self._runs[state]
        done: dict[int, tuple[Cell, Cell | None]] = {}
        left = 0
        for run in self:
            left += 1
            if floor is not None and isinstance(run.cell, Cell) and run.cell.least <= overdue:
                run.cell = pruned(run.cell, floor, done) or run.cell
        return left
