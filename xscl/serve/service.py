"""What the routes have in common: the engine's thread, the journal, the limits, the tallies of
queries."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Request

from xscl.durable.journal_file import JournalFile
from xscl.durable.tally_file import TallyFile
from xscl.engine import Engine
from xscl.errors import StateError, XSCLError
from xscl.matches.match import Match
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription
from xscl.serve.engine_thread import Busy, EngineThread
from xscl.serve.event_stream import News
from xscl.serve.feeds import Feeds
from xscl.serve.found.journal import Journal
from xscl.serve.found.tallies import Tallies
from xscl.serve.gathering import Gathering
from xscl.serve.metrics import Metrics
from xscl.serve.summarised import summarised
from xscl.serve.trying.dry_run import MEMORY
from xscl.serve.trying.processes import Processes
from xscl.times import earlier

__all__ = ["Limits", "Service", "TheService"]

log = logging.getLogger("xscl")

_MEMORY = 64 * 1024 * 1024
"""Bytes of the newest matches that are in memory."""

_BESIDE_FILE = 16 * 1024 * 1024
"""The same, where the state file has all that are kept."""

_TRIALS = 2
"""Dry runs at one time."""

_SPARED = 50.0
"""Numbers of the engine are as old as this many times what it takes to count them."""

_OFTEN = 0.5
_SELDOM = 60.0
"""Seconds between looks at the clock: about a hundredth of the lateness."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a server: bytes of a body and of a document in it, queries, readers of events,
    jobs that wait, matches that are kept."""

    max_body: int = 64 * 1024 * 1024
    max_document: int = 16 * 1024 * 1024
    max_queries: int = 10_000
    max_readers: int = 1_000
    waiting: int = 1_000
    keep_matches: int = 100_000


class Service:
    """The service of an engine; `skipped` is the list to which the engine's `on_skip` adds.  With
    `follows` the lateness follows the windows of the queries; where all of them are patterns, it is
    to be `wait` at least.  `clock` has the time, in seconds."""

    def __init__(
        self,
        engine: Engine,
        skipped: list[XSCLError],
        limits: Limits | None = None,
        *,
        follows: bool = True,
        wait: float | str = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits or Limits()
        self.started = time.time()
        engine.number_after_these()
        keep, keeper = self.limits.keep_matches, engine.keeper
        file = None if keeper is None else JournalFile(keeper, keep)
        self.journal = Journal(keep, _MEMORY if file is None else _BESIDE_FILE, file)
        self.engine = EngineThread(
            engine,
            self.journal,
            skipped,
            self._count,
            waiting=self.limits.waiting,
            gathering=None if file is None else Gathering(),
        )
        self.summarised = summarised(engine)
        self.news = News(self.journal, self.summarised)
        self.metrics = Metrics(self)
        self.found = 0
        self.tallies = Tallies(None if keeper is None else TallyFile(keeper))
        with engine.transaction():
            self.tallies.begin_missing(one.name for one in engine.subscriptions)
        self.texts: dict[str, tuple[Subscription, str]] = {}
        self.feeds: Feeds | None = None
        self.trials = Processes(_TRIALS, MEMORY)
        self.lateness: float | None = None
        self._follows = follows
        self._wait = wait
        self._clock = clock
        self._pending: tuple[float, Mapping[str, Pending], float | None] = (0.0, {}, None)
        self._stats: tuple[float, dict[str, Any]] = (0.0, {})

    def expect_feeds(self, wait: float | str) -> None:
        """From now on items of feeds come, which are this late at times."""
        self._wait = wait
        self.follow_windows()

    def follow_windows(self) -> None:
        """Lets the lateness be what the windows of the queries ask for, unless it was given."""
        if self._follows:
            self.lateness = self.engine.engine.follow_windows(wait=self._wait)

    def advance(self) -> Sequence[Match]:
        """In the engine's thread: lets time pass for queries that wait for it; their matches.  Not
        before what feeds have brought, which would be late."""
        engine, feeds = self.engine.engine, self.feeds
        if self.lateness is None or (feeds is not None and feeds.under_way):
            return ()
        if not engine.waits:
            return ()
        return engine.advance(earlier(self._clock(), self.lateness))

    async def go_by_the_clock(self) -> None:
        """Lets time pass, from now on."""

        def tick() -> None:
            with self.engine.finding() as report:
                report(self.advance())

        while True:
            await asyncio.sleep(min(max((self.lateness or 0) / 100, _OFTEN), _SELDOM))
            # Where much waits, time passes with the next look.
            try:
                await self.engine.do(tick)
            except Busy:
                continue
            except StateError:
                # A closed engine, for whatever reason that others report, ends the server.
                return
            except Exception:
                # What fails once may succeed with the next look.
                log.exception("time could not pass")

    def pending(self) -> tuple[Mapping[str, Pending], float | None]:
        """The matches of each query that are pending, and the watermark: counted again only when
        that has become cheap, as it looks at all that is under way."""
        due, pending, watermark = self._pending
        if time.monotonic() < due:
            return pending, watermark
        started, engine = time.monotonic(), self.engine.engine
        pending, watermark = engine.pending(), engine.watermark
        now = time.monotonic()
        self._pending = now + _SPARED * (now - started), pending, watermark
        return pending, watermark

    async def stats(self) -> dict[str, Any]:
        """The numbers of the engine: requested again only when that has become cheap, as it looks
        at all documents."""

        def count() -> dict[str, Any]:
            started = time.monotonic()
            stats = self.engine.engine.stats()
            now = time.monotonic()
            self._stats = now + _SPARED * (now - started), stats
            return stats

        due, stats = self._stats
        return stats if time.monotonic() < due else await self.engine.do(count)

    def _count(self, matches: Sequence[Match]) -> None:
        counts = Counter[str]()
        for match in matches:
            counts[match.query] += -1 if match.retracts else 1
            self.found += not match.retracts
        self.tallies.count(counts)


async def _service(request: Request) -> Service:
    # What is not `async` would be asked for in a thread of its own, each time.
    return cast(Service, request.app.state.service)


TheService = Annotated[Service, Depends(_service)]
"""The service, as a route asks for it."""
