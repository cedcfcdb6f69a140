"""A batch on its way into the join stage, and its columns as the relations have them.

What comes is plain: a document that comes alone is joined in process and needs no Arrow (law 10).
It is turned into columns when it is written to the relations, with many others at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Protocol

import pyarrow as pa

from join_stage.relational.relations import Columns

__all__ = [
    "Accepted",
    "Batch",
    "BatchWitnesses",
    "Layout",
    "accept_columns",
    "composite_columns",
    "document_columns",
    "string_columns",
    "strings_of_rows",
    "witness_columns",
]

Accepted = tuple[int, int, tuple[int, ...]]
"""A leaf path, a spine, and the depths of its marked nodes."""


class Layout(Protocol):
    """The rows of documents that are built alike, in columns of equal length: leaf paths, nodes,
    the codes of the nodes from the root to each row's own, and which of a document's strings is
    the row's."""

    @property
    def paths(self) -> tuple[int, ...]: ...
    @property
    def nodes(self) -> tuple[int, ...]: ...
    @property
    def chains(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def strings(self) -> tuple[int | None, ...]: ...


class BatchWitnesses(Protocol):
    """The witnesses of a batch, as stage 1 leaves them: documents with their layouts and
    strings."""

    @property
    def documents(self) -> Sequence[int]: ...
    @property
    def layouts(self) -> Sequence[Layout]: ...
    @property
    def strings(self) -> Sequence[tuple[int | None, ...]]: ...


@dataclass(slots=True)
class Kept:
    """Witnesses of several batches together."""

    documents: list[int] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    strings: list[tuple[int | None, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """Documents and composites with their witnesses.

    `documents` are (number, time, stream, id), `composites` (number, end, start, the smallest of
    its documents, its documents), `accepts` what leaf paths accept that were not known before,
    `strings` (number, value, double) of the new ones.  The numbers of documents and composites
    ascend together and begin after those of all batches before.
    """

    documents: list[tuple[int, int, str, str]] = field(default_factory=list)
    composites: list[tuple[int, int, int, int, tuple[int, ...]]] = field(default_factory=list)
    witnesses: BatchWitnesses = field(default_factory=Kept)
    accepts: list[Accepted] = field(default_factory=list)
    strings: list[tuple[int, str, float | None]] = field(default_factory=list)
    times: dict[int, int] = field(init=False)
    """The times at which its documents and its composites end."""
    rows: int = field(init=False)
    """How many witnesses it has."""

    def __post_init__(self) -> None:
        self.times = {number: time for number, time, _, _ in self.documents}
        if self.composites:
            self.times.update((number, end) for number, end, *_ in self.composites)
        self.rows = sum([len(layout.paths) for layout in self.witnesses.layouts])

    def __len__(self) -> int:
        return len(self.documents) + len(self.composites)

    def extend(self, other: Batch) -> None:
        """Takes in another batch, but not what it accepts.  Its own witnesses must be `Kept`."""
        assert isinstance(self.witnesses, Kept)
        self.documents += other.documents
        self.composites += other.composites
        self.strings += other.strings
        self.witnesses.documents += other.witnesses.documents
        self.witnesses.layouts += other.witnesses.layouts
        self.witnesses.strings += other.witnesses.strings
        self.times.update(other.times)
        self.rows += other.rows

    def without(self, documents: Collection[int]) -> Batch:
        """The batch without some documents and composites; it has all of its strings."""
        some = self.witnesses
        columns = zip(some.documents, some.layouts, some.strings, strict=True)
        left = [row for row in columns if row[0] not in documents]
        return Batch(
            [one for one in self.documents if one[0] not in documents],
            [one for one in self.composites if one[0] not in documents],
            Kept(*(list(column) for column in zip(*left, strict=True))) if left else Kept(),
            strings=self.strings,
        )

    @property
    def numbers(self) -> list[int]:
        """The numbers of its documents, then those of its composites."""
        return [*(one[0] for one in self.documents), *(one[0] for one in self.composites)]

    @property
    def string_numbers(self) -> Iterator[int | None]:
        """The strings of its witnesses."""
        return chain.from_iterable(self.witnesses.strings)


def witness_columns(batch: Batch) -> Columns:
    """The witnesses of a batch as rows of `node`."""
    times, some = batch.times, batch.witnesses
    documents: list[int] = []
    stamps: list[int] = []
    strings: list[int | None] = []
    columns = zip(some.documents, some.layouts, some.strings, strict=True)
    for document, layout, of_document in columns:
        rows = len(layout.paths)
        documents += [document] * rows
        stamps += [times[document]] * rows
        strings += strings_of_rows(layout, of_document)
    chains = list(chain.from_iterable([layout.chains for layout in some.layouts]))
    ends = list(accumulate(map(len, chains), initial=0))
    return {
        "doc": pa.array(documents, pa.int32()),
        "node": pa.array(_all(layout.nodes for layout in some.layouts), pa.int64()),
        "path": pa.array(_all(layout.paths for layout in some.layouts), pa.int32()),
        "s": pa.array(strings, pa.int64()),
        "ts": pa.array(stamps, pa.int64()),
        "chain": pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), pa.array(_all(chains), pa.int64())
        ),
    }


def strings_of_rows(layout: Layout, strings: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """A document's strings by the rows of its layout."""
    if len(strings) == len(layout.strings):
        # They are in order of the rows.
        return strings
    return tuple([None if place is None else strings[place] for place in layout.strings])


def document_columns(batch: Batch) -> Columns:
    """The documents of a batch as rows of `document`."""
    documents = batch.documents
    return {
        "doc": pa.array([number for number, *_ in documents], pa.int32()),
        "ts": pa.array([time for _, time, *_ in documents], pa.int64()),
        "stream": pa.array([stream for *_, stream, _ in documents], pa.string()),
        "id": pa.array([name for *_, name in documents], pa.string()),
    }


def composite_columns(batch: Batch) -> Columns:
    """The composites of a batch as rows of `composite`."""
    composites = batch.composites
    return {
        "doc": pa.array([number for number, *_ in composites], pa.int32()),
        "ts": pa.array([end for _, end, *_ in composites], pa.int64()),
        "start": pa.array([start for _, _, start, *_ in composites], pa.int64()),
        "first": pa.array([first for *_, first, _ in composites], pa.int32()),
        "parts": pa.array([parts for *_, parts in composites], pa.list_(pa.int32())),
    }


def string_columns(batch: Batch) -> Columns:
    """The new strings of a batch as rows of `strings`."""
    strings = batch.strings
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


def _all(tuples: Iterable[tuple[int, ...]]) -> list[int]:
    return list(chain.from_iterable(tuples))
