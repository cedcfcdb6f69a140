"""What is known of a feed that is polled, what came back from it, and the rules that hold for all.

Times are seconds since 1970 (UTC), durations seconds.  A feed is known by the address that it was
subscribed by, without user name and password, for good: its items' ids hang on it.  Where it is
fetched from may change (`url`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["DAY", "FeedState", "Policy", "Response", "Validators"]

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
class Validators:
    """What a server gave to ask with whether a feed has changed (RFC 9110, section 8.8), byte by
    byte."""

    etag: bytes | None = None
    last_modified: bytes | None = None


@dataclass(frozen=True, slots=True)
class FeedState:
    """What polling remembers of a feed.  `next_fetch` None means: as soon as may be."""

    address: str
    url: str
    title: str = ""
    validators: Validators = Validators()
    ttl: float | None = None
    skip_hours: frozenset[int] = frozenset()
    """Hours of the day (0 to 23, UTC) in which the feed asks not to be read."""
    skip_days: frozenset[int] = frozenset()
    """Days of the week (Monday is 0, UTC) likewise."""
    last_fetch: float | None = None
    last_success: float | None = None
    next_fetch: float | None = None
    failures: int = 0
    """Those since the last success."""
    error: str | None = None
    gone: bool = False
    """Whether its server said 410: it is never fetched again."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered in the end, all redirects followed.

    `headers` have lower-case names; of a field that came several times the values are joined by
    commas.  `moved_to` is the address that permanent redirects (301, 308) led to before anything
    else did, None without any.  `body` is decoded as far as its transfer goes, not as text.
    """

    status: int
    url: str
    headers: Mapping[str, bytes] = field(default_factory=dict)
    body: bytes = b""
    moved_to: str | None = None
