"""The report of a join on standard error: progress, batches, skipped documents, a summary."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from xscl.cli.log import Level
from xscl.cli.report import Terminal
from xscl.counts import counted

if TYPE_CHECKING:
    from xscl.durable.plan import Plan
    from xscl.spark.joins.job import Brought

__all__ = ["JoinReport", "skipped"]

_SHOWN = 5


def skipped(duplicate: int, late: int, dead: int) -> str:
    """How many documents are skipped, and why, in words.

    >>> skipped(0, 0, 0), skipped(2, 0, 1)
    ('0 skipped', '3 skipped (2 duplicates, 1 dead letter)')
    """
    reasons = [
        counted(duplicate, "duplicate") if duplicate else "",
        f"{late:,} late" if late else "",
        counted(dead, "dead letter") if dead else "",
    ]
    why = ", ".join(filter(None, reasons))
    return f"{duplicate + late + dead:,} skipped" + (f" ({why})" if why else "")


class JoinReport(Terminal):
    """Counts documents and matches.  Batches are reported from another thread."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, alone=True, beginning="starting Spark …")
        self._begun: float | None = None
        self._lock = threading.Lock()
        self._all = Counter[str]()
        self.stopped = False
        """Whether a query needed too much in a batch."""

    def begin(self) -> None:
        """Notes that documents are read from now on."""
        self._begun = time.perf_counter()

    def plan(self, plan: Plan) -> None:
        """Reports what becomes of the queries of before."""
        for line in plan.lines():
            self.note(line)

    def endless(self, queries: Sequence[str]) -> None:
        """Warns of queries for which documents are retained for good."""
        if queries:
            shown = ", ".join(queries[:_SHOWN]) + (", …" if len(queries) > _SHOWN else "")
            self.say(
                f"{counted(len(queries), 'query')} with no window that ends: {shown}: each "
                "document that they read is retained for good; give each JOIN and FOLLOWED BY a "
                "window"
            )

    @property
    def fruitless(self) -> bool:
        """Whether there were documents and all of them were skipped, not only as duplicates."""
        of = self._all
        some = of["late"] + of["dead"]
        return some > 0 and of["documents"] == some + of["duplicate"]

    def batch(self, batch: Brought) -> None:
        """Reports a batch that was written."""
        with self._lock:
            for name in ("documents", "matches", "duplicate", "late", "dead"):
                self._all[name] += getattr(batch, name)
            for problem, count in batch.problems.items():
                self.say(f"{counted(count, 'document')} skipped: {problem}")
            for stop in batch.stopped:
                self.stopped = True
                self.say(stop, Level.ERROR)
            why = skipped(batch.duplicate, batch.late, batch.dead)
            self.note(
                f"batch {batch.batch}: {counted(batch.documents, 'document')}, "
                f"{counted(batch.matches, 'match')}, {why}"
            )

    def tick(self, documents: int) -> None:
        """Shows the progress."""
        matches = counted(self._all["matches"], "match")
        self.show(f"{counted(documents, 'document')} read, {matches}")

    def close(self) -> None:
        """Prints the closing summary."""
        self.stop()
        of = self._all
        seconds = 0.0 if self._begun is None else time.perf_counter() - self._begun
        rate = of["documents"] / seconds if seconds else 0.0
        if of["late"]:
            self.say(
                f"{counted(of['late'], 'document')} came late and took no part; a join that is "
                "begun with a longer --lateness waits for them"
            )
        self.note(
            f"{counted(of['documents'], 'document')}, "
            f"{skipped(of['duplicate'], of['late'], of['dead'])}, "
            f"{counted(of['matches'], 'match')}, {seconds:,.0f} s, {rate:,.0f} docs/s"
        )
