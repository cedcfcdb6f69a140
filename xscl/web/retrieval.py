"""One feed over HTTP, politely asked for and bounded in every respect.

Redirects are followed one by one, each checked like the first address; what a hop may cost in time
and bytes, and how many there are, is bounded.  httpcore speaks HTTP below: unlike the clients that
stand on it, it leaves headers as the bytes they were, bodies coded as they came, redirects to its
user, and lets connections be made elsewhere.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import certifi
import httpcore

from xscl.web.decoding import ACCEPTED, BodyError, decoded
from xscl.web.exchange import Response, Validators
from xscl.web.headers import headers_of
from xscl.web.network import Deadline, Network, RefusedAddress, Resolve, resolve
from xscl.web.proxies import ProxySettings
from xscl.web.targets import BadAddress, Credentials, Target, redirected, target

__all__ = ["ForbiddenAddress", "HTTPRetrieval", "Retrieval", "RetrievalError", "user_agent"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PERMANENT = frozenset({301, 308})
_MOST_REDIRECTS = 8
_FEEDS = (
    b"application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, "
    b"text/xml;q=0.9, application/json;q=0.9, */*;q=0.1"
)


class RetrievalError(Exception):
    """No answer that can be used, and why."""


class ForbiddenAddress(RetrievalError):
    """An address that is not connected to as long as nobody allows it."""


class Retrieval(Protocol):
    """Fetches an address; raises RetrievalError.  Called from several threads."""

    def __call__(
        self, url: str, validators: Validators, credentials: Credentials | None
    ) -> Response: ...


def user_agent(version: str, contact: str | None) -> bytes:
    """Who asks, with an address to complain to; raises ValueError for a contact that no header
    can hold.

    >>> user_agent("1.0", "me@example.org")
    b'xscl/1.0 (+me@example.org)'
    """
    if contact is None:
        return f"xscl/{version}".encode()
    if not (contact.isascii() and contact.isprintable()) or set(contact) & set("()\\"):
        raise ValueError(f"{contact!r} is no address of mail or web")
    return f"xscl/{version} (+{contact})".encode()


def _trust() -> ssl.SSLContext:
    """Certificates that the system trusts (`SSL_CERT_FILE` adds to them), or else Mozilla's: a
    small container has none of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


@dataclass(frozen=True)
class HTTPRetrieval:
    """Gets feeds over HTTP/1.1, a connection each: the next fetch from a server is minutes away.

    `seconds` is for all of it, redirects and body; `limit` (bytes) for the body, coded and
    decoded.  `resolve` finds the addresses of a name; `trust` says whose certificates count.
    """

    agent: bytes
    allow_private: bool = False
    limit: int = field(kw_only=True)
    seconds: float = 60.0
    proxies: ProxySettings = field(default_factory=ProxySettings)
    resolve: Resolve = resolve
    trust: ssl.SSLContext = field(default_factory=_trust)

    def __call__(
        self, url: str, validators: Validators, credentials: Credentials | None
    ) -> Response:
        """Fetches an address, redirects followed; a body comes with status 200 only.

        The credentials are sent to their own server alone, whatever redirects there are.
        """
        try:
            return self._follow(url, validators, credentials)
        except RefusedAddress as error:
            raise ForbiddenAddress(str(error)) from error
        except (BadAddress, BodyError) as error:
            raise RetrievalError(str(error)) from error
        except (httpcore.TimeoutException, TimeoutError) as error:
            raise RetrievalError("the server took too long") from error
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.ProxyError,
            httpcore.UnsupportedProtocol,
            OSError,
        ) as error:
            raise RetrievalError(f"no answer: {error or type(error).__name__}") from error

    def _follow(
        self, url: str, validators: Validators, credentials: Credentials | None
    ) -> Response:
        moved_to, permanent = None, True
        met = {url}
        deadline = Deadline(self.seconds)
        for _ in range(_MOST_REDIRECTS + 1):
            to = target(url)
            known = self.proxies.credentials(to)
            if credentials is not None and credentials.may_go_to(to):
                known = credentials
            status, headers, body = self._ask(to, validators, known, deadline)
            if status not in _REDIRECTS:
                return Response(status, url, headers, body, moved_to)
            if "location" not in headers:
                raise RetrievalError(f"the server redirects ({status}) without saying where to")
            url = redirected(url, headers["location"])
            if url in met:
                raise RetrievalError(f"redirects in a circle, back to {url}")
            met.add(url)
            permanent = permanent and status in _PERMANENT
            if permanent:
                moved_to = url
        raise RetrievalError(f"more than {_MOST_REDIRECTS} redirects")

    def _ask(
        self,
        to: Target,
        validators: Validators,
        credentials: Credentials | None,
        deadline: Deadline,
    ) -> tuple[int, Mapping[str, bytes], bytes]:
        """One hop: status, headers and, of a 200, the body."""
        proxy = self.proxies.proxy(to)
        network = Network(
            deadline,
            allow_private=self.allow_private,
            proxy=None if proxy is None else _name_of(proxy),
            resolve=self.resolve,
        )
        if proxy is not None:
            _check_beyond_proxy(network, to)
        asked = self._headers(to, validators, credentials)
        with (
            httpcore.ConnectionPool(
                self.trust,
                proxy=proxy,
                max_connections=1,
                keepalive_expiry=0,
                network_backend=network,
            ) as pool,
            pool.stream("GET", to.url, headers=asked) as answer,
        ):
            headers = headers_of(answer.headers)
            if answer.status != 200:
                return answer.status, headers, b""
            length = headers.get("content-length", b"0")
            if length.isdigit() and int(length) > self.limit:
                raise BodyError(f"it is larger than {self.limit:,} bytes")
            coding = headers.get("content-encoding", b"").decode("latin-1")
            return 200, headers, decoded(answer.iter_stream(), coding, self.limit)

    def _headers(
        self, to: Target, validators: Validators, credentials: Credentials | None
    ) -> list[tuple[bytes, bytes]]:
        headers = [
            (b"Host", to.authority.encode("ascii")),
            (b"User-Agent", self.agent),
            (b"Accept", _FEEDS),
            (b"Accept-Encoding", ACCEPTED),
            (b"Connection", b"close"),
        ]
        if validators.etag is not None:
            headers.append((b"If-None-Match", validators.etag))
        if validators.last_modified is not None:
            headers.append((b"If-Modified-Since", validators.last_modified))
        if credentials is not None:
            headers.append((b"Authorization", credentials.basic))
        return headers


def _name_of(proxy: httpcore.Proxy) -> tuple[str, int]:
    return proxy.url.origin.host.decode("ascii"), proxy.url.origin.port


def _check_beyond_proxy(network: Network, to: Target) -> None:
    """Refuses what a proxy would be asked to reach for us; a name that only the proxy can resolve
    is the proxy's to judge."""
    try:
        network.addresses(to.host, to.port)
    except OSError:
        return
