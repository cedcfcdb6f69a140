"""Documents in batches, and a batch on its way from stage 1 to stage 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from join_stage import Accepted, Batch
from xpath_stage import Accept, Witnesses, double_of
from xscl.documents.composites import Composite
from xscl.documents.document import Document
from xscl.errors import XSCLError

__all__ = ["accepted", "in_batches", "joining_batch"]

T = TypeVar("T", bound="Mapping[str, object] | tuple[Mapping[str, object], object]")

_LONG = 64 * 1024 * 1024
"""A batch of so many characters or bytes is full, however few documents they are."""


def joining_batch(
    documents: Sequence[Document],
    composites: Sequence[Composite],
    witnesses: Witnesses,
    accepts: Sequence[Accept],
    strings: Sequence[tuple[int, str]],
) -> Batch:
    """The batch of some documents and composites, whose numbers ascend."""
    return Batch(
        tuple([(one.number, one.time, one.stream, one.id) for one in documents]),
        tuple(
            [
                (one.number, one.time, one.start, min(one.documents), one.documents)
                for one in composites
            ]
        ),
        tuple(zip(witnesses.documents, witnesses.layouts, witnesses.strings, strict=True)),
        tuple(accepted(accepts)),
        tuple([(number, value, double_of(value)) for number, value in strings]),
    )


def accepted(accepts: Sequence[Accept]) -> list[Accepted]:
    """Accepts of leaf paths as path, spine, depths."""
    return [(accept.path, accept.spine, accept.depths) for accept in accepts]


def in_batches(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """Envelopes, or tuples that begin with one, in lists of a size, or of fewer where their bodies
    are long; each is read only when it is asked for."""
    if size < 1:
        raise XSCLError(f"a batch holds at least one document, not {size}")
    some: list[T] = []
    length = 0
    for entry in entries:
        some.append(entry)
        envelope = entry[0] if isinstance(entry, tuple) else entry
        body = envelope.get("xml")
        length += len(body) if isinstance(body, str | bytes) else 0
        if len(some) == size or length > _LONG or isinstance(body, Path):
            yield some
            some, length = [], 0
    if some:
        yield some
