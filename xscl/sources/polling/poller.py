"""Polling at work: the core's decisions carried out, its answers brought, news passed on.

Fetching and parsing go on in threads, all else in the one that iterates.  What a poll brought is
remembered only when the next one is asked for, so what was not dealt with comes again after a
crash, with the same ids.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from xscl.sources.feeds import NotAFeed
from xscl.sources.feeds.items import ParsedFeed
from xscl.sources.polling.clock import Clock
from xscl.sources.polling.core import Answer, Failed, Fetch, Parsed, Polling
from xscl.sources.polling.news import Seen, SeenItem
from xscl.sources.polling.parsing import Parser
from xscl.sources.polling.retrieval import Retrieval, RetrievalError
from xscl.sources.polling.state import FeedState, Policy, Validators
from xscl.sources.polling.store import Changes, Envelope, SeenDocument, Store
from xscl.sources.polling.subscriptions import Subscription

__all__ = ["Poller"]

log = logging.getLogger("xscl")


@dataclass(frozen=True, slots=True)
class _Answered:
    address: str
    answer: Answer
    feed: ParsedFeed | None = None


class _Stop:
    """That polling is to end, among the answers."""


class Poller:
    """Polls feeds and yields what is new in them, as envelopes.

    `updates` makes an edited item a document of its own, a new version.  `on_error` is told of
    each feed whose fetch failed.  What has been dealt with is written at most every `save_every`
    seconds: a writing costs what opening the file costs.
    """

    def __init__(
        self,
        feeds: Iterable[Subscription],
        store: Store,
        retrieval: Retrieval,
        parser: Parser,
        clock: Clock,
        policy: Policy,
        *,
        seed: int,
        updates: bool = False,
        save_every: float = 5.0,
        on_error: Callable[[FeedState], object],
    ) -> None:
        self._feeds = {feed.address: feed for feed in feeds}
        self._store = store
        self._retrieval = retrieval
        self._parser = parser
        self._clock = clock
        self._once = policy.once
        self._updates = updates
        self._on_error = on_error
        self._seen = {key: Seen(items) for key, items in store.seen().items()}
        known = store.feeds()
        states = [self._start_from(feed, known.get(feed.address)) for feed in self._feeds.values()]
        self._polling = Polling(states, policy, seed=seed)
        self._waiting = set(self._polling.due(clock.now()))
        self._changes = Changes()
        self._save_every = save_every
        self._saved = clock.now()
        self._fetches: queue.SimpleQueue[Fetch] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[_Answered | _Stop] = queue.SimpleQueue()
        for number in range(min(policy.concurrency, len(self._feeds))):
            name = f"xscl-feeds-{number}"
            threading.Thread(target=self._fetch_all, name=name, daemon=True).start()

    @property
    def states(self) -> Mapping[str, FeedState]:
        """What is known of each feed, by address."""
        return self._polling.states

    def history(self) -> Iterator[Envelope]:
        """The documents that were published of these feeds in earlier runs, in order of time."""
        return self._store.documents(
            [(feed.address, stream) for feed in self._feeds.values() for stream in feed.folders]
        )

    def stop(self) -> None:
        """Ends `polls` at its next step; may be called from anywhere, a signal handler too."""
        self._answers.put(_Stop())

    def polls(self) -> Iterator[list[Envelope]]:
        """The new items, in order of time: first those of all feeds that are due at the start,
        as one poll; then, unless the policy is `once`, each feed's when it has come.  Ends when
        no feed is left that may be fetched."""
        first: list[Envelope] = []
        while (self._waiting or not self._once) and (answered := self._next()) is not None:
            envelopes = self._take(answered)
            if answered.address in self._waiting:
                self._waiting.discard(answered.address)
                first += envelopes
                envelopes = [] if self._waiting else first
            if envelopes:
                yield sorted(envelopes, key=_time)
        self._save()

    def _next(self) -> _Answered | None:
        """The next answer; fetches are started as they fall due.  None to stop."""
        while True:
            now = self._clock.now()
            if self._changes and now >= self._saved + self._save_every:
                self._save()
            for fetch in self._polling.start(now):
                self._fetches.put(fetch)
            until, under_way = self._polling.next_start(), self._polling.under_way
            if until is None and not under_way:
                return None
            if self._changes:
                until = min(until or float("inf"), self._saved + self._save_every)
            answered = self._clock.receive(self._answers, until, under_way)
            if isinstance(answered, _Stop):
                return None
            if answered is not None:
                return answered

    def _take(self, answered: _Answered) -> list[Envelope]:
        """What an answer changes, and the documents that it brings."""
        address = answered.address
        state = self._polling.answered(address, answered.answer, self._clock.now())
        self._changes.feeds[address] = state
        if state.error is not None:
            self._on_error(state)
        if answered.feed is None:
            return []
        envelopes: list[Envelope] = []
        for stream, folders in self._feeds[address].folders.items():
            envelopes += self._news(address, stream, folders, answered.feed)
        return envelopes

    def _news(
        self, address: str, stream: str, folders: tuple[str, ...], feed: ParsedFeed
    ) -> list[Envelope]:
        arrival = self._clock.now()
        filed = replace(feed.feed, folders=folders)
        news = self._seen.setdefault((address, stream), Seen()).take(feed.items)
        published = [*news.new, *news.edited] if self._updates else news.new
        only_remembered = news.churned if self._updates else [*news.edited, *news.churned]
        envelopes: list[Envelope] = []
        for item in published:
            envelope = replace(item, feed=filed).envelope(stream, arrival, updates=self._updates)
            self._changes.see(SeenDocument(address, stream, SeenItem.of(item), envelope))
            envelopes.append(envelope)
        for item in only_remembered:
            self._changes.see(SeenDocument(address, stream, SeenItem.of(item), None))
        for identity in news.forgotten:
            self._changes.forget((address, stream, identity))
        return envelopes

    def _save(self) -> None:
        # What the first poll has brought so far has been given to nobody yet.
        if self._changes and not self._waiting:
            self._store.save(self._changes)
            self._changes = Changes()
        self._saved = self._clock.now()

    def _start_from(self, feed: Subscription, known: FeedState | None) -> FeedState:
        """What is known of a feed; one that a stream reads for the first time must come whole."""
        state = known or FeedState(feed.address, feed.address)
        if all((feed.address, stream) in self._seen for stream in feed.folders):
            return state
        return replace(state, validators=Validators())

    def _fetch_all(self) -> None:
        while True:
            fetch = self._fetches.get()
            try:
                answered = self._fetch(fetch)
            except Exception as error:
                # One feed's trouble, of whatever kind, must not take a thread from the others.
                log.exception("feed %s", fetch.address)
                answered = _Answered(fetch.address, Failed(f"{type(error).__name__}: {error}"))
            self._answers.put(answered)

    def _fetch(self, fetch: Fetch) -> _Answered:
        feed = self._feeds[fetch.address]
        try:
            response = self._retrieval(fetch.url, fetch.validators, feed.credentials)
            if response.status != 200:
                return _Answered(fetch.address, response)
            content_type = response.headers.get("content-type")
            parsed = self._parser(
                response.body,
                fetch.address,
                content_type=None if content_type is None else content_type.decode("latin-1"),
                base=response.url,
            )
        except RetrievalError as error:
            return _Answered(fetch.address, Failed(str(error)))
        except NotAFeed as error:
            return _Answered(fetch.address, Failed(f"what is there {error}"))
        return _Answered(fetch.address, Parsed(response, parsed), parsed)


def _time(envelope: Envelope) -> float:
    return float(envelope["timestamp"])  # type: ignore[arg-type]
