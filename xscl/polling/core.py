"""The decision core of polling: states of feeds and answers in, decisions out, no I/O, no clock.

`start` says which feeds are to be fetched now and with which validators, `next_start` when to ask
again, `answered` takes what came and settles when the feed is due next.  All chance comes from a
seed: the same answers at the same times give the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeGuard
from urllib.parse import urlsplit

from xscl.polling import transitions
from xscl.polling.schedule import Schedule
from xscl.polling.state import DAY, FeedState, Policy
from xscl.polling.transitions import FeedNotes
from xscl.web.exchange import Response, Validators
from xscl.web.headers import retry_after

__all__ = ["Answer", "Failed", "Fetch", "Forbidden", "Parsed", "Polling", "host_of", "is_busy"]

_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Fetch:
    """A decision: this feed is to be fetched now; a `new` one has never been read."""

    address: str
    url: str
    validators: Validators
    new: bool = True


@dataclass(frozen=True, slots=True)
class Parsed:
    """A response whose body was read as a feed."""

    response: Response
    notes: FeedNotes


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer, or one that is no feed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Forbidden:
    """No answer, because nobody allows us to ask."""

    reason: str


Answer = Parsed | Response | Failed | Forbidden
"""What came back; a plain Response is one without a feed: 304, or an error."""


class Polling:
    """The feeds that are polled, and when.

    >>> polling = Polling([FeedState("http://a.example/", "http://a.example/")], Policy(), seed=0)
    >>> [fetch.url for fetch in polling.start(now=0.0)]
    ['http://a.example/']
    >>> polling.answered("http://a.example/", Response(304, "http://a.example/"), now=1.0).error
    'the server answered 304 to a request without a condition'
    """

    def __init__(self, feeds: Iterable[FeedState], policy: Policy, *, seed: int) -> None:
        self.states = {state.address: state for state in feeds}
        self._policy = policy
        self._random = Random(seed)
        self._schedule = Schedule(policy.spacing, policy.concurrency)
        self._asked: dict[str, Fetch] = {}
        for state in self.states.values():
            if not state.gone:
                self._await(state)

    @property
    def under_way(self) -> int:
        """How many fetches were started and not answered yet."""
        return len(self._asked)

    def due(self, now: float) -> list[str]:
        """The addresses of the feeds that may be fetched at a time, as far as it is up to them."""
        return [
            state.address
            for state in self.states.values()
            if not state.gone and (state.next_fetch is None or state.next_fetch <= now)
        ]

    def add(self, state: FeedState) -> None:
        """One more feed."""
        self.states[state.address] = state
        self._await(state)

    def ask(self, address: str, now: float) -> None:
        """Lets a feed be fetched as soon as its host may be asked, whatever it was to wait for."""
        if address not in self._asked:
            state = replace(self.states[address], gone=False, next_fetch=now)
            self.states[address] = state
            self._schedule.hasten(address, host_of(state.url), now)

    def start(self, now: float) -> list[Fetch]:
        """The fetches to start now."""
        fetches = []
        for address in self._schedule.start(now):
            state = self.states[address]
            new = state.last_success is None
            fetch = self._asked[address] = Fetch(address, state.url, state.validators, new)
            fetches.append(fetch)
        return fetches

    def next_start(self) -> float | None:
        """When `start` may have something to do; None if only an answer can change that."""
        return self._schedule.next_start()

    def answered(self, address: str, answer: Answer, now: float) -> FeedState:
        """Takes the answer to a fetch; returns the state of the feed from now on."""
        fetch = self._asked.pop(address)
        before = self.states[address]
        state = self.states[address] = self._after(before, fetch, answer, now)
        wait = now
        if is_busy(answer):
            # The server is overloaded, not this one feed.
            wait += retry_after(answer.headers, now)
            if wait > now:
                self._postpone(host_of(fetch.url), wait)
        self._schedule.finish(host_of(fetch.url), wait)
        if not (state.gone or self._policy.once):
            # What is forbidden stays so while we run, unless names change their addresses.
            self._await(state, now + DAY)
        return state

    def _postpone(self, host: str, until: float) -> None:
        """Lets the feeds of a host wait; those that are being fetched will have answers."""
        for address, state in self.states.items():
            waits = state.next_fetch is not None and state.next_fetch >= until
            if not (waits or state.gone or address in self._asked) and host_of(state.url) == host:
                self.states[address] = replace(state, next_fetch=until)

    def _after(self, state: FeedState, fetch: Fetch, answer: Answer, now: float) -> FeedState:
        jitter = self._random.random()
        match answer:
            case Parsed(response, notes):
                return transitions.succeeded(state, response, notes, now, self._policy)
            case Response(status=304) if fetch.validators == Validators():
                reason = "the server answered 304 to a request without a condition"
                return transitions.failed(state, reason, now, self._policy, jitter)
            case Response(status=304) if state.validators == Validators():
                # It is to come whole, as was said meanwhile.
                return replace(state, next_fetch=now)
            case Response(status=304):
                return transitions.not_modified(state, answer, now, self._policy)
            case Response():
                return transitions.refused(state, answer, now, self._policy, jitter)
            case Failed(reason):
                return transitions.failed(state, reason, now, self._policy, jitter)
            case Forbidden(reason):
                return transitions.forbidden(state, reason)

    def _await(self, state: FeedState, unsaid: float = float("-inf")) -> None:
        due = unsaid if state.next_fetch is None else state.next_fetch
        self._schedule.add(state.address, host_of(state.url), due)


def is_busy(answer: object) -> TypeGuard[Response]:
    """Whether an answer says that its server is overloaded."""
    return isinstance(answer, Response) and answer.status in _BUSY


def host_of(url: str) -> str:
    """The host of an address, in lower case."""
    return (urlsplit(url).hostname or "").lower()
