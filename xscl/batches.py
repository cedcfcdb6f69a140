"""Documents in batches, and a batch's witnesses on their way to stage 2, as Arrow columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa

from join_stage import Batch
from xpath_stage import Accept, Witnesses, double_of
from xscl.derived import Composite
from xscl.document import Document
from xscl.errors import XSCLError

__all__ = ["arrow_accepts", "arrow_batch", "in_batches"]

T = TypeVar("T")


def arrow_batch(
    documents: Sequence[Document],
    composites: Sequence[Composite],
    witnesses: Witnesses,
    accepts: Sequence[Accept],
    strings: Sequence[tuple[int, str]],
) -> Batch:
    """The batch of some documents and composites, whose numbers ascend."""
    times = {document.number: document.time for document in documents}
    times.update((composite.number, composite.time) for composite in composites)
    return Batch(
        documents={
            "doc": pa.array([document.number for document in documents], pa.int32()),
            "ts": pa.array([document.time for document in documents], pa.int64()),
            "stream": pa.array([document.stream for document in documents], pa.string()),
            "id": pa.array([document.id for document in documents], pa.string()),
        },
        composites={
            "doc": pa.array([composite.number for composite in composites], pa.int32()),
            "ts": pa.array([composite.time for composite in composites], pa.int64()),
            "start": pa.array([composite.start for composite in composites], pa.int64()),
            "first": pa.array([min(composite.documents) for composite in composites], pa.int32()),
            "parts": pa.array([c.documents for c in composites], pa.list_(pa.int32())),
        },
        witnesses={
            "doc": pa.array(witnesses.documents, pa.int32()),
            "node": pa.array(witnesses.nodes, pa.int64()),
            "path": pa.array(witnesses.paths, pa.int32()),
            "s": pa.array(witnesses.strings, pa.int64()),
            "ts": pa.array([times[number] for number in witnesses.documents], pa.int64()),
            "chain": pa.ListArray.from_arrays(
                pa.array([0, *witnesses.ends], pa.int32()), pa.array(witnesses.chains, pa.int64())
            ),
        },
        accepts=arrow_accepts(accepts),
        strings={
            "id": pa.array([number for number, _ in strings], pa.int64()),
            "value": pa.array([value for _, value in strings], pa.string()),
            "double": pa.array([double_of(value) for _, value in strings], pa.float64()),
        },
    )


def arrow_accepts(accepts: Sequence[Accept]) -> dict[str, pa.Array]:
    """What leaf paths accept: path, spine, depths."""
    return {
        "path": pa.array([accept.path for accept in accepts], pa.int32()),
        "spine": pa.array([accept.spine for accept in accepts], pa.int32()),
        "depths": pa.array([accept.depths for accept in accepts], pa.list_(pa.int32())),
    }


def in_batches(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """The entries in lists of a size, each read only when it is asked for."""
    if size < 1:
        raise XSCLError(f"a batch holds at least one document, not {size}")
    iterator = iter(entries)
    while some := list(itertools.islice(iterator, size)):
        yield some
