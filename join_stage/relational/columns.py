"""Rows of batches as columns of the relations, of many batches at a time.

A document that comes singly is joined in process (docs/laws.md#two-value-joins); it is turned into
columns when it is written to the relations, with many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from xscl.join_stage.batch import (
    Accepted,
    CompositeRow,
    DocumentRow,
    DoubleOf,
    StringRow,
    Witness,
    strings_of_rows,
)
from xscl.join_stage.relational.relations import Column, Columns

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
    strings = [strings_of_rows(layout, of_document) for _, layout, of_document in some]
    return {
        "doc": Column("BIGINT", _repeated([one[0] for one in some], lengths)),
        "node": Column("BIGINT", _all(layout.nodes for _, layout, _ in some)),
        "path": Column("INTEGER", _all(layout.paths for _, layout, _ in some)),
        "s": Column("BIGINT", list(chain.from_iterable(strings))),
        "ts": Column("BIGINT", _repeated([times[one[0]] for one in some], lengths)),
        "chain": Column(
            "BIGINT[]", list(chain.from_iterable([layout.chains for _, layout, _ in some]))
        ),
    }


def document_columns(documents: Sequence[DocumentRow]) -> Columns:
    """Documents as rows of `document`."""
    return {
        "doc": Column("BIGINT", [number for number, *_ in documents]),
        "ts": Column("BIGINT", [time for _, time, *_ in documents]),
        "stream": Column("VARCHAR", [stream for *_, stream, _ in documents]),
        "id": Column("VARCHAR", [name for *_, name in documents]),
    }


def composite_columns(composites: Sequence[CompositeRow]) -> Columns:
    """Composites as rows of `composite`."""
    return {
        "doc": Column("BIGINT", [number for number, *_ in composites]),
        "ts": Column("BIGINT", [end for _, end, *_ in composites]),
        "start": Column("BIGINT", [start for _, _, start, *_ in composites]),
        "first": Column("BIGINT", [first for *_, first, _ in composites]),
        "parts": Column("BIGINT[]", [parts for *_, parts in composites]),
    }


def string_columns(strings: Sequence[StringRow], double_of: DoubleOf) -> Columns:
    """New strings as rows of `strings`."""
    return {
        "id": Column("BIGINT", [number for number, _ in strings]),
        "value": Column("VARCHAR", [value for _, value in strings]),
        "double": Column("DOUBLE", [double_of(value) for _, value in strings]),
    }


def accept_columns(accepts: Sequence[Accepted]) -> Columns:
    """Accepts of leaf paths as rows of `accept`."""
    return {
        "path": Column("INTEGER", [path for path, _, _ in accepts]),
        "spine": Column("INTEGER", [spine for _, spine, _ in accepts]),
        "depths": Column("INTEGER[]", [depths for _, _, depths in accepts]),
    }


def _all(tuples: Iterable[tuple[int, ...]]) -> list[int]:
    return list(chain.from_iterable(tuples))


def _repeated(values: Iterable[int], lengths: Iterable[int]) -> list[int]:
    return [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]
