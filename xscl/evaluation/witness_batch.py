"""A batch on its way from stage 1 to the second stages."""

from __future__ import annotations

from collections.abc import Sequence

from xscl.documents.composites import Composite
from xscl.documents.document import Document
from xscl.join_stage import Accepted, Batch
from xscl.xpath_stage import Accept, Witnesses

__all__ = ["accepted", "witness_batch"]


def witness_batch(
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
        )
        if composites
        else (),
        tuple(witnesses.left),
        tuple(accepted(accepts)) if accepts else (),
        tuple(strings),
    )


def accepted(accepts: Sequence[Accept]) -> list[Accepted]:
    """Accepts of leaf paths as path, spine, depths."""
    return [(accept.path, accept.spine, accept.depths) for accept in accepts]
