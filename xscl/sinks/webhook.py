"""Matches to a webhook: a POST of JSON for each, tried again while that may help.

`Idempotency-Key` is the match's id, the same at every try, so that the receiver can tell a second
try from a second match.  What the receiver refuses for reasons of its own (most of 4xx) is not
tried again; a redirect is not followed.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import httpcore

from xscl.errors import XSCLError
from xscl.sinks.deliveries import NotDelivered
from xscl.web.headers import headers_of, retry_after
from xscl.web.proxies import ProxySettings
from xscl.web.targets import BadAddress, split_credentials, target

__all__ = ["Webhook"]

_TRIES = 6
_LONGEST_WAIT = 60.0
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, *range(500, 600)})
_TIMEOUTS = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 60.0}


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes matches; `first_wait` (seconds) doubles from try to try."""

    url: httpcore.URL
    headers: tuple[tuple[bytes, bytes], ...]
    pool: httpcore.ConnectionPool = field(repr=False)
    first_wait: float = 1.0

    @classmethod
    def at(
        cls,
        url: str,
        agent: bytes,
        proxies: ProxySettings | None = None,
        *,
        first_wait: float = 1.0,
    ) -> Webhook:
        """The webhook of an http(s) address, with a user name and password perhaps; raises
        XSCLError for no such address."""
        try:
            bare, credentials = split_credentials(url)
            to = target(bare)
            proxy = (proxies or ProxySettings()).proxy(to)
        except BadAddress as error:
            raise XSCLError(f"webhook: {error}") from error
        headers = [
            (b"Host", to.authority.encode("ascii")),
            (b"User-Agent", agent),
            (b"Content-Type", b"application/json"),
        ]
        if credentials is not None:
            headers.append((b"Authorization", credentials.basic))
        return cls(to.url, tuple(headers), httpcore.ConnectionPool(proxy=proxy), first_wait)

    def __call__(self, match: str, body: bytes, hurry: threading.Event) -> None:
        """Posts one match."""
        wait = self.first_wait
        for left in reversed(range(_TRIES)):
            problem, asked = self._post(match, body)
            if problem is None:
                return
            pause = max(wait * random.uniform(1.0, 1.25), min(asked, _LONGEST_WAIT))
            if not left or hurry.is_set() or hurry.wait(pause):
                raise NotDelivered(problem)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _post(self, match: str, body: bytes) -> tuple[str | None, float]:
        """What went wrong, None if nothing did, and for how long the receiver asks to be left
        alone.  Raises NotDelivered where another try is of no use."""
        headers = [
            *self.headers,
            (b"Idempotency-Key", match.encode("ascii")),
            (b"Content-Length", str(len(body)).encode("ascii")),
        ]
        try:
            with self.pool.stream(
                "POST", self.url, headers=headers, content=body, extensions={"timeout": _TIMEOUTS}
            ) as answer:
                status = answer.status
                wait = retry_after(headers_of(answer.headers), time.time())
        except httpcore.TimeoutException:
            return "the webhook took too long", 0.0
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
            return f"the webhook gave no answer: {error or type(error).__name__}", 0.0
        if 200 <= status < 300:
            return None, 0.0
        problem = f"the webhook answered {status}"
        if status not in _WORTH_ANOTHER_TRY:
            raise NotDelivered(problem)
        return problem, wait
