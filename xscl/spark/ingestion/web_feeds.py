"""Feeds at addresses become bodies: how they are fetched, and what of an answer lands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xscl.errors import XSCLError
from xscl.feeds import parse_feed
from xscl.polling.clock import Clock, SystemClock
from xscl.polling.fetching import Fetched, Fetching
from xscl.polling.named_feeds import NamedFeeds
from xscl.polling.state import FeedState, Policy
from xscl.sources.limits import MAX_DOCUMENT
from xscl.spark.ingestion.bodies import Body
from xscl.version import __version__
from xscl.web.proxies import ProxySettings
from xscl.web.retrieval import HTTPRetrieval, user_agent

__all__ = ["Web", "body_of"]


@dataclass(frozen=True, slots=True)
class Web:
    """How addresses are fetched from: `timeout` (seconds) bounds one fetch, `max_document` (bytes)
    one body; `contact` goes into the user agent."""

    timeout: float = 60.0
    max_document: int = MAX_DOCUMENT
    allow_private: bool = False
    contact: str | None = None

    def fetching(
        self, feeds: NamedFeeds, known: Mapping[str, FeedState], policy: Policy, clock: Clock
    ) -> Fetching:
        """The fetching of the addresses among some feeds; `known` is what is known of feeds by
        their names.  Raises XSCLError where the environment says something wrong of the way."""
        try:
            retrieval = HTTPRetrieval(
                user_agent(__version__, self.contact),
                self.allow_private,
                limit=self.max_document,
                seconds=self.timeout,
                # Nobody without addresses need fix a netrc file.
                proxies=ProxySettings.of_environment() if feeds.addresses else ProxySettings(),
            )
        except ValueError as error:
            raise XSCLError(str(error)) from error
        return Fetching(
            [known.get(name) or FeedState(name, name) for name in feeds.addresses],
            feeds.credentials,
            retrieval,
            parse_feed,
            clock,
            policy,
            seed=random.randrange(2**32),
        )

    def bodies(self, feeds: NamedFeeds, policy: Policy) -> Iterator[Body]:
        """Fetches each of the addresses once."""
        fetching = self.fetching(feeds, {}, policy, SystemClock())
        while not fetching.over:
            if (fetched := fetching.next()) is not None:
                body = body_of(fetched, feeds.addresses[fetched.state.address])
                if body is not None:
                    yield body


def body_of(fetched: Fetched, folders: tuple[str, ...]) -> Body | None:
    """What an answer brought: nothing if the feed is as it was."""
    state, response = fetched.state, fetched.response
    if response is None or response.status != 200:
        if state.error is None:
            return None
        return Body(state.address, fetched.at, folders, problem=state.error)

    def header(name: str) -> str | None:
        value = response.headers.get(name)
        return None if value is None else value.decode("latin-1")

    return Body(
        state.address,
        fetched.at,
        folders,
        url=response.url,
        content_type=header("content-type"),
        etag=header("etag"),
        last_modified=header("last-modified"),
        body=response.body,
    )
