"""The runs that are alive: by state, partition, and the values that a move compares by equality.

Equivalent runs, equal in state, register and queries, are merged (SASE+, section 5.2): one run with
the chains of both.  Ended runs are dropped when they are met, or swept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from xscl.pattern_stage.cells import Cell, joined, pruned
from xscl.pattern_stage.moves import Run

__all__ = ["KeyOf", "RunIndex", "RunsOfKey"]

RunsOfKey = dict[object, Run]
"""Runs of one state and key; by the key of equivalent runs, or by a number of their own."""

KeyOf = Callable[[Any], object] | None
"""Of a register: the values that a move compares with the event's; None where it compares none."""

_TICKETS = count()


class RunIndex:
    """Runs by state.  Each state has an index for each way in which its moves find runs: by
    partition, or by partition and values of the register."""

    def __init__(self, indexes: Mapping[int, Sequence[KeyOf]], merging: bool) -> None:
        self._indexes, self._merging = indexes, merging
        self._runs: dict[int, list[dict[object, RunsOfKey]]] = {}

    def empty(self) -> RunIndex:
        """An empty index."""
        return RunIndex(self._indexes, self._merging)

    def copy(self, copied: Callable[[Run], Run]) -> RunIndex:
        """The same, of copies of the runs."""
        other = self.empty()
        other._runs = {
            state: [
                {
                    key: {run_key: copied(run) for run_key, run in runs.items()}
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

    def index(self, state: int, number: int) -> dict[object, RunsOfKey] | None:
        """The runs of a state by one of its indexes."""
        kept = self._runs.get(state)
        return None if kept is None else kept[number]

    def partition(self, key: object) -> Iterator[tuple[int, RunsOfKey]]:
        """The runs of each state in a partition, where no index is by more."""
        for state, kept in self._runs.items():
            runs = kept[0].get(key)
            if runs:
                yield state, runs

    def add(self, state: int, key: object, run: Run) -> None:
        """Adds a run, or merges it with an equivalent one."""
        indexes = self._indexes[state]
        kept = self._runs.get(state)
        if kept is None:
            kept = self._runs[state] = [{} for _ in indexes]
        run_key: object = None
        for key_of, index in zip(indexes, kept, strict=True):
            runs = index.setdefault(key if key_of is None else (key, key_of(run.register)), {})
            if run_key is None:
                run_key, run = self._merged(runs, run)
            runs[run_key] = run

    def _merged(self, runs: RunsOfKey, run: Run) -> tuple[object, Run]:
        if not self._merging:
            return next(_TICKETS), run
        run_key = (run.register, run.mask)
        other = runs.get(run_key)
        if other is None or not other.mask:
            return run_key, run
        if other.mask != run.mask:
            return next(_TICKETS), run
        assert isinstance(other.cell, Cell)
        assert isinstance(run.cell, Cell)
        cell = joined(other.cell, run.cell)
        return run_key, Run(run.mask, run.register, max(run.start, other.start), cell)

    def sweep(self, floor: int | None, overdue: int = 0) -> int:
        """Drops ended runs and runs whose start is not after `floor`; of merged runs also the
        chains, once one of these begins no later than `overdue`.  Returns the number of runs
        left."""
        for state, kept in [*self._runs.items()]:
            for index in kept:
                for key, runs in [*index.items()]:
                    for run_key, run in [*runs.items()]:
                        if not run.mask or (floor is not None and run.start <= floor):
                            del runs[run_key]
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
