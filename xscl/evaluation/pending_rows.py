"""Rows of joins and filters that a retraction may still take away.

They are those of queries that read a stream whose documents may be retracted.  Those of `strong`
queries are pending until the watermark has reached their time.  Those of `middle` ones are reported
immediately, or once they are within its window, and remembered until then.  `weak` queries take
nothing back.  All others are reported when they are found.  A sub-query goes by the level of the
query around it, every other one by that of the engine.

Within a step the watermark of before holds for a query until all patterns below it have seen the
new one: what these take back is gone before it is final.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from heapq import heappop, heappush
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

from xscl.documents.composites import OperatorRow
from xscl.documents.intake import Intake
from xscl.evaluation.rows import FoundRow
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.consistency import Level
    from xscl.documents.revisable import Revisable
    from xscl.queries.levels.levels import Levels
    from xscl.queries.wiring import Wiring

__all__ = ["Before", "PendingRows"]


class Before(NamedTuple):
    """What an engine went by before a restart: the consistency of queries that ask for none, the
    streams that were revisable, and the names of the queries that were `Levels.waiting`."""

    level: Level
    revisable: Revisable
    waiting: Collection[str] = ()


_Entry = tuple[int, int, Subscription, OperatorRow]
"""The time of a row, its place in the order of arrival, its query, and the row."""


_ALL = 1 << 30
"""More levels of patterns than there are."""


class PendingRows:
    """The pending rows of an engine, in order of time, and those remembered; `levels` has the
    consistency of its queries, `depth_of` how many patterns stand below some streams."""

    def __init__(
        self, intake: Intake, levels: Levels, depth_of: Callable[[Iterable[str]], int]
    ) -> None:
        self._intake, self._levels, self._depth_of = intake, levels, depth_of
        self._pending: dict[tuple[Level, int], list[_Entry]] = {}
        """By consistency, and by how many levels of patterns are below."""
        self._depths: dict[Wiring, int] = {}
        self._passed = _ALL
        """How many levels of patterns have seen the watermark in this step."""
        self._before: int | None = None
        """The watermark of before."""
        # Those of queries that wait no longer, for the next step.
        self._overdue: list[_Entry] = []
        self._reported: list[_Entry] = []
        self._gone: list[FoundRow] = []
        self._order = count()
        self._waits: dict[Wiring, bool] = {}
        self._changes = self._may_change()

    @property
    def any(self) -> bool:
        """Whether rows have to be looked at one by one, or are pending."""
        return bool(self._pending or self._overdue or self._changes or self._intake.freed)

    def _may_change(self) -> bool:
        """Whether rows may be taken away at all."""
        return bool(self._levels.revisable)

    def waits(self, wiring: Wiring) -> bool:
        """Whether the rows of a query may be taken away: it is a join or a filter over a stream
        that is revisable."""
        if not self._changes:
            return False
        known = self._waits.get(wiring)
        if known is None:
            revisable = self._levels.revisable
            weak = wiring.level.name == "weak"
            known = self._waits[wiring] = not weak and _may_vanish(wiring, revisable)
        return known

    def queries_changed(self) -> None:
        """Drops what was of queries that have gone."""
        self._waits.clear()
        self._depths.clear()
        self._changes = self._may_change()
        self._keep(lambda entry: entry[2].active)
        pending, self._pending = self._pending, {}
        for entry in chain.from_iterable(pending.values()):
            if self.waits(entry[2].wiring):
                self._wait(entry)
            else:
                self._overdue.append(entry)

    def begin(self) -> None:
        """A step begins: no level of patterns has seen its watermark yet."""
        self._passed = 0

    def pass_level(self) -> None:
        """One more level of patterns has seen the watermark."""
        self._passed += 1

    def end(self) -> bool:
        """All levels of patterns have seen the watermark; returns whether that is new."""
        new, self._passed = self._passed != _ALL, _ALL
        self._before = self._intake.watermark
        return new

    def take(self, rows: Iterable[FoundRow]) -> list[FoundRow]:
        """The rows that are to be reported now; the others are pending from now on.  Of documents
        of before the input had ended once, none is."""
        now: list[FoundRow] = []
        held, flushed, freed = self._intake.held, self._intake.flushed, self._intake.freed
        for owner, row in rows:
            if (
                freed
                and isinstance(owner, Subscription)
                and not freed.isdisjoint(row.documents)
                and owner.wiring.level.name != "weak"
                and not owner.wiring.timed
            ):
                # One was retracted, and is retained for what is weak.
                continue
            if isinstance(owner, Subscription) and self.waits(owner.wiring):
                time = row.known_at([held[number] for number in row.documents])
                mark = self._mark(self._depth(owner.wiring))
                if mark is None or time > mark:
                    entry = (time, next(self._order), owner, row)
                    level = owner.wiring.level
                    if max(row.documents) >= flushed and not _reports(time, level, mark):
                        self._wait(entry)
                        continue
                    self._remember(entry)
            now.append((owner, row))
        return now

    def due(self, *, ended: bool) -> list[FoundRow]:
        """Those that are to be reported now, or all where the input has `ended`: no longer
        pending."""
        due, self._overdue = self._overdue, []
        for key, rows in [*self._pending.items()]:
            level, depth = key
            mark, all_due = self._mark(depth), ended and depth <= self._passed
            while rows and (all_due or _reports(rows[0][0], level, mark)):
                due.append(entry := heappop(rows))
                if mark is None or entry[0] > mark:
                    self._remember(entry)
            if not rows:
                del self._pending[key]
        mark = self._intake.watermark
        again = list[_Entry]()
        while self._reported and mark is not None and self._reported[0][0] <= mark:
            # Not all levels of patterns may have seen the watermark yet.
            if self._may_go(entry := heappop(self._reported)):
                again.append(entry)
        for entry in again:
            heappush(self._reported, entry)
        return [entry[2:] for entry in sorted(due)]

    def withdraw(self, document: int) -> None:
        """Drops the rows of a document that is retracted; `take_gone` has those that were
        reported."""
        gone = [entry for entry in sorted(self._reported) if document in entry[3].documents]
        self._gone += [entry[2:] for entry in gone]
        self._keep(lambda entry: document not in entry[3].documents)

    def take_gone(self) -> list[FoundRow]:
        """The rows that were reported and are no more, since the last call."""
        gone, self._gone = self._gone, []
        return gone

    def waited(self, wiring: Wiring, before: Before) -> bool:
        """Whether the rows of a query might have been taken away before a restart."""
        then = self._level_before(wiring, before)
        return then.name != "weak" and _may_vanish(wiring, before.revisable)

    def _level_before(self, wiring: Wiring, before: Before) -> Level:
        """The level of a query before a restart: that of the engine may have been another."""
        return wiring.level if wiring.asked else before.level

    def restored(self, rows: Iterable[FoundRow], before: Before) -> None:
        """After a restart: of the rows of all documents retained, those that were pending `before`
        are again, also where another consistency would have reported them, or none of their streams
        is revisable any more; those that were reported may be taken back where they now may."""
        mark, held, flushed = self._intake.watermark, self._intake.held, self._intake.flushed
        for owner, row in rows:
            time = row.known_at([held[number] for number in row.documents])
            if not isinstance(owner, Subscription) or (mark is not None and time <= mark):
                continue
            if not self._intake.freed.isdisjoint(row.documents):
                continue
            entry = (time, next(self._order), owner, row)
            then = self._level_before(owner.wiring, before)
            if (
                max(row.documents) < flushed
                or not self.waited(owner.wiring, before)
                or _reports(time, then, mark)
            ):
                if self.waits(owner.wiring):
                    self._remember(entry)
            elif self.waits(owner.wiring):
                self._wait(entry)
            else:
                self._overdue.append(entry)

    def pending(self) -> dict[str, Pending]:
        """How many rows of each query are pending, and until when, by name."""
        found: dict[str, Pending] = {}
        for time, _, owner, _ in chain(self._overdue, *self._pending.values()):
            if owner.reported:
                found[owner.name] = Pending.of(1, time).joined(found.get(owner.name))
        return found

    def clear(self) -> None:
        """Drops all."""
        self._pending.clear()
        self._overdue.clear()
        self._reported.clear()
        self._before = None

    def _keep(self, which: Callable[[_Entry], bool]) -> None:
        """Drops all other entries."""
        self._reported, self._overdue = _kept(self._reported, which), _kept(self._overdue, which)
        for key, entries in self._pending.items():
            self._pending[key] = _kept(entries, which)

    def _wait(self, entry: _Entry) -> None:
        """A row is pending."""
        wiring = entry[2].wiring
        heappush(self._pending.setdefault((wiring.level, self._depth(wiring)), []), entry)

    def _depth(self, wiring: Wiring) -> int:
        """How many levels of patterns are below a query."""
        depth = self._depths.get(wiring)
        if depth is None:
            depth = self._depths[wiring] = self._depth_of(wiring.dissection.streams)
        return depth

    def _mark(self, depth: int) -> int | None:
        """The watermark that holds for a query with so many levels of patterns below it."""
        return self._intake.watermark if depth <= self._passed else self._before

    def _may_go(self, entry: _Entry) -> bool:
        """Whether a row that was reported may still be taken back."""
        mark = self._mark(self._depth(entry[2].wiring))
        return mark is None or entry[0] > mark

    def _remember(self, entry: _Entry) -> None:
        """A row is reported that may be taken back."""
        if entry[2].wiring.level.name == "middle":
            heappush(self._reported, entry)


def _reports(time: int, level: Level, mark: int | None) -> bool:
    """Whether a row of a time is reported by a query of a level where the watermark is there."""
    if level.name == "middle" and level.window is None:
        return True
    return mark is not None and time <= mark + (level.window or 0)


def _may_vanish(wiring: Wiring, revisable: Revisable) -> bool:
    """Whether rows of a query that is not weak may be taken away where some streams are
    revisable."""
    return not wiring.timed and any(one in revisable for one in wiring.dissection.streams)


def _kept(entries: list[_Entry], which: Callable[[_Entry], bool]) -> list[_Entry]:
    """Some of the entries of a heap, which are one: sorted ones are."""
    return [entry for entry in sorted(entries) if which(entry)] if entries else entries
