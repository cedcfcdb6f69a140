"""Batches as columns of the relations, many at a time.

A document that comes singly is joined in process and needs no Arrow (law 10); it is turned into
columns when it is written to the relations, with many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import accumulate, chain

import pyarrow as pa

from join_stage.batch import Accepted, Batch, strings_of_rows
from join_stage.relational.relations import Columns

__all__ = [
    "accept_columns",
    "composite_columns",
    "document_columns",
    "string_columns",
    "witness_columns",
]


def witness_columns(batches: Iterable[Batch], without: Set[int] = frozenset()) -> Columns:
    """The witnesses of batches as rows of `node`, without those of some documents."""
    some = [
        (number, batch.times[number], layout, strings)
        for batch in batches
        for number, layout, strings in batch.witnesses
        if number not in without
    ]
    lengths = [len(layout.paths) for _, _, layout, _ in some]
    chains = list(chain.from_iterable([layout.chains for _, _, layout, _ in some]))
    ends = list(accumulate(map(len, chains), initial=0))
    return {
        "doc": pa.array(_repeated([one[0] for one in some], lengths), pa.int32()),
        "node": pa.array(_all(layout.nodes for _, _, layout, _ in some), pa.int64()),
        "path": pa.array(_all(layout.paths for _, _, layout, _ in some), pa.int32()),
        "s": pa.array(
            list(chain.from_iterable(strings_of_rows(*one[2:]) for one in some)), pa.int64()
        ),
        "ts": pa.array(_repeated([one[1] for one in some], lengths), pa.int64()),
        "chain": pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), pa.array(_all(chains), pa.int64())
        ),
    }


def document_columns(batches: Iterable[Batch], without: Set[int] = frozenset()) -> Columns:
    """The documents of batches as rows of `document`, without some."""
    some = [one for batch in batches for one in batch.documents if one[0] not in without]
    return {
        "doc": pa.array([number for number, *_ in some], pa.int32()),
        "ts": pa.array([time for _, time, *_ in some], pa.int64()),
        "stream": pa.array([stream for *_, stream, _ in some], pa.string()),
        "id": pa.array([name for *_, name in some], pa.string()),
    }


def composite_columns(batches: Iterable[Batch], without: Set[int] = frozenset()) -> Columns:
    """The composites of batches as rows of `composite`, without some."""
    some = [one for batch in batches for one in batch.composites if one[0] not in without]
    return {
        "doc": pa.array([number for number, *_ in some], pa.int32()),
        "ts": pa.array([end for _, end, *_ in some], pa.int64()),
        "start": pa.array([start for _, _, start, *_ in some], pa.int64()),
        "first": pa.array([first for *_, first, _ in some], pa.int32()),
        "parts": pa.array([parts for *_, parts in some], pa.list_(pa.int32())),
    }


def string_columns(batches: Iterable[Batch]) -> Columns:
    """The new strings of batches as rows of `strings`."""
    strings = [one for batch in batches for one in batch.strings]
    return {
        "id": pa.array([number for number, _, _ in strings], pa.int64()),
        "value": pa.array([value for _, value, _ in strings], pa.string()),
        "double": pa.array([double for _, _, double in strings], pa.float64()),
    }


def accept_columns(accepts: Sequence[Accepted]) -> Columns:
    """Accepts of leaf paths as rows of `accept`."""
    return {
        "path": pa.array([path for path, _, _ in accepts], pa.int32()),
        "spine": pa.array([spine for _, spine, _ in accepts], pa.int32()),
        "depths": pa.array([depths for _, _, depths in accepts], pa.list_(pa.int32())),
    }


def _all(tuples: Iterable[tuple[int, ...]]) -> list[int]:
    return list(chain.from_iterable(tuples))


def _repeated(values: Iterable[int], lengths: Iterable[int]) -> list[int]:
    return [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]
