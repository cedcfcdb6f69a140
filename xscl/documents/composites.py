"""Derived streams: the matches of a chain's left part, as composites that join like documents.

Each stage of a chain but the last feeds one.  A *composite* is a match of the stage, with its
documents and the nodes that later stages need: one *column* each.  To the join stage it is a
document whose columns are leaves without structure.  Chains with the same left part share its
derived stream, so that it is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, cast

from xscl.documents.document import Document
from xscl.join_stage import Plan, picking

__all__ = [
    "ColumnSource",
    "Composite",
    "Computed",
    "DerivedStream",
    "JoinReading",
    "OperatorRow",
    "RowReader",
]

_Pick = Callable[[tuple[Any, ...]], tuple[Any, ...]]


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
class ColumnSource:
    """Where a column of a stage comes from: the outputs of its plan (`side` is None), or a column
    of the composite on a side; and likewise its string, if it is valued."""

    side: int | None
    index: int
    string: int | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """What a row of a pattern has in addition to documents and output nodes: the variable that each
    is bound to; the codes of the nodes of its block's variables, by name; its start and end
    (microseconds); and computed values."""

    variables: tuple[str, ...]
    bound: tuple[tuple[tuple[str, int], ...], ...]
    start: int
    time: int
    values: tuple[object, ...] = ()


class OperatorRow(NamedTuple):
    """A row of a stage: documents by number in block order, the codes of its columns' nodes, the
    strings of the valued ones, and what else the stage has computed."""

    documents: tuple[int, ...]
    codes: tuple[int, ...]
    strings: tuple[int | None, ...]
    computed: Computed | None = None

    def known_at(self, documents: Sequence[Document]) -> int:
        """The time (microseconds) from which on it is known, given its documents."""
        if self.computed is not None:
            return self.computed.time
        return max(document.time for document in documents)

    def begun_at(self, documents: Sequence[Document]) -> int:
        """The time (microseconds) at which it begins, given its documents."""
        if self.computed is not None:
            return self.computed.start
        return min(one.time if one.start is None else one.start for one in documents)


class RowReader(Protocol):
    """A reader of the rows of a second stage."""

    @property
    def distinct(self) -> bool:
        """Whether different values always are different rows."""

    def read(
        self, rows: Iterable[tuple[Any, ...]], composites: Mapping[int, Composite]
    ) -> Iterable[OperatorRow]:
        """The rows for some values."""


class JoinReading:
    """Reads the rows of a stage's plan: (documents or composites, outputs, strings).

    `below` are the derived streams of the sides that are composites, None for the others; `sources`
    are those of the stage's columns.
    """

    __slots__ = ("_all_read", "_below", "_codes", "_strings", "sources")

    def __init__(
        self, plan: Plan, below: Sequence[DerivedStream | None], sources: tuple[ColumnSource, ...]
    ) -> None:
        self.sources = sources
        self._below = tuple(below)
        # A row's values, then the columns and the strings of the composites on its sides.
        outputs = len(below)
        strings = outputs + len(plan.outputs)
        end = strings + len(plan.valued)
        codes_at: dict[int | None, int] = {None: outputs}
        strings_at: dict[int | None, int] = {None: strings}
        for side, one in enumerate(below):
            if one is not None:
                codes_at[side] = end
                strings_at[side] = end + len(one.reading.sources)
                end = strings_at[side] + len(one.valued)
        codes = [codes_at[one.side] + one.index for one in sources]
        valued = [strings_at[one.side] + one.string for one in sources if one.string is not None]
        self._codes = cast(_Pick, picking(codes))
        self._strings = cast(_Pick, picking(valued))
        self._all_read = {*codes} >= {*range(outputs, strings)}

    @property
    def distinct(self) -> bool:
        """Whether different values always are different rows: composites differ if their documents
        do."""
        return self._all_read and all(one is None or one.distinct for one in self._below)

    def read(
        self, rows: Iterable[tuple[int, ...]], composites: Mapping[int, Composite]
    ) -> Iterable[OperatorRow]:
        """The rows for the join stage's outputs."""
        codes, strings, below = self._codes, self._strings, self._below
        if not any(below):
            sides = len(below)
            return [OperatorRow(row[:sides], codes(row), strings(row)) for row in rows]
        found = []
        for row in rows:
            documents: tuple[int, ...] = ()
            values: tuple[Any, ...] = row
            for number, stream in zip(row, below, strict=False):
                if stream is None:
                    documents += (number,)
                else:
                    one = composites[number]
                    documents += one.documents
                    values += one.codes + one.strings
            found.append(OperatorRow(documents, codes(values), strings(values)))
        return found


@dataclass(eq=False, slots=True)
class DerivedStream:
    """The derived stream of a stage.

    `number` is the stage's in the join stage, `spines` are the numbers of its columns that later
    stages need, by column, each also the number of its leaf path; `valued` are the columns with
    strings, in order.  It has the composites of documents from number `since` on.  `uses` counts
    the stages that read it.  It is `distinct` as long as no two composites have the same documents:
    such composites would be made one after the other.
    """

    number: int
    key: tuple[object, ...]
    since: int
    reading: JoinReading
    spines: dict[int, int]
    valued: tuple[int, ...]
    uses: int = 0
    composites: set[int] = field(default_factory=set)
    distinct: bool = True
    _latest: tuple[int, ...] = ()

    def composite(
        self, number: int, found: OperatorRow, documents: Sequence[Document]
    ) -> Composite:
        """The composite of a row, given its documents."""
        if found.documents == self._latest:
            self.distinct = False
        self._latest = found.documents
        times = [document.time for document in documents]
        return Composite(
            number, found.documents, found.codes, found.strings, min(times), max(times)
        )
