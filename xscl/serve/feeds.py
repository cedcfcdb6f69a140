"""Feeds that are polled alongside the requests: what they bring is published as requests' documents
are, a thread of its own waits for them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xscl.engine import Engine
from xscl.errors import XSCLError
from xscl.matches.match import Match
from xscl.polling.poller import Poller
from xscl.polling.state import FeedState
from xscl.polling.watched_feeds import WatchedFeed, watched_feeds
from xscl.serve.engine_thread import Busy, EngineThread

__all__ = ["Feeds", "Full", "Health"]

Envelope = dict[str, object]

Late = Callable[[Sequence[Envelope]], Sequence[Envelope]]
"""The documents of a poll that come too late; it says so of each feed."""

_PORTION = 500
"""Documents that are published at a time, so that requests wait for no more."""

_PAUSE = 0.1

_MOST = 10_000
"""Feeds that are polled, when one is added."""

_WEB = re.compile("https?://", re.IGNORECASE)


class Full(Exception):
    """There are as many feeds as there may be."""


@dataclass(frozen=True, slots=True)
class Health:
    """A feed: the streams that get its items, what is known of it, how many items it has shown."""

    streams: Sequence[str]
    state: FeedState
    items: int


class Feeds:
    """The feeds that a poller polls, for an engine in its thread; `late` picks the documents that
    are too late, `advance` lets time pass, `begin` prepares the engine, in its thread, for the
    feeds of a stream.  What requests have `added`, streams and addresses, is in a list.  While a
    poll is `under_way`, the first until it is done, its documents are not there yet."""

    def __init__(
        self,
        poller: Poller,
        polled: Sequence[WatchedFeed],
        engine: EngineThread,
        late: Late,
        advance: Callable[[], Sequence[Match]],
        begin: Callable[[str], object] = lambda stream: None,
        added: list[tuple[str, str]] | None = None,
    ) -> None:
        self.under_way = len(poller.not_due) < len(polled)
        self._poller = poller
        self._polled = list(polled)
        self._begin = begin
        self._added = [] if added is None else added
        self._adding = threading.Lock()
        self._engine = engine
        self._late = late
        self._advance = advance
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="xscl-feeds")

    def start(self) -> None:
        """Begins to poll."""
        self._thread.start()

    def stop(self) -> None:
        """Asks it to end; a signal handler may call it."""
        self._ending = True
        self._poller.stop()

    def end(self) -> None:
        """Ends it; what was polled is published."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, stream: str, address: str) -> tuple[Health, bool]:
        """Polls a feed for a stream from now on; how it is, and whether it is new.  Raises
        XSCLError for what is no address or no stream, Full where there are too many."""
        if not _WEB.match(address):
            raise XSCLError(f"feed {address!r}: expected an address that begins with https://")
        (feed,) = watched_feeds([(stream, address)], on_error=lambda problem: None)
        with self._adding:
            known = self._known(feed.address)
            new = known is None or stream not in known.folders
            if new:
                if known is None and len(self._polled) >= _MOST:
                    raise Full(f"{_MOST:,} feeds are polled already")
                self._engine.submit(lambda: self._begin(stream)).result()
                if known is None:
                    self._polled.append(feed)
                else:
                    known.lies_in(stream, ())
                self._added.append((stream, address))
                self._poller.add(feed)
        return next(one for one in self.health() if one.state.address == feed.address), new

    def ask(self, address: str) -> Health | None:
        """Lets a feed be fetched now; how it was, None if there is none of that address."""
        if self._known(address) is None:
            return None
        self._poller.ask(address)
        return next(one for one in self.health() if one.state.address == address)

    def _known(self, address: str) -> WatchedFeed | None:
        return next((one for one in self._polled if one.address == address), None)

    def health(self) -> Iterator[Health]:
        """How each feed is, from any thread."""
        states: Mapping[str, FeedState] = dict(self._poller.states)
        seen = self._poller.seen
        for feed in list(self._polled):
            address = feed.address
            state = states.get(address) or FeedState(address, address)
            yield Health(list(feed.folders), state, seen.get(address, 0))

    def _run(self) -> None:
        try:
            for envelopes in self._poller.polls(empty=True, lasting=True):
                if not envelopes:
                    self.under_way = False
                for start in range(0, len(envelopes), _PORTION):
                    some = envelopes[start : start + _PORTION]
                    self._publish(some, last=start + _PORTION >= len(envelopes))
        except Busy:
            # It is ending: what was not published comes again in the next run.
            return
        except BaseException as error:
            self._engine.failed(f"polling has failed: {error}")

    def _publish(self, envelopes: Sequence[Envelope], *, last: bool) -> None:
        """Publishes documents; with the `last` of a poll, it is remembered what was polled."""

        def publish() -> None:
            engine: Engine = self._engine.engine
            with self._engine.finding() as report:
                self._poller.pass_over(self._late(envelopes))
                report(engine.publish_many(envelopes))
                self.under_way = not last
                report(self._advance())
                if last and engine.keeper is not None:
                    self._poller.save()

        while True:
            try:
                answer = self._engine.submit(publish)
            except Busy:
                if self._ending:
                    raise
                time.sleep(_PAUSE)
            else:
                answer.result()
                return
