"""Rows of joins and filters that a retraction may still take away.

They are those of queries that read a stream whose documents may be retracted.  Those of `strong`
queries are pending until the watermark has reached their time.  Those of `middle` ones are reported
immediately, or once they are within its window, and remembered until then.  `weak` queries take
nothing back.  All others are reported when they are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from xscl.documents.composites import OperatorRow
from xscl.documents.intake import Intake
from xscl.evaluation.rows import FoundRow
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.queries.levels.levels import Levels
    from xscl.queries.wiring import Wiring

__all__ = ["PendingRows"]

_Entry = tuple[int, int, Subscription, OperatorRow]
"""The time of a row, its place in the order of arrival, its query, and the row."""


class PendingRows:
    """The pending rows of an engine, in order of time, and those remembered; `levels` has the
    consistency of its queries."""

    def __init__(self, intake: Intake, levels: Levels) -> None:
        self._intake, self._levels = intake, levels
        self._pending: list[_Entry] = []
        self._told: list[_Entry] = []
        self._gone: list[FoundRow] = []
        self._order = count()
        self._waits: dict[Wiring, bool] = {}
        self._changes = self._may_change()

    @property
    def any(self) -> bool:
        """Whether rows have to be looked at one by one, or are pending."""
        return bool(self._pending or self._changes)

    def _may_change(self) -> bool:
        """Whether rows may be taken away at all."""
        return bool(self._levels.revisable) and self._levels.default.name != "weak"

    def waits(self, wiring: Wiring) -> bool:
        """Whether the rows of a query may be taken away: it is a join or a filter over a stream
        that is revisable."""
        if not self._changes:
            return False
        known = self._waits.get(wiring)
        if known is None:
            revisable = self._levels.revisable
            read = any(one in revisable for one in wiring.dissection.streams)
            known = self._waits[wiring] = read and not wiring.timed
        return known

    def queries_changed(self) -> None:
        """Drops what was of queries that have gone."""
        self._waits.clear()
        self._changes = self._may_change()
        self._pending = _kept(self._pending, lambda entry: entry[2].active)
        self._told = _kept(self._told, lambda entry: entry[2].active)

    def take(self, rows: Iterable[FoundRow]) -> list[FoundRow]:
        """The rows that are to be reported now; the others are pending from now on.  Of documents
        of before the input had ended once, none is."""
        now: list[FoundRow] = []
        mark, held, flushed = self._intake.watermark, self._intake.held, self._intake.flushed
        for owner, row in rows:
            if isinstance(owner, Subscription) and self.waits(owner.wiring):
                time = row.known_at([held[number] for number in row.documents])
                if mark is None or time > mark:
                    entry = (time, next(self._order), owner, row)
                    if max(row.documents) >= flushed and not self._reports(time):
                        heappush(self._pending, entry)
                        continue
                    self._remember(entry)
            now.append((owner, row))
        return now

    def due(self, *, ended: bool) -> list[FoundRow]:
        """Those that are to be reported now, or all where the input has `ended`: no longer
        pending."""
        rows, due, mark = self._pending, list[FoundRow](), self._intake.watermark
        while rows and (ended or self._reports(rows[0][0])):
            entry = heappop(rows)
            due.append(entry[2:])
            if mark is None or entry[0] > mark:
                self._remember(entry)
        if self._told and mark is not None and self._told[0][0] <= mark:
            self._told = _kept(self._told, lambda entry: entry[0] > mark)
        return due

    def withdraw(self, document: int) -> None:
        """Drops the rows of a document that is retracted; `take_gone` has those that were
        reported."""
        self._pending = _kept(self._pending, lambda entry: document not in entry[3].documents)
        gone = [entry for entry in sorted(self._told) if document in entry[3].documents]
        if gone:
            self._gone += [entry[2:] for entry in gone]
            self._told = _kept(self._told, lambda entry: document not in entry[3].documents)

    def take_gone(self) -> list[FoundRow]:
        """The rows that were reported and are no more, since the last call."""
        gone, self._gone = self._gone, []
        return gone

    def restored(self, rows: Iterable[FoundRow]) -> None:
        """After a restart: of the rows of all documents retained, those that were pending or
        remembered."""
        self.take(one for one in rows if isinstance(one[0], Subscription))

    def pending(self) -> dict[str, Pending]:
        """How many rows of each query are pending, and until when, by name."""
        found: dict[str, Pending] = {}
        for time, _, owner, _ in self._pending:
            if owner.reported:
                found[owner.name] = Pending.of(1, time).joined(found.get(owner.name))
        return found

    def clear(self) -> None:
        """Drops all."""
        self._pending.clear()
        self._told.clear()

    def _reports(self, time: int) -> bool:
        """Whether a row of a time is reported now."""
        mark, level = self._intake.watermark, self._levels.default
        if level.name == "middle" and level.window is None:
            return True
        return mark is not None and time <= mark + (level.window or 0)

    def _remember(self, entry: _Entry) -> None:
        """A row is reported that may be taken back."""
        if self._levels.default.name == "middle":
            heappush(self._told, entry)


def _kept(entries: list[_Entry], which: Callable[[_Entry], bool]) -> list[_Entry]:
    """Some of the entries of a heap, which are one: sorted ones are."""
    return [entry for entry in sorted(entries) if which(entry)] if entries else entries
