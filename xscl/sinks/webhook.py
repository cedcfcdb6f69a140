"""Matches to a webhook: a POST for each, of JSON or a form of one's own.

`Idempotency-Key` is the match's id, the same at every try, so that the receiver can recognise a
second try from a second match; that the match is taken back has a key of its own.  What the
receiver refuses for reasons of its own (most of 4xx) is said to be refused; a redirect is not
followed.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

import httpcore

from xscl.errors import XSCLError
from xscl.sinks.deliveries import NotDelivered
from xscl.sinks.webhook_form import BodyForm, Headers
from xscl.web.headers import headers_of, retry_after
from xscl.web.proxies import ProxySettings
from xscl.web.targets import BadAddress, split_credentials, target

__all__ = ["Webhook"]

_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, *range(500, 600)})
_TIMEOUTS = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 60.0}


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes matches, each as it is or in a `form`."""

    url: httpcore.URL
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    pool: httpcore.ConnectionPool = field(repr=False)
    form: BodyForm | None = None

    @classmethod
    def at(
        cls,
        url: str,
        agent: bytes,
        proxies: ProxySettings | None = None,
        *,
        headers: Headers | None = None,
        form: BodyForm | None = None,
    ) -> Webhook:
        """The webhook of an http(s) address, with a user name and password perhaps, and with more
        headers, or others; raises XSCLError for no such address."""
        try:
            bare, credentials = split_credentials(url)
            to = target(bare)
            proxy = (proxies or ProxySettings()).proxy(to)
        except BadAddress as error:
            raise XSCLError(f"webhook: {error}") from error
        sent = {"user-agent": agent, "content-type": b"application/json"}
        if credentials is not None:
            sent["authorization"] = credentials.basic
        sent |= headers or {}
        fields = [(b"Host", to.authority.encode("ascii"))]
        fields += ((name.title().encode("ascii"), value) for name, value in sent.items())
        return cls(to.url, tuple(fields), httpcore.ConnectionPool(proxy=proxy), form)

    def __call__(self, match: str, body: bytes) -> None:
        """Posts one match, or that it is taken back."""
        key = f"{match}-retract" if "retract" in json.loads(body) else match
        content = body if self.form is None else self.form(body)
        headers = [
            *self.headers,
            (b"Idempotency-Key", key.encode("ascii")),
            (b"Content-Length", str(len(content)).encode("ascii")),
        ]
        try:
            with self.pool.stream(
                "POST",
                self.url,
                headers=headers,
                content=content,
                extensions={"timeout": _TIMEOUTS},
            ) as answer:
                status = answer.status
                wait = retry_after(headers_of(answer.headers), time.time())
        except httpcore.TimeoutException as error:
            raise NotDelivered("the webhook took too long") from error
        except (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.ProxyError) as error:
            reason = str(error) or type(error).__name__
            raise NotDelivered(f"the webhook gave no answer: {reason}") from error
        if not 200 <= status < 300:
            refused = status not in _WORTH_ANOTHER_TRY
            raise NotDelivered(f"the webhook answered {status}", refused=refused, wait=wait)
