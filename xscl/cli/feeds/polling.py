"""The options of the commands that poll -> the poller of some feeds."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import click

from xscl.cli.feeds.feed_report import FeedReport
from xscl.cli.options import DURATION, Fetching, Memory, Params, State, by_default, option
from xscl.documents.retention import RETAINED
from xscl.errors import XSCLError
from xscl.feeds import parse_feed
from xscl.polling.clock import SystemClock
from xscl.polling.news import SeenItem
from xscl.polling.poller import Poller
from xscl.polling.relations import Changes, Envelope, Key
from xscl.polling.state import FeedState, Policy
from xscl.polling.store import FeedStore
from xscl.polling.watched_feeds import WatchedFeed
from xscl.polling.withdrawals import Shown
from xscl.times import to_seconds
from xscl.version import __version__
from xscl.web.proxies import ProxySettings
from xscl.web.retrieval import HTTPRetrieval, user_agent

if TYPE_CHECKING:
    from xscl.engine import Engine

__all__ = ["LEAST_WAIT", "Polling", "Unkept"]

LEAST_WAIT = "1 hour"
"""The least lateness where items come by polling: they are seldom older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling(Fetching):
    """The options of the commands that poll feeds under standing queries."""

    lateness: Annotated[
        int | None,
        option(
            "How late a document may arrive and still be joined.",
            type=DURATION,
            show_default="the widest window of the queries that ends, a day at least",
        ),
    ]
    params: Params
    memory: Memory
    state: State
    retain: Annotated[
        int | None,
        option(
            "How long items of feeds are retained for queries that come later; 0 turns this off.",
            type=DURATION,
            default="1 week",
        ),
    ]
    retain_most: Annotated[
        int,
        option(
            "How many items of a stream are retained at most that no query reaches any more.",
            type=click.IntRange(0),
            default=RETAINED,
        ),
    ]

    @property
    def late(self) -> float | None:
        """The lateness in seconds; None for INF, and where it follows the windows."""
        return None if self.lateness is None else to_seconds(self.lateness)

    @property
    def engine_lateness(self) -> float | str | None:
        """The lateness as an engine takes it; None where it follows the windows of queries."""
        return None if by_default("lateness") else "INF" if self.late is None else self.late

    @property
    def agent(self) -> bytes:
        """The name under which servers are asked; raises XSCLError for a bad contact."""
        try:
            return user_agent(__version__, self.contact)
        except ValueError as error:
            raise XSCLError(f"--contact: {error}") from error

    def retain_recent(self, engine: Engine, sources: Iterable[tuple[str, str]]) -> None:
        """Retains recent items of feeds, by stream and source, for queries that come later. It
        comes before any query: a state's documents go where nothing retains them."""
        span = "INF" if self.retain is None else to_seconds(self.retain)
        for stream in dict.fromkeys(stream for stream, _ in sources):
            engine.retain(stream, span, most=self.retain_most)

    def poller(
        self,
        polled: Sequence[WatchedFeed],
        remembering: FeedStore,
        engine: Engine,
        report: FeedReport,
        proxies: ProxySettings,
        on_answer: Callable[[FeedState], object],
        *,
        once: bool = False,
        revisable: Container[str] = (),
        on_dates: Callable[[int, int], object] = lambda items, undated: None,
    ) -> Poller:
        """The poller of some feeds, which reports on them.  With `once` the next run decides when
        to poll again, unless --every does."""
        every = 0.0 if once and by_default("every") else self.every
        return Poller(
            polled,
            remembering,
            HTTPRetrieval(self.agent, self.allow_private, limit=self.max_document, proxies=proxies),
            partial(parse_feed, links=self.links),
            SystemClock(),
            Policy(every=every, once=once),
            seed=random.randrange(2**32),
            updates=self.updates,
            revisable=revisable,
            watermark=engine.watermark,
            on_error=report.failed,
            on_page=report.led,
            on_answer=on_answer,
            on_dates=on_dates,
        )


class Unkept:
    """The memory of polling without a file: each run begins again."""

    def feeds(self) -> dict[str, FeedState]:
        """None."""
        return {}

    def seen(self) -> dict[tuple[str, str], list[SeenItem]]:
        """None."""
        return {}

    def shown(self) -> dict[tuple[str, str], list[Shown]]:
        """None."""
        return {}

    def late(self) -> dict[Key, float]:
        """None."""
        return {}

    def documents(self, keys: Sequence[tuple[str, str]]) -> Iterator[Envelope]:
        """None."""
        return iter(())

    def save(self, changes: Changes) -> None:
        """Nothing."""
