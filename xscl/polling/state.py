"""The state of a feed that is polled, and the policy that holds for all feeds.

Times are seconds since 1970 (UTC), durations seconds.  A feed is known by the address that it was
subscribed by, without user name and password, for good: its items' ids hang on it.  Where it is
fetched from may change (`url`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xscl.web.exchange import Validators

__all__ = ["DAY", "FeedState", "Policy"]

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How eagerly feeds are polled.

    `every` is the time between two fetches of a feed of which its server says nothing; `spacing`
    parts the starts of two fetches from one host, of which one at a time is under way; at most
    `concurrency` fetches are under way in all.  `once` means that no feed is fetched twice.
    """

    every: float = 600.0
    spacing: float = 1.0
    concurrency: int = 16
    once: bool = False

    def __post_init__(self) -> None:
        if self.every < 0 or self.spacing < 0 or self.concurrency < 1:
            raise ValueError(f"not a way to poll: {self}")


@dataclass(frozen=True, slots=True)
class FeedState:
    """The state of a feed, which polling remembers.  `next_fetch` None means: as soon as may be."""

    address: str
    url: str
    title: str = ""
    validators: Validators = field(default_factory=Validators)
    ttl: float | None = None
    skip_hours: frozenset[int] = frozenset()
    """Hours of the day (0 to 23, UTC) in which the feed asks not to be read."""
    skip_days: frozenset[int] = frozenset()
    """Days of the week (Monday is 0, UTC) on which it asks so."""
    last_fetch: float | None = None
    last_success: float | None = None
    next_fetch: float | None = None
    failures: int = 0
    """Those since the last success."""
    error: str | None = None
    gone: bool = False
    """Whether its server said 410: it is never fetched again."""
