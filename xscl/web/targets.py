"""Addresses as they are written in the wild become a server and a path to ask it for.

Only http and https.  A user name and a password before the host are taken out: they go into a
header, to that server alone, and never into a message, a document or a file.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

if TYPE_CHECKING:
    import httpcore


__all__ = [
    "BadAddress",
    "Credentials",
    "Target",
    "feed_address",
    "redirected",
    "split_credentials",
    "target",
    "without_user",
]

_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_USER = re.compile("(?<=//)[^/?#]*@|(?<=netloc ')[^/?#']*@")
_AS_THEY_ARE = "!#$%&'()*+,/:;=?@[]~"


class BadAddress(ValueError):
    """An address that nothing can be fetched from."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server, and the path to ask it for: with the query, percent-encoded."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> httpcore.URL:
        """As httpcore takes it, which gives a proxy the port if it is given."""
        port = None if self.port == _PORTS[self.scheme] else self.port
        import httpcore

        return httpcore.URL(scheme=self.scheme, host=self.host, port=port, target=self.path)

    @property
    def origin(self) -> tuple[str, str, int]:
        """The server: scheme, name and port."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of `Host`."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and its password, for one server."""

    user: str
    password: str
    server: Target

    def __repr__(self) -> str:
        return f"Credentials(for {self.server.authority})"

    @property
    def basic(self) -> bytes:
        """The value of `Authorization` (RFC 7617)."""
        return b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())

    def may_go_to(self, to: Target) -> bool:
        """Whether a server may see them: the one that they are for, by https, too."""
        if to.origin == self.server.origin:
            return True
        secured = ("https", self.server.host, _PORTS["https"])
        return self.server.port == _PORTS["http"] and to.origin == secured


def target(url: str) -> Target:
    """The target of an http(s) address without credentials; raises BadAddress for any other."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
        scheme = parts.scheme.lower()
        if scheme not in _PORTS:
            raise BadAddress(f"{url!r} is no http(s) address")
        if not host:
            raise BadAddress(f"{url!r} names no server")
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as error:
        if isinstance(error, BadAddress):
            raise
        raise BadAddress(f"{url!r} is no address: {error}") from error
    if _CONTROL.search(host):
        raise BadAddress(f"{url!r} names no server")
    path = quote(parts.path or "/", safe=_AS_THEY_ARE)
    if parts.query:
        path += "?" + quote(parts.query, safe=_AS_THEY_ARE)
    return Target(scheme, host.lower(), port or _PORTS[scheme], path)


def split_credentials(url: str) -> tuple[str, Credentials | None]:
    """An address without its user name and password, and these, percent-decoded.

    >>> split_credentials("http://me:a%40b@feeds.example/x")[0]
    'http://feeds.example/x'
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError as error:
        # What cannot be taken apart may still hold a password.
        raise BadAddress(without_user(f"{url!r} is no address: {error}")) from None
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at:
        return url.strip(), None
    user, _, password = userinfo.partition(":")
    bare = urlunsplit(parts._replace(netloc=host))
    return bare, Credentials(unquote(user), unquote(password), target(bare))


def without_user(text: str) -> str:
    """An address, or a message about one, without user name and password; it may be malformed.

    >>> without_user("'http://me:secret@[a' is no address")
    "'http://[a' is no address"
    """
    return _USER.sub("", text)


def feed_address(url: str) -> tuple[str, Credentials | None]:
    """The address that a feed is known by, which something can be fetched from, and the
    credentials that stood in it; raises BadAddress.

    >>> feed_address("https://me:secret@a.example/feed#top")[0]
    'https://a.example/feed'
    """
    bare, credentials = split_credentials(url)
    address = bare.partition("#")[0]
    target(address)
    return address, credentials


def redirected(url: str, location: bytes) -> str:
    """Where a redirect from an address leads, without credentials; raises BadAddress."""
    try:
        written = location.decode("utf-8")
    except UnicodeDecodeError:
        written = location.decode("latin-1")
    try:
        absolute = urljoin(url, written.strip())
    except ValueError as error:
        raise BadAddress(f"{written!r} is no address: {error}") from error
    bare, _ = split_credentials(absolute)
    return bare.partition("#")[0]
