"""How an answer changes the state of a feed: pure functions from state to state.

The validators of a response are kept only with what was read from it: were they kept of a body
that could not be parsed, every later answer would be 304 and the feed silent for good.  The same
holds for a permanent redirect: an address counts once it has given a feed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from xscl.polling.skips import after_skips
from xscl.polling.state import DAY, FeedState, Policy
from xscl.web.exchange import Response, Validators
from xscl.web.headers import fresh_for, retry_after

__all__ = ["FeedNotes", "failed", "forbidden", "not_modified", "refused", "succeeded"]

_SHORTEST_BACK_OFF = 60.0
_LONGEST_BACK_OFF = DAY
_LONGEST_TTL = DAY


class FeedNotes(Protocol):
    """What a feed says of itself that matters to polling."""

    @property
    def title(self) -> str | None: ...
    @property
    def ttl(self) -> float | None: ...
    @property
    def skip_hours(self) -> frozenset[int]: ...
    @property
    def skip_days(self) -> frozenset[int]: ...


def succeeded(
    state: FeedState, response: Response, notes: FeedNotes, now: float, policy: Policy
) -> FeedState:
    """The feed came and was read."""
    state = replace(
        state,
        url=response.moved_to or state.url,
        title=notes.title or state.title,
        validators=Validators(
            response.headers.get("etag"),
            response.headers.get("last-modified"),
        ),
        ttl=None if notes.ttl is None else min(notes.ttl, _LONGEST_TTL),
        skip_hours=notes.skip_hours,
        skip_days=notes.skip_days,
    )
    return _well(state, response.headers, now, policy)


def not_modified(state: FeedState, response: Response, now: float, policy: Policy) -> FeedState:
    """The feed is as it was: 304."""
    return _well(replace(state, url=response.moved_to or state.url), response.headers, now, policy)


def refused(
    state: FeedState, response: Response, now: float, policy: Policy, jitter: float
) -> FeedState:
    """The server answered with an error; 410 is its last word."""
    if response.status == 410:
        return replace(
            state, gone=True, error="gone for good (410)", last_fetch=now, next_fetch=None
        )
    wait = retry_after(response.headers, now)
    return failed(state, f"the server answered {response.status}", now, policy, jitter, wait)


def failed(
    state: FeedState, reason: str, now: float, policy: Policy, jitter: float, wait: float = 0.0
) -> FeedState:
    """Nothing usable came: the next try is after twice as long as the last, up to a day, but not
    before `wait` seconds.  `jitter`, from 0 to 1, adds up to a quarter, so that many feeds that
    failed together do not come back together."""
    failures = state.failures + 1
    shortest = max(policy.every, _SHORTEST_BACK_OFF)
    longest = max(_LONGEST_BACK_OFF, shortest)
    # From 2**20 minutes on, the bound holds; the power of a year's failures would overflow.
    delay = min(shortest * 2.0 ** min(failures, 20), longest) * (1 + jitter / 4)
    return replace(
        state,
        failures=failures,
        error=reason,
        last_fetch=now,
        next_fetch=after_skips(now + max(delay, wait), state.skip_hours, state.skip_days),
    )


def forbidden(state: FeedState, reason: str) -> FeedState:
    """Nobody allows us to ask: no failure of the feed's, which is read as soon as it is allowed."""
    return replace(state, failures=0, error=reason, next_fetch=None)


def _well(state: FeedState, headers: Mapping[str, bytes], now: float, policy: Policy) -> FeedState:
    wait = max(policy.every, fresh_for(headers, now), state.ttl or 0.0)
    return replace(
        state,
        failures=0,
        error=None,
        last_fetch=now,
        last_success=now,
        next_fetch=after_skips(now + wait, state.skip_hours, state.skip_days),
    )
