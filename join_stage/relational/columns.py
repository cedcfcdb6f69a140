"""Rows of batches as columns of the relations, of many batches at a time.

A document that comes singly is joined in process and needs no Arrow (law 10); it is turned into
columns when it is written to the relations, with many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain

import pyarrow as pa

from join_stage.batch import (
    Accepted,
    CompositeRow,
    DocumentRow,
    StringRow,
    Witness,
    strings_of_rows,
)
from join_stage.relational.relations import Columns

__all__ = [
    "accept_columns",
    "composite_columns",
    "document_columns",
    "string_columns",
    "witness_columns",
]


def witness_columns(witnesses: Iterable[Witness], times: Mapping[int, int]) -> Columns:
    """Witnesses as rows of `node`, given the times of their documents."""
    some = list(witnesses)
    lengths = [len(layout.paths) for _, layout, _ in some]
    chains = list(chain.from_iterable([layout.chains for _, layout, _ in some]))
    ends = list(accumulate(map(len, chains), initial=0))
    strings = [strings_of_rows(layout, of_document) for _, layout, of_document in some]
    return {
        "doc": pa.array(_repeated([one[0] for one in some], lengths), pa.int32()),
        "node": pa.array(_all(layout.nodes for _, layout, _ in some), pa.int64()),
        "path": pa.array(_all(layout.paths for _, layout, _ in some), pa.int32()),
        "s": pa.array(list(chain.from_iterable(strings)), pa.int64()),
        "ts": pa.array(_repeated([times[one[0]] for one in some], lengths), pa.int64()),
        "chain": pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), pa.array(_all(chains), pa.int64())
        ),
    }


def document_columns(documents: Sequence[DocumentRow]) -> Columns:
    """Documents as rows of `document`."""
    return {
        "doc": pa.array([number for number, *_ in documents], pa.int32()),
        "ts": pa.array([time for _, time, *_ in documents], pa.int64()),
        "stream": pa.array([stream for *_, stream, _ in documents], pa.string()),
        "id": pa.array([name for *_, name in documents], pa.string()),
    }


def composite_columns(composites: Sequence[CompositeRow]) -> Columns:
    """Composites as rows of `composite`."""
    return {
        "doc": pa.array([number for number, *_ in composites], pa.int32()),
        "ts": pa.array([end for _, end, *_ in composites], pa.int64()),
        "start": pa.array([start for _, _, start, *_ in composites], pa.int64()),
        "first": pa.array([first for *_, first, _ in composites], pa.int32()),
        "parts": pa.array([parts for *_, parts in composites], pa.list_(pa.int32())),
    }


def string_columns(strings: Sequence[StringRow]) -> Columns:
    """New strings as rows of `strings`."""
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
