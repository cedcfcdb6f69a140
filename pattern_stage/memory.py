"""The memory of a query beyond the events that it has taken: a stage that takes these again, after
a restart or because stages were rebuilt, restores it to reach the same state.

Three things are no function of the retained events: the time of the last match of a partition,
where matches do not overlap; the matches that were reported before their time, when the input
ended; and the events that came too late for the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xscl.pattern_stage.endings import Partition

__all__ = ["Memory"]


@dataclass(slots=True)
class Memory:
    """Of one query; events by number, times in microseconds."""

    reported: list[tuple[Partition, int]] = field(default_factory=list)
    """A partition, and the time of its last match (NON OVERLAPPING)."""
    early: list[tuple[int, Sequence[tuple[int, Any]]]] = field(default_factory=list)
    """The time of a match that was reported before it, and (component's place, event), of an
    automaton also what its run has come to; only where
    it does not follow from the events that had come when the input ended."""
    missed: list[tuple[int, int]] = field(default_factory=list)
    """An event that came too late for the query, and its time."""
