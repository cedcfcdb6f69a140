"""One interface for the ways to join a batch: in process, and in DuckDB (law 10).

Each way is handed every batch: the one that suits the batch joins it, the others follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from join_stage.batch import Accepted, Batch
from join_stage.plan import Plan

__all__ = ["BatchJoin", "Outputs", "Wanted"]


class Wanted(Enum):
    """Which matches are wanted one by one."""

    ALL = auto()
    BUT_SOLE_DISJUNCTS = auto()
    """All matches but of sole disjuncts, which `counts` counts."""
    BUT_CHANNELS = auto()
    """All matches but of sole disjuncts in channels, which `tuples` has."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Matches of the queries of one plan, each once: rows of the query's number, the numbers of
    the documents or composites (one for each side), the codes of the plan's output nodes, and
    the numbers of the strings of its valued ones."""

    plan: Plan
    rows: list[tuple[int, ...]]


class BatchJoin(Protocol):
    """A way to join batches; `outputs` and `counts` report the matches of the last one."""

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Takes in what leaf paths accept anew."""

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Follows changes of leaf paths between batches: spines that are no more; leaf paths that
        are no more, with those that take over their rows, or None where the rows go; leaf paths,
        numbered as after the move, whose strings go."""

    def join(self, batch: Batch) -> bool:
        """Joins a batch with all that is held, and within itself; returns False, having found
        nothing, where the batch is too much for this way."""

    def follow(self, batch: Batch) -> None:
        """Takes in a batch that another way has joined, and finds only what no other way can."""

    def outputs(self, wanted: Wanted) -> Iterator[Outputs]:
        """The matches, or some of them."""

    def counts(self) -> Mapping[int, int]:
        """The number of matches of each sole disjunct."""

    def forget(self, watermark: int | None, documents: Sequence[int], *, exact: bool) -> None:
        """Drops documents and composites, and, where that pays or is to be `exact`, what no query
        can reach from the watermark (microseconds)."""

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing holds any more."""
