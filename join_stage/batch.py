"""A batch on its way into the join stage, and its columns as the relations have them.

What comes is plain: a document that comes alone is joined in process and needs no Arrow (law 10).
It is turned into columns when it is written to the relations, with many others at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol, TypeVar

import pyarrow as pa

from join_stage.relations import Columns

__all__ = [
    "Accepted",
    "Batch",
    "Leaf",
    "WitnessColumns",
    "accept_columns",
    "composite_columns",
    "document_columns",
    "string_columns",
    "witness_columns",
]

T = TypeVar("T")

Accepted = tuple[int, int, tuple[int, ...]]
"""A leaf path, a spine, and the depths of its marked nodes."""

Leaf = tuple[int, tuple[int, ...], int | None]
"""A witness: its leaf path, the codes of the nodes from the root to its own, its string."""


class WitnessColumns(Protocol):
    """The witnesses of a batch, as stage 1 leaves them: one entry in each list, but in `chains`
    the codes of the nodes from the root to each row's own; row i's end at `ends[i]`."""

    documents: list[int]
    nodes: list[int]
    paths: list[int]
    strings: list[int | None]
    chains: list[int]
    ends: list[int]


@dataclass(slots=True)
class _NoWitnesses:
    documents: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    paths: list[int] = field(default_factory=list)
    strings: list[int | None] = field(default_factory=list)
    chains: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """Documents and composites with their witnesses.

    `documents` are (number, time, stream, id), `composites` (number, end, start, the smallest of
    its documents, its documents), `accepts` what leaf paths accept that were not known before,
    `strings` (number, value, double) of the new ones.  The numbers of documents and composites
    ascend together and begin after those of all batches before; a document's witnesses stand
    together.
    """

    documents: list[tuple[int, int, str, str]] = field(default_factory=list)
    composites: list[tuple[int, int, int, int, tuple[int, ...]]] = field(default_factory=list)
    witnesses: WitnessColumns = field(default_factory=_NoWitnesses)
    accepts: list[Accepted] = field(default_factory=list)
    strings: list[tuple[int, str, float | None]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.documents) + len(self.composites)

    @property
    def numbers(self) -> list[int]:
        """The numbers of its documents, then those of its composites."""
        return [*(one[0] for one in self.documents), *(one[0] for one in self.composites)]

    @property
    def times(self) -> dict[int, int]:
        """The times at which its documents and its composites end."""
        times = {number: time for number, time, *_ in self.documents}
        times.update((number, end) for number, end, *_ in self.composites)
        return times

    def leaves(self) -> Iterator[tuple[int, list[Leaf]]]:
        """Its documents and composites that have witnesses, with these."""
        columns = self.witnesses
        chains, ends = columns.chains, columns.ends
        leaves: list[Leaf] = []
        current: int | None = None
        begin = 0
        rows = zip(columns.documents, columns.paths, columns.strings, ends, strict=True)
        for document, path, string, end in rows:
            if document != current:
                if current is not None:
                    yield current, leaves
                current, leaves = document, []
            leaves.append((path, tuple(chains[begin:end]), string))
            begin = end
        if current is not None:
            yield current, leaves


def witness_columns(batches: Sequence[Batch]) -> Columns:
    """The witnesses of some batches as rows of `node`."""
    times: dict[int, int] = {}
    ends: list[int] = [0]
    for batch in batches:
        times.update(batch.times)
        begin = ends[-1]
        ends += (begin + end for end in batch.witnesses.ends)
    some = [batch.witnesses for batch in batches]
    documents = _all(one.documents for one in some)
    return {
        "doc": pa.array(documents, pa.int32()),
        "node": pa.array(_all(one.nodes for one in some), pa.int64()),
        "path": pa.array(_all(one.paths for one in some), pa.int32()),
        "s": pa.array(_all(one.strings for one in some), pa.int64()),
        "ts": pa.array([times[document] for document in documents], pa.int64()),
        "chain": pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), pa.array(_all(one.chains for one in some), pa.int64())
        ),
    }


def document_columns(batches: Sequence[Batch]) -> Columns:
    """The documents of some batches as rows of `document`."""
    documents = [document for batch in batches for document in batch.documents]
    return {
        "doc": pa.array([number for number, *_ in documents], pa.int32()),
        "ts": pa.array([time for _, time, *_ in documents], pa.int64()),
        "stream": pa.array([stream for *_, stream, _ in documents], pa.string()),
        "id": pa.array([name for *_, name in documents], pa.string()),
    }


def composite_columns(batches: Sequence[Batch]) -> Columns:
    """The composites of some batches as rows of `composite`."""
    composites = [composite for batch in batches for composite in batch.composites]
    return {
        "doc": pa.array([number for number, *_ in composites], pa.int32()),
        "ts": pa.array([end for _, end, *_ in composites], pa.int64()),
        "start": pa.array([start for _, _, start, *_ in composites], pa.int64()),
        "first": pa.array([first for *_, first, _ in composites], pa.int32()),
        "parts": pa.array([parts for *_, parts in composites], pa.list_(pa.int32())),
    }


def string_columns(batches: Sequence[Batch]) -> Columns:
    """The new strings of some batches as rows of `strings`."""
    strings = [string for batch in batches for string in batch.strings]
    return {
        "id": pa.array([number for number, _, _ in strings], pa.int64()),
        "value": pa.array([value for _, value, _ in strings], pa.string()),
        "double": pa.array([double for _, _, double in strings], pa.float64()),
    }


def accept_columns(accepts: Sequence[Accepted]) -> Columns:
    """What leaf paths accept as rows of `accept`."""
    return {
        "path": pa.array([path for path, _, _ in accepts], pa.int32()),
        "spine": pa.array([spine for _, spine, _ in accepts], pa.int32()),
        "depths": pa.array([depths for _, _, depths in accepts], pa.list_(pa.int32())),
    }


def _all(lists: Iterable[list[T]]) -> list[T]:
    return list(chain.from_iterable(lists))
