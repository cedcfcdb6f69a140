"""Polling at work: bodies become news, and news become documents of the streams.

What a poll brought is remembered only when the next one is asked for, so what was not dealt with
comes again after a crash, with the same ids.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from xscl.feeds.items import Item, ParsedFeed
from xscl.polling.clock import Clock
from xscl.polling.core import host_of, is_busy
from xscl.polling.fetching import Fetched, Fetching
from xscl.polling.finding import Parser
from xscl.polling.news import News, Seen, SeenItem
from xscl.polling.relations import Changes, Envelope, Key, SeenDocument
from xscl.polling.state import FeedState, Policy
from xscl.polling.store import FeedStore
from xscl.polling.watched_feeds import WatchedFeed
from xscl.polling.withdrawals import Shown, withdrawn
from xscl.web.exchange import Validators
from xscl.web.retrieval import Retrieval

__all__ = ["Poller", "history"]

_AHEAD = 60.0
"""Seconds by which a clock may have been ahead."""


def history(store: FeedStore, feeds: Iterable[WatchedFeed]) -> Iterator[Envelope]:
    """The documents that were published of some feeds in earlier runs, in order of time."""
    return store.documents([(feed.address, stream) for feed in feeds for stream in feed.folders])


class Poller:
    """Polls feeds and yields their new items, as envelopes.

    `updates` makes an edited item a document of its own, a new version; in a stream that is
    `revisable` it takes the place of the version before, and an item that its feed has withdrawn is
    retracted.  `on_error` gets
    the state of each feed whose fetch failed, `on_answer` that of each that has answered, `on_page`
    the address of a web page and that of the one feed that it names, which is read in its place,
    `on_dates` how many items of a feed are given out and how many of them have no date, or one in
    the future: their time is that of the fetch.
    States and items are saved at most every `save_every` seconds: saving costs what opening a file
    costs.

    Items that an earlier run has passed over as too late (`pass_over`) are new again if they are
    not earlier than the `watermark` (seconds; None: whatever their time).
    """

    def __init__(
        self,
        feeds: Iterable[WatchedFeed],
        store: FeedStore,
        retrieval: Retrieval,
        parser: Parser,
        clock: Clock,
        policy: Policy,
        *,
        seed: int,
        updates: bool = False,
        revisable: Container[str] = (),
        save_every: float = 5.0,
        watermark: float | None = None,
        on_error: Callable[[FeedState], object],
        on_page: Callable[[str, str], object] = lambda page, feed: None,
        on_answer: Callable[[FeedState], object] = lambda state: None,
        on_dates: Callable[[int, int], object] = lambda items, undated: None,
    ) -> None:
        self._feeds = {feed.address: feed for feed in feeds}
        self._store = store
        self._clock = clock
        self._once = policy.once
        self._updates, self._revisable = updates, revisable
        self._on_error = on_error
        self._on_page = on_page
        self._on_answer = on_answer
        self._on_dates = on_dates
        self._take_back(watermark)
        self._passed_over = set(store.late())
        self._shown: dict[tuple[str, str], Sequence[Shown]] = {**store.shown()}
        self._seen = {key: Seen(items) for key, items in store.seen().items()}
        known = store.feeds()
        states = [self._start_from(feed, known.get(feed.address)) for feed in self._feeds.values()]
        self._fetching = Fetching(
            states,
            {feed.address: feed.credentials for feed in self._feeds.values()},
            retrieval,
            parser,
            clock,
            policy,
            seed=seed,
        )
        self._waiting = set(self._fetching.due(clock.now()))
        self.not_due = [state for state in states if state.address not in self._waiting]
        """The states of the feeds that may not be fetched yet, or not at all, at the start."""
        self._changes = Changes()
        self._save_every = save_every
        self._saved = clock.now()

    @property
    def states(self) -> Mapping[str, FeedState]:
        """The state of each feed, by address."""
        return self._fetching.states

    @property
    def next_fetch(self) -> float | None:
        """When the next fetch may start; None if one is under way."""
        return self._fetching.next_start

    @property
    def seen(self) -> Mapping[str, int]:
        """How many items are remembered of each feed, by address, of the stream with most."""
        seen = dict.fromkeys(self._feeds, 0)
        for (address, _), items in list(self._seen.items()):
            seen[address] = max(seen.get(address, 0), len(items))
        return seen

    def add(self, feed: WatchedFeed) -> None:
        """Polls one more feed, or one for more streams, from now on; from any thread."""
        self._fetching.call(lambda: self._add(feed))

    def ask(self, address: str) -> None:
        """Lets a feed be fetched as soon as its host may be asked; from any thread."""
        self._fetching.call(lambda: self._fetching.ask(address))

    def stop(self) -> None:
        """Ends `polls` at its next step; may be called from anywhere, a signal handler too."""
        self._fetching.stop()

    def polls(self, *, empty: bool = False, lasting: bool = False) -> Iterator[list[Envelope]]:
        """The new items, in order of time: first the items of all feeds that are due at the start,
        as one poll; then, unless the policy is `once`, each feed's when it has come, be it
        `empty` where that is wanted.  Ends when no feed is left that may be fetched,
        unless it is `lasting`."""
        self._fetching.lasting = lasting
        first: list[Envelope] = []
        later: list[Fetched] = []
        """What comes before the first poll is complete, and is not of it."""
        while (self._waiting or not self._once) and (fetched := self._next()) is not None:
            began = not self._waiting
            if fetched.state.address in self._waiting:
                self._waiting.discard(fetched.state.address)
                first += self._take(fetched)
            else:
                later.append(fetched)
            if is_busy(fetched.response):
                self._postpone(fetched)
            if self._waiting:
                continue
            if not began and (first or empty):
                yield sorted(first, key=_time)
            for one in later:
                envelopes = self._take(one)
                if envelopes or empty:
                    yield sorted(envelopes, key=_time)
            later.clear()
        self.save()

    def _postpone(self, fetched: Fetched) -> None:
        """Waits no longer for the feeds of a server that wants to be left alone, and notes when
        they may be asked."""
        host = host_of(fetched.state.url)
        for address, state in self.states.items():
            later = state.next_fetch is not None and state.next_fetch > fetched.at
            if later and host_of(state.url) == host:
                self._waiting.discard(address)
                self._changes.feeds[address] = state

    def pass_over(self, late: Sequence[Envelope]) -> None:
        """Of the last poll these documents came too late."""
        self._passed_over.update(self._changes.pass_over(late))

    def _add(self, feed: WatchedFeed) -> None:
        known = self._feeds.get(feed.address)
        if known is None:
            self._feeds[feed.address] = feed
            self._fetching.add(FeedState(feed.address, feed.address), feed.credentials)
            return
        for stream, folders in feed.folders.items():
            known.lies_in(stream, folders)
        self._fetching.ask_whole(feed.address)

    def _next(self) -> Fetched | None:
        """The next answer; None when fetching is over."""
        while not self._fetching.over:
            if self._changes and self._clock.now() >= self._saved + self._save_every:
                self.save()
            until = self._saved + self._save_every if self._changes else None
            if (fetched := self._fetching.next(until)) is not None:
                return fetched
        return None

    def _take(self, fetched: Fetched) -> list[Envelope]:
        """What an answer changes, and the documents that it brings."""
        state = fetched.state
        # It may have been put off since.
        now = self.states[state.address]
        self._changes.feeds[state.address] = replace(state, next_fetch=now.next_fetch)
        if state.error is not None:
            self._on_error(state)
        if fetched.led_to is not None:
            self._on_page(state.address, fetched.led_to)
        self._on_answer(state)
        if fetched.feed is None:
            return []
        envelopes: list[Envelope] = []
        for stream, folders in self._feeds[state.address].folders.items():
            envelopes += self._news(state.address, stream, folders, fetched.feed)
        return envelopes

    def _news(
        self, address: str, stream: str, folders: tuple[str, ...], feed: ParsedFeed
    ) -> list[Envelope]:
        arrival = self._clock.now()
        filed = replace(feed.feed, folders=folders)
        seen = self._seen.setdefault((address, stream), Seen())
        news = seen.take(feed.items)
        revises = stream in self._revisable and not self._updates
        edited = news.edited if self._updates or revises else []
        published = [*news.new, *edited]
        self._on_dates(len(published), sum(item.date(arrival) is None for item in published))
        only_remembered = news.churned if edited else [*news.edited, *news.churned]
        names: Mapping[str, str] = {}
        gone: Sequence[Shown] = ()
        if revises:
            names, gone = self._withdrawn((address, stream), feed, news, arrival)
        envelopes: list[Envelope] = []
        for item in published:
            envelope = replace(item, feed=filed).envelope(stream, arrival, updates=self._updates)
            key = address, stream, names.get(item.identity, item.identity)
            is_edit = item in edited
            again = is_edit and key not in self._passed_over
            self._passed_over.discard(key)
            if revises:
                envelope["id"] = f"{address}#{key[2]}"
            if is_edit and revises:
                envelope["revise"] = True
            # By this name it is withdrawn: whatever it is called by now, its document is here.
            known = replace(SeenItem.of(item), identity=key[2])
            self._changes.see(SeenDocument(address, stream, known, envelope, again=again))
            if key[2] != item.identity:
                self._changes.see(SeenDocument(address, stream, SeenItem.of(item), None))
            envelopes.append(envelope)
        for item in only_remembered:
            self._changes.see(SeenDocument(address, stream, SeenItem.of(item), None))
        for identity in news.forgotten:
            self._changes.forget((address, stream, identity))
        for one in gone:
            if (address, stream, one.published) not in self._passed_over:
                envelopes.append({"retract": f"{address}#{one.published}", "stream": stream})
            seen.drop({one.identity, one.published})
            for identity in (one.identity, one.published):
                self._changes.forget((address, stream, identity))
        return envelopes

    def _withdrawn(
        self, key: tuple[str, str], feed: ParsedFeed, news: News[Item], arrival: float
    ) -> tuple[dict[str, str], list[Shown]]:
        """The identities under which the items were published, and the items that are withdrawn."""
        last = [
            replace(one, identity=news.renamed.get(one.identity, one.identity))
            for one in self._shown.get(key, ())
        ]
        published = {new: earlier for earlier, new in news.renamed.items()}
        published |= {one.identity: one.published for one in last}
        now = last
        gone: list[Shown] = []
        if feed.whole and feed.items:
            items: dict[str, Item] = {}
            for item in feed.items:
                items.setdefault(item.identity, item)
            now = [
                Shown(identity, item.date(arrival), published.get(identity, identity))
                for identity, item in items.items()
            ]
            gone = withdrawn(last, now, {item.identity for item in news.new})
        if now != self._shown.get(key):
            self._shown[key] = self._changes.shown[key] = now
        return published, gone

    def save(self) -> None:
        """Writes what was dealt with: all that was given out, though more may not have been asked
        for yet."""
        # What the first poll has brought so far has been given to nobody yet.
        if self._changes and not self._waiting:
            self._store.save(self._changes)
            self._changes = Changes()
        self._saved = self._clock.now()

    def _take_back(self, watermark: float | None) -> None:
        """Forgets items that came too late for an earlier run, and no longer do; their feeds must
        come whole."""
        changes, known = Changes(), self._store.feeds()
        called: dict[Key, str] = {
            (*of, one.published): one.identity
            for of, items in self._store.shown().items()
            for one in items
        }
        for key, time in self._store.late().items():
            address, stream, _ = key
            feed = self._feeds.get(address)
            if feed and stream in feed.folders and (watermark is None or time >= watermark):
                changes.forget(key)
                changes.forget((address, stream, called.get(key, key[2])))
                if state := known.get(address):
                    changes.feeds[address] = replace(state, validators=Validators())
        if changes:
            self._store.save(changes)

    def _start_from(self, feed: WatchedFeed, known: FeedState | None) -> FeedState:
        """The state of a feed to begin with; one that a stream reads for the first time must come
        whole."""
        state, now = known or FeedState(feed.address, feed.address), self._clock.now()
        if state.last_fetch is not None and state.last_fetch > now + _AHEAD:
            # The clock was wrong: what was reckoned from it says nothing.
            state = replace(state, last_fetch=now, next_fetch=None)
        if all((feed.address, stream) in self._seen for stream in feed.folders):
            return state
        return replace(state, validators=Validators())


def _time(envelope: Envelope) -> float:
    if "retract" in envelope:
        return float("-inf")
    return float(envelope["timestamp"])  # type: ignore[arg-type]
