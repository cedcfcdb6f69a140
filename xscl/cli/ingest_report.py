"""What an ingestion tells on standard error: progress, batches, feeds in trouble, a summary."""

from __future__ import annotations

import threading
import time

from rich.console import Console

from xscl.cli.progress import Terminal
from xscl.spark.ingestion.batches import Batch
from xscl.spark.ingestion.spool import Spool

__all__ = ["IngestReport"]


class IngestReport(Terminal):
    """Counts bodies and items.  Batches are told from another thread."""

    def __init__(self, console: Console, spool: Spool) -> None:
        super().__init__(console, alone=True, beginning="starting Spark …")
        self._spool = spool
        self._started = time.perf_counter()
        self._lock = threading.Lock()
        self._before = spool.last
        self._bodies = self._items = self._known = self._dead = 0

    def batch(self, batch: Batch) -> None:
        """Tells of a batch that was written."""
        with self._lock:
            self._bodies += batch.bodies
            self._items += batch.published
            self._known += batch.known
            self._dead += batch.dead
            for each in batch.problems:
                self.say(f"feed {each.feed}: {each.problem}")
            if batch.dead > len(batch.problems):
                self.say(f"{batch.dead - len(batch.problems):,} more feeds had no items")
            self.say(
                f"batch {batch.number}: {batch.bodies:,} bodies, {batch.published:,} new items, "
                f"{batch.known:,} known, {batch.dead:,} dead letters"
            )

    def cleared(self, files: int) -> None:
        """Tells that raw bodies were deleted."""
        if files:
            self.say(f"{files:,} files of raw bodies deleted, which have been read (--keep)")

    def tick(self) -> None:
        """Shows how far it is."""
        fetched = self._spool.last - self._before
        self.show(f"{fetched:,} bodies fetched, {self._bodies:,} read, {self._items:,} new items")

    def close(self) -> None:
        """Prints the closing summary."""
        self.stop()
        seconds = time.perf_counter() - self._started
        self.say(
            f"{self._bodies:,} bodies, {self._items:,} new items, {self._known:,} known, "
            f"{self._dead:,} dead letters, {seconds:,.0f} s"
        )
