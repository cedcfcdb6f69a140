"""How feeds are polled, as the options of a command say -> the poller that does so."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from xscl.cli.feeds.feed_report import FeedReport
from xscl.errors import XSCLError
from xscl.feeds import Rules, parse_feed
from xscl.polling.clock import SystemClock
from xscl.polling.news import SeenItem
from xscl.polling.poller import Poller
from xscl.polling.relations import Changes, Envelope, Key
from xscl.polling.state import FeedState, Policy
from xscl.polling.store import FeedStore
from xscl.polling.watched_feeds import WatchedFeed
from xscl.version import __version__
from xscl.web.proxies import ProxySettings
from xscl.web.retrieval import HTTPRetrieval, user_agent

if TYPE_CHECKING:
    from xscl.engine import Engine

__all__ = ["LEAST_WAIT", "HowToPoll", "Unkept"]

LEAST_WAIT = "1 hour"
"""The least lateness where items come by polling: they are older than this only seldom."""


@dataclass(frozen=True, slots=True)
class HowToPoll:
    """The values of the options; raises XSCLError for a contact or proxy that cannot be."""

    every: float
    once: bool
    contact: str | None
    allow_private: bool
    updates: bool
    links: Rules
    max_document: int

    @property
    def agent(self) -> bytes:
        """The name under which servers are asked."""
        try:
            return user_agent(__version__, self.contact)
        except ValueError as error:
            raise XSCLError(f"--contact: {error}") from error

    @property
    def policy(self) -> Policy:
        """How often feeds are polled; with `--once`, whoever starts us sees to it unless told."""
        source = click.get_current_context().get_parameter_source("every")
        every = 0.0 if self.once and source is ParameterSource.DEFAULT else self.every
        return Policy(every=every, once=self.once)

    def poller(
        self,
        polled: Sequence[WatchedFeed],
        remembering: FeedStore,
        engine: Engine,
        report: FeedReport,
        proxies: ProxySettings,
        on_answer: Callable[[FeedState], object],
    ) -> Poller:
        """The poller of some feeds, which reports on them."""
        return Poller(
            polled,
            remembering,
            HTTPRetrieval(self.agent, self.allow_private, limit=self.max_document, proxies=proxies),
            partial(parse_feed, links=self.links),
            SystemClock(),
            self.policy,
            seed=random.randrange(2**32),
            updates=self.updates,
            watermark=engine.watermark,
            on_error=report.failed,
            on_page=report.led,
            on_answer=on_answer,
        )


class Unkept:
    """The memory of polling that nobody keeps: each run begins anew."""

    def feeds(self) -> dict[str, FeedState]:
        """None."""
        return {}

    def seen(self) -> dict[tuple[str, str], list[SeenItem]]:
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
