"""Derived streams: the matches of a chain's left part, as composites that join like documents.

Each stage of a chain but the last feeds one.  A *composite* is a match of the stage, with its
documents and the nodes that later stages ask for: one *column* each.  To the join stage it is a
document whose columns are leaves without structure.  Chains with the same left part share its
derived stream, so that it is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from join_stage import Plan
from xscl.documents.document import Document

__all__ = [
    "Composite",
    "Computed",
    "DerivedStream",
    "OperatorRow",
    "Reading",
    "RowReader",
    "Source",
]


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """A match of a stage: its documents by number, in block order, and the codes of its columns'
    nodes; `strings` are the numbers of the valued columns' strings.  It runs from `start` to
    `time` (microseconds)."""

    number: int
    documents: tuple[int, ...]
    codes: tuple[int, ...]
    strings: tuple[int | None, ...]
    start: int
    time: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where a column of a stage comes from: the outputs of its plan (`side` is None), or a column
    of the composite on a side; and likewise its string, if it is valued."""

    side: int | None
    index: int
    string: int | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """What a row has beside nodes: computed values; how many of its documents each of its variables
    is bound to, in order, () for one each; and when it was known, in microseconds, None for the
    time of its latest document."""

    values: tuple[object, ...] = ()
    events: tuple[int, ...] = ()
    time: int | None = None


class OperatorRow(NamedTuple):
    """A row of a stage: documents by number in block order, the codes of its columns' nodes, the
    strings of the valued ones, and what else the stage has computed."""

    documents: tuple[int, ...]
    codes: tuple[int, ...]
    strings: tuple[int | None, ...]
    computed: Computed | None = None

    def known_at(self, documents: Sequence[Document]) -> int:
        """The time (microseconds) from which on it is known, given its documents."""
        computed = None if self.computed is None else self.computed.time
        return max(document.time for document in documents) if computed is None else computed


class RowReader(Protocol):
    """How the rows of a second stage are read."""

    def read(self, values: Sequence[Any], composites: Mapping[int, Composite]) -> OperatorRow:
        """The row that some values stand for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the rows of a stage's plan are read: (documents or composites, outputs, strings).

    `_codes` and `_strings` are where a row's are, in its values (the side is None) or in those of a
    composite.
    """

    plan: Plan
    composite: tuple[bool, ...]
    sources: tuple[Source, ...]
    _codes: tuple[tuple[int | None, int], ...] = field(init=False, compare=False, repr=False)
    _strings: tuple[tuple[int | None, int], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        outputs = len(self.composite)
        strings = outputs + len(self.plan.outputs)
        codes = ((one.side, one.index, outputs) for one in self.sources)
        valued = ((one.side, one.string, strings) for one in self.sources)
        for name, places in (("_codes", codes), ("_strings", valued)):
            of_values = [
                (side, index + (begin if side is None else 0))
                for side, index, begin in places
                if index is not None
            ]
            object.__setattr__(self, name, tuple(of_values))

    def read(self, values: Sequence[int], composites: Mapping[int, Composite]) -> OperatorRow:
        """What a row of the join stage's outputs says."""
        sides = values[: len(self.composite)]
        if True not in self.composite:
            codes = tuple([values[index] for _, index in self._codes])
            strings = tuple([values[index] for _, index in self._strings])
            return OperatorRow(tuple(sides), codes, strings)
        below = [
            composites[number] if composite else None
            for number, composite in zip(sides, self.composite, strict=True)
        ]
        documents: list[int] = []
        for number, one in zip(sides, below, strict=True):
            documents += (number,) if one is None else one.documents
        return OperatorRow(
            tuple(documents),
            tuple(
                [
                    values[index] if side is None else below[side].codes[index]  # type: ignore[union-attr]
                    for side, index in self._codes
                ]
            ),
            tuple(
                [
                    values[index] if side is None else below[side].strings[index]  # type: ignore[union-attr]
                    for side, index in self._strings
                ]
            ),
        )


@dataclass(eq=False, slots=True)
class DerivedStream:
    """The derived stream of a stage.

    `number` is the stage's in the join stage, `spines` are the numbers of its columns that later
    stages ask for, by column, each also the number of its leaf path; `valued` are the columns
    with strings, in order.  It has the composites of documents from number `since` on.  `uses`
    counts the stages that read it.
    """

    number: int
    key: tuple[object, ...]
    since: int
    reading: Reading
    spines: dict[int, int]
    valued: tuple[int, ...]
    uses: int = 0
    composites: set[int] = field(default_factory=set)

    def composite(
        self, number: int, found: OperatorRow, documents: Sequence[Document]
    ) -> Composite:
        """The composite of a row, given its documents."""
        times = [document.time for document in documents]
        return Composite(
            number, found.documents, found.codes, found.strings, min(times), max(times)
        )
