"""Rows of batches that were joined in process, until they have to be in the relations.

Most are never written: documents are dropped when no query can reach them, and those that DuckDB
has not needed by then never get there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xscl.join_stage.batch import Batch, CompositeRow, DocumentRow, StringRow, Witness

__all__ = ["PendingRows"]


@dataclass(slots=True)
class PendingRows:
    """Rows of batches; the batches themselves are not kept.

    `rows` are the nodes of their witnesses; `gone` are removed documents and composites, whose rows
    are removed many at a time.
    """

    documents: list[DocumentRow] = field(default_factory=list)
    composites: list[CompositeRow] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    strings: list[StringRow] = field(default_factory=list)
    times: dict[int, int] = field(default_factory=dict)
    rows: int = 0
    gone: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return self.rows + len(self.times)

    def add(self, batches: Iterable[Batch]) -> None:
        """Adds the rows of batches."""
        for batch in batches:
            self.documents += batch.documents
            self.composites += batch.composites
            self.witnesses += batch.witnesses
            self.strings += batch.strings
            self.times.update(batch.times)
            self.rows += batch.rows

    def drop(self, documents: Sequence[int]) -> list[int]:
        """Drops documents and composites; returns those that are not pending here."""
        here = self.times.keys() & documents
        self.gone |= here
        return [number for number in documents if number not in here]

    def settle(self) -> int:
        """Removes the rows of what is gone; returns how many nodes they had."""
        gone, rows = self.gone, self.rows
        if gone:
            left = self._with([number for number in self.times if number not in gone])
            self.documents, self.composites = left.documents, left.composites
            self.witnesses, self.times, self.rows = left.witnesses, left.times, left.rows
            self.gone = set()
        return rows - self.rows

    def take(self, most: int) -> PendingRows:
        """Removes and returns all strings, and so many documents and composites, the first ones."""
        numbers = sorted(self.times)
        taken, left = self._with(numbers[:most]), self._with(numbers[most:])
        taken.strings, self.strings = self.strings, []
        self.documents, self.composites = left.documents, left.composites
        self.witnesses, self.times, self.rows = left.witnesses, left.times, left.rows
        return taken

    def unstored(self) -> dict[int, str]:
        """The strings that no witness has, by number."""
        strings = self.strings_of_witnesses()
        return {number: value for number, value in self.strings if number not in strings}

    def strings_of_witnesses(self) -> set[int | None]:
        """The strings of the witnesses."""
        return set(chain.from_iterable([strings for _, _, strings in self.witnesses]))

    def drop_strings(self, strings: Iterable[int]) -> set[int]:
        """Drops strings; returns those that are not pending here."""
        dropped = set(strings)
        here = dropped.intersection([number for number, *_ in self.strings])
        if here:
            self.strings = [one for one in self.strings if one[0] not in here]
        return dropped - here

    def _with(self, numbers: Sequence[int]) -> PendingRows:
        """The rows of some documents and composites, without strings."""
        times = {number: self.times[number] for number in numbers}
        witnesses = [one for one in self.witnesses if one[0] in times]
        return PendingRows(
            [one for one in self.documents if one[0] in times],
            [one for one in self.composites if one[0] in times],
            witnesses,
            times=times,
            rows=sum([len(layout.paths) for _, layout, _ in witnesses]),
        )
