"""A batch for the second stages: documents and composites with their witnesses.

It is built once and read by all its consumers; it does not change afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

__all__ = [
    "Accepted",
    "Batch",
    "CompositeRow",
    "DocumentRow",
    "DoubleOf",
    "Layout",
    "StringRow",
    "Witness",
    "strings_of_rows",
]

Accepted = tuple[int, int, tuple[int, ...]]
"""A leaf path, a spine, and the depths of its marked nodes."""

DocumentRow = tuple[int, int, str, str]
"""A document's number, time, stream and id."""

CompositeRow = tuple[int, int, int, int, tuple[int, ...]]
"""A composite's number, its end, its start, the smallest of its documents, its documents."""

StringRow = tuple[int, str]
"""A string's number and its value."""

DoubleOf = Callable[[str], float | None]
"""The double of a string, None where it is not castable."""


class Layout(Protocol):
    """The rows of documents of one structure, in columns of equal length: leaf paths, nodes, the
    codes of the nodes from the root to each row's own, and the index of each row's string in the
    document; `kinds` are the leaf paths, each once."""

    @property
    def paths(self) -> tuple[int, ...]: ...
    @property
    def nodes(self) -> tuple[int, ...]: ...
    @property
    def chains(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def strings(self) -> tuple[int | None, ...]: ...
    @property
    def kinds(self) -> frozenset[int]: ...


Witness = tuple[int, Layout, tuple[int | None, ...]]
"""The number of a document or composite, its layout, and its strings by number."""


@dataclass(slots=True, eq=False, init=False)
class Batch:
    """Documents and composites with their witnesses.  It is not frozen, since that would take as
    long as the rest of it where documents come singly; but nothing changes it.

    `accepts` and `strings` are the new ones.  The numbers of documents and composites ascend
    together and begin after those of all batches before.  `times` are the times at which documents
    and composites end, in microseconds; `rows` is the number of nodes of the witnesses.  Raises
    ValueError if it has witnesses of a document that it lacks.
    """

    documents: tuple[DocumentRow, ...]
    composites: tuple[CompositeRow, ...]
    witnesses: tuple[Witness, ...]
    accepts: tuple[Accepted, ...]
    strings: tuple[StringRow, ...]
    times: Mapping[int, int]
    rows: int

    def __init__(
        self,
        documents: tuple[DocumentRow, ...] = (),
        composites: tuple[CompositeRow, ...] = (),
        witnesses: tuple[Witness, ...] = (),
        accepts: tuple[Accepted, ...] = (),
        strings: tuple[StringRow, ...] = (),
    ) -> None:
        self.documents = documents
        self.composites = composites
        self.witnesses = witnesses
        self.accepts = accepts
        self.strings = strings
        times: dict[int, int] = {}
        for row in documents:
            times[row[0]] = row[1]
        for number, end, *_ in composites:
            times[number] = end
        rows = 0
        for number, layout, _ in witnesses:
            rows += len(layout.paths)
            if number not in times:
                raise ValueError("witnesses of documents that are not in the batch")
        self.times = times
        self.rows = rows

    def __len__(self) -> int:
        return len(self.times)

    @property
    def string_numbers(self) -> Iterator[int | None]:
        """The strings of its witnesses."""
        return chain.from_iterable([strings for _, _, strings in self.witnesses])


def strings_of_rows(layout: Layout, strings: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """A document's strings by the rows of its layout."""
    if len(strings) == len(layout.strings):
        # They are in order of the rows.
        return strings
    return tuple([None if place is None else strings[place] for place in layout.strings])
