"""Rows of batches that were joined in process, until they have to be in the relations.

Most never do: documents go when no query can reach them, and what nobody has asked DuckDB for by
then is not written first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from join_stage.batch import Batch, CompositeRow, DocumentRow, StringRow, Witness

__all__ = ["Waiting"]


@dataclass(slots=True)
class Waiting:
    """Rows of batches; the batches themselves are not kept.

    `rows` are the nodes of their witnesses; `gone` are documents and composites that are no more,
    whose rows are taken out many at a time.
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
        """Drops documents and composites; returns those that do not wait here."""
        here = self.times.keys() & documents
        self.gone |= here
        return [number for number in documents if number not in here]

    def settle(self) -> int:
        """Takes out the rows of what is gone; returns how many nodes they had."""
        gone, rows = self.gone, self.rows
        if gone:
            left = self._with([number for number in self.times if number not in gone])
            self.documents, self.composites = left.documents, left.composites
            self.witnesses, self.times, self.rows = left.witnesses, left.times, left.rows
            self.gone = set()
        return rows - self.rows

    def take(self, most: int) -> Waiting:
        """Takes out all strings, and so many documents and composites, the first ones."""
        numbers = sorted(self.times)
        taken, left = self._with(numbers[:most]), self._with(numbers[most:])
        taken.strings, self.strings = self.strings, []
        self.documents, self.composites = left.documents, left.composites
        self.witnesses, self.times, self.rows = left.witnesses, left.times, left.rows
        return taken

    def unheld(self) -> dict[int, str]:
        """The strings that no witness holds, by number."""
        held = self.held()
        return {number: value for number, value in self.strings if number not in held}

    def held(self) -> set[int | None]:
        """The strings of the witnesses."""
        return set(chain.from_iterable([strings for _, _, strings in self.witnesses]))

    def drop_strings(self, strings: Iterable[int]) -> set[int]:
        """Drops strings; returns those that do not wait here."""
        dropped = set(strings)
        here = dropped.intersection([number for number, *_ in self.strings])
        if here:
            self.strings = [one for one in self.strings if one[0] not in here]
        return dropped - here

    def _with(self, numbers: Sequence[int]) -> Waiting:
        """The rows of some documents and composites, without strings."""
        times = {number: self.times[number] for number in numbers}
        witnesses = [one for one in self.witnesses if one[0] in times]
        return Waiting(
            [one for one in self.documents if one[0] in times],
            [one for one in self.composites if one[0] in times],
            witnesses,
            times=times,
            rows=sum([len(layout.paths) for _, layout, _ in witnesses]),
        )
