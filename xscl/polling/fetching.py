"""The core's decisions carried out: threads fetch and parse what is due, and each answer changes
the state of its feed.  The caller deals with the items.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from xscl.feeds import NotAFeed
from xscl.feeds.items import ParsedFeed
from xscl.polling.clock import Clock
from xscl.polling.core import Answer, Failed, Fetch, Forbidden, Parsed, Polling
from xscl.polling.finding import Parser, find_feed
from xscl.polling.state import FeedState, Policy
from xscl.web.exchange import Response, Validators
from xscl.web.retrieval import ForbiddenAddress, Retrieval, RetrievalError
from xscl.web.targets import Credentials

__all__ = ["Fetched", "Fetching"]

log = logging.getLogger("xscl")


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, taken at a time (`at`), and the state of its feed since then.

    `response` is None if there was none that can be used; it may be an error, or have a body that
    is no feed.  `feed` is what was read from it, at the address `led_to` if the one that was asked
    had a web page that names it.
    """

    at: float
    state: FeedState
    response: Response | None
    feed: ParsedFeed | None
    led_to: str | None = None


@dataclass(frozen=True, slots=True)
class _Answered:
    address: str
    answer: Answer
    response: Response | None = None
    feed: ParsedFeed | None = None
    led_to: str | None = None


class _Stop:
    """That fetching is to end, among the answers."""


class Fetching:
    """Feeds that are fetched as they fall due, by as many threads as the policy has fetches under
    way; all but retrieval and parsing continues in the thread that asks for the next answer."""

    def __init__(
        self,
        states: Iterable[FeedState],
        credentials: Mapping[str, Credentials | None],
        retrieval: Retrieval,
        parser: Parser,
        clock: Clock,
        policy: Policy,
        *,
        seed: int,
    ) -> None:
        """`credentials` by address, for the feeds that have some."""
        self._polling = Polling(states, policy, seed=seed)
        self._credentials = dict(credentials)
        self._most_threads = policy.concurrency
        self.lasting = False
        """Whether it continues when no feed is left that may be fetched: one may be added."""
        self._retrieval = retrieval
        self._parser = parser
        self._clock = clock
        self._over = False
        self._fetches: queue.SimpleQueue[Fetch | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[_Answered | _Stop | Callable[[], object]] = (
            queue.SimpleQueue()
        )
        self._threads = 0
        self._start_threads()

    @property
    def states(self) -> Mapping[str, FeedState]:
        """The state of each feed, by address."""
        return self._polling.states

    @property
    def over(self) -> bool:
        """Whether it was stopped, or no feed is left that may be fetched."""
        return self._over

    def due(self, now: float) -> list[str]:
        """The addresses of the feeds that may be fetched at a time, as far as it is up to them."""
        return self._polling.due(now)

    @property
    def next_start(self) -> float | None:
        """When the next fetch may start; None if only an answer can change that."""
        return self._polling.next_start()

    def call(self, action: Callable[[], object]) -> None:
        """Calls something in the thread that asks for the next answer; from any thread."""
        self._answers.put(action)

    def add(self, state: FeedState, credentials: Credentials | None) -> None:
        """One more feed, in the thread that asks for the next answer."""
        self._credentials[state.address] = credentials
        self._polling.add(state)
        self._start_threads()

    def ask(self, address: str) -> None:
        """Lets a feed be fetched now, in the thread that asks for the next answer."""
        self._polling.ask(address, self._clock.now())

    def ask_whole(self, address: str) -> None:
        """The same, as if it had never been read: another stream is to get its items."""
        states = self._polling.states
        states[address] = replace(states[address], validators=Validators())
        self.ask(address)

    def stop(self) -> None:
        """Ends it once the answers that are there have been taken; may be called from anywhere, a
        signal handler too."""
        self._answers.put(_Stop())
        self._dismiss()

    def next(self, until: float | None = None) -> Fetched | None:
        """The next answer; fetches are started as they fall due meanwhile.

        None if there is none at the moment given (a past one: immediately), or when it is over.
        """
        while not self._over:
            for fetch in self._polling.start(self._clock.now()):
                self._fetches.put(fetch)
            start, under_way = self._polling.next_start(), self._polling.under_way
            if start is None and not under_way and not self.lasting:
                break
            moments = [moment for moment in (start, until) if moment is not None]
            answered = self._clock.receive(self._answers, min(moments, default=None), under_way)
            if isinstance(answered, _Stop):
                break
            if isinstance(answered, _Answered):
                return self._take(answered)
            if answered is not None:
                answered()
            if until is not None and self._clock.now() >= until:
                return None
        self._over = True
        self._dismiss()
        return None

    def _start_threads(self) -> None:
        wanted = min(self._most_threads, len(self._polling.states))
        for number in range(self._threads, wanted):
            name = f"xscl-feeds-{number}"
            threading.Thread(target=self._fetch_all, name=name, daemon=True).start()
        self._threads = max(self._threads, wanted)

    def _dismiss(self) -> None:
        for _ in range(self._threads):
            self._fetches.put(None)

    def _take(self, answered: _Answered) -> Fetched:
        now = self._clock.now()
        state = self._polling.answered(answered.address, answered.answer, now)
        return Fetched(now, state, answered.response, answered.feed, answered.led_to)

    def _fetch_all(self) -> None:
        while (fetch := self._fetches.get()) is not None:
            try:
                answered = self._fetch(fetch)
            except Exception as error:
                # One feed's trouble, of whatever kind, must not take a thread from the others.
                log.exception("feed %s", fetch.address)
                answered = _Answered(fetch.address, Failed(f"{type(error).__name__}: {error}"))
            self._answers.put(answered)

    def _fetch(self, fetch: Fetch) -> _Answered:
        address, response = fetch.address, None
        credentials = self._credentials.get(address)
        try:
            response = self._retrieval(fetch.url, fetch.validators, credentials)
            if response.status != 200:
                return _Answered(address, response, response)
            found = find_feed(
                response,
                address,
                self._parser,
                lambda url: self._retrieval(url, Validators(), credentials),
                # A feed that has become a page is not to become another feed in silence.
                follow=fetch.new,
            )
        except ForbiddenAddress as error:
            return _Answered(address, Forbidden(str(error)))
        except RetrievalError as error:
            return _Answered(address, Failed(str(error)), response)
        except NotAFeed as error:
            return _Answered(address, Failed(f"what is there {error}"), response)
        parsed = Parsed(found.response, found.feed)
        return _Answered(address, parsed, found.response, found.feed, found.led_to)
