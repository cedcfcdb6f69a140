"""One interface for the ways to join a batch: in process, and in DuckDB
(docs/laws.md#two-value-joins).

Each way gets every batch.  The one that suits the batch joins it; the others only record it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from xscl.join_stage.batch import Accepted, Batch
from xscl.join_stage.plan import Plan

__all__ = ["BatchJoin", "Outputs", "Ranges", "Rows", "Wanted"]


class Wanted(Enum):
    """The matches that are reported one by one."""

    ALL = auto()
    BUT_SOLE_DISJUNCTS = auto()
    """All matches but those of sole disjuncts, which `counts` counts."""
    BUT_CHANNELS = auto()
    """All matches but those of sole disjuncts in channels, which `tuples` has."""


Row = tuple[int, ...]


class Outputs(Protocol):
    """Matches of the queries of one plan, each once: rows of the numbers of the documents or
    composites (one for each side), the codes of the plan's output nodes, and the numbers of the
    strings of its valued ones."""

    @property
    def plan(self) -> Plan: ...

    def by_query(self) -> Iterable[tuple[int, Sequence[Row]]]:
        """Queries with their rows; one query may occur several times."""

    def counts(self) -> Mapping[int, int]:
        """The number of rows of each query."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Outputs that were found row by row; each row begins with the query."""

    plan: Plan
    rows: Sequence[Row]

    def by_query(self) -> Iterable[tuple[int, Sequence[Row]]]:
        """Queries with their rows."""
        rows: dict[int, list[Row]] = {}
        for query, *row in self.rows:
            rows.setdefault(query, []).append(tuple(row))
        return rows.items()

    def counts(self) -> Mapping[int, int]:
        """The number of rows of each query."""
        return Counter([row[0] for row in self.rows])


@dataclass(frozen=True, slots=True)
class Ranges:
    """Outputs that were found together: each of some queries has a match for each of some tuples of
    documents and each head.  They become rows on demand."""

    plan: Plan
    ranges: list[tuple[Sequence[int], Sequence[Row], Sequence[Row]]]

    def by_query(self) -> Iterable[tuple[int, Sequence[Row]]]:
        """Queries with some of their rows."""
        for queries, documents, heads in self.ranges:
            rows = [(*some, *head) for some in documents for head in heads]
            for query in queries:
                yield query, rows

    def counts(self) -> Mapping[int, int]:
        """The number of rows of each query."""
        counts: Counter[int] = Counter()
        for queries, documents, heads in self.ranges:
            for query in queries:
                counts[query] += len(documents) * len(heads)
        return counts


class BatchJoin(Protocol):
    """A way to join batches; `outputs` and `counts` report the matches of the last one."""

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Adds the new accepts of leaf paths."""

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Applies changes of leaf paths between batches: released spines; removed leaf paths, each
        with the leaf path that takes over its rows, or None where the rows are dropped; leaf paths,
        numbered as after the move, whose strings are dropped."""

    def join(self, batch: Batch) -> bool:
        """Joins a batch with all retained documents, and within itself; returns False, with no
        matches, where the batch is too much for this way."""

    def outputs(self, wanted: Wanted) -> Iterator[Outputs]:
        """The matches, or some of them."""

    def counts(self) -> Mapping[int, int]:
        """The number of matches of each sole disjunct."""

    def evict(self, watermark: int | None, documents: Sequence[int], *, exact: bool) -> None:
        """Drops documents and composites, and, where that pays or is to be `exact`, what no query
        can reach from the watermark (microseconds)."""

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing stores any more."""
