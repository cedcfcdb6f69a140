"""An exchange with a server: the validators that a request sends, and the response in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Response", "Validators"]


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask with whether a feed has changed (RFC 9110, section 8.8), byte by
    byte."""

    etag: bytes | None = None
    last_modified: bytes | None = None


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
