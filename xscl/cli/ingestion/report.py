"""The report of an ingestion on standard error: progress, batches, failing feeds, a summary."""

from __future__ import annotations

import threading
import time

from rich.console import Console

from xscl.cli.log import Level
from xscl.cli.report import Terminal
from xscl.counts import counted
from xscl.spark.folders import is_remote
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.batches import Batch
from xscl.spark.ingestion.spool import Spool
from xscl.spark.ingestion.status import read_status

__all__ = ["IngestReport"]


class IngestReport(Terminal):
    """Counts bodies and items.  Batches are reported from another thread."""

    def __init__(self, console: Console, spool: Spool) -> None:
        super().__init__(console, alone=True, beginning="starting Spark …")
        self._spool = spool
        self._started = time.perf_counter()
        self._lock = threading.Lock()
        self._before = spool.last
        self._bodies = self._items = self._known = self._dead = 0

    def batch(self, batch: Batch) -> None:
        """Reports a batch that was written."""
        with self._lock:
            self._bodies += batch.bodies
            self._items += batch.published
            self._known += batch.known
            self._dead += batch.dead
            for each in batch.problems:
                self.say(f"feed {each.feed}: {each.problem}")
            if batch.dead > len(batch.problems):
                self.say(f"{counted(batch.dead - len(batch.problems), 'more feed')} had no items")
            self.note(
                f"batch {batch.number}: {counted(batch.bodies, 'body')}, "
                f"{counted(batch.published, 'new item')}, {batch.known:,} known, "
                f"{counted(batch.dead, 'dead letter')}"
            )

    def cleared(self, files: int) -> None:
        """Reports that raw bodies were deleted."""
        if files:
            deleted = counted(files, "file of raw bodies", "files of raw bodies")
            self.note(f"{deleted} deleted after reading (--keep)")

    def tick(self) -> None:
        """Shows the progress."""
        fetched = self._spool.last - self._before
        self.show(
            f"{counted(fetched, 'body')} fetched, {self._bodies:,} read, "
            f"{counted(self._items, 'new item')}"
        )

    def unread(self, archive: Archive) -> bool:
        """Whether no feed could be read, which is reported; nothing is known of another machine's
        folder."""
        if self._items or self._known or is_remote(archive.root):
            return False
        now = read_status(archive)
        unread = 0 < now.feeds <= len(now.troubles)
        if unread:
            self.say("no feed could be read", Level.ERROR)
        return unread

    def close(self) -> None:
        """Prints the closing summary."""
        self.stop()
        seconds = time.perf_counter() - self._started
        self.note(
            f"{counted(self._bodies, 'body')}, {counted(self._items, 'new item')}, "
            f"{self._known:,} known, {counted(self._dead, 'dead letter')}, {seconds:,.0f} s"
        )
