"""Header fields of a response, and how long they say that a feed need not, or must not, be fetched.

`Cache-Control` and `Expires` follow RFC 9111 (section 5), `Retry-After` RFC 9110 (section
10.2.3).  Each is believed up to a bound: a server that is set up for pictures ("for a year") must
not silence a feed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["fresh_for", "headers_of", "http_date", "retry_after"]

_DAY = 86_400.0
_LONGEST_FRESH = _DAY
_LONGEST_RETRY = 7 * _DAY
_MAX_AGE = re.compile(r'(?:^|[,\s])max-age\s*=\s*"?(\d{1,18})', re.IGNORECASE)
_NEVER_FRESH = re.compile(r"(?:^|[,\s])no-(?:cache|store)\b(?!\s*=)", re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,18}")


def headers_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, bytes]:
    """Header fields by their names in lower case; of one that came several times, the values
    joined by commas (RFC 9110, section 5.2)."""
    found: dict[str, bytes] = {}
    for name, value in headers:
        key = name.decode("latin-1").lower()
        found[key] = found[key] + b", " + value if key in found else value
    return found


def http_date(value: bytes | None) -> float | None:
    """A date of a header; None for a value that is no date.

    >>> http_date(b"Thu, 01 Jan 1970 00:01:00 GMT")
    60.0
    """
    try:
        moment = parsedate_to_datetime((value or b"").decode("ascii"))
        if moment.utcoffset() is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


def fresh_for(headers: Mapping[str, bytes], now: float) -> float:
    """For how many seconds a response counts as fresh, at most a day; 0 if its headers do not
    say.  `max-age` beats `Expires`, as in section 4.2.1."""
    control = headers.get("cache-control", b"").decode("latin-1")
    if _NEVER_FRESH.search(control):
        return 0.0
    if found := _MAX_AGE.search(control):
        fresh = float(found[1]) - _age(headers)
    else:
        expires = http_date(headers.get("expires"))
        if expires is None:
            return 0.0
        # By the server's own clock, which may be wrong.
        sent = http_date(headers.get("date"))
        fresh = expires - (now if sent is None else sent) - _age(headers)
    return min(max(fresh, 0.0), _LONGEST_FRESH)


def retry_after(headers: Mapping[str, bytes], now: float) -> float:
    """For how many seconds a server asks to be left alone, at most a week; 0 if it does not."""
    value = headers.get("retry-after", b"").strip()
    if _SECONDS.fullmatch(value.decode("latin-1")):
        wait = float(value)
    else:
        until = http_date(value)
        wait = 0.0 if until is None else until - now
    return min(max(wait, 0.0), _LONGEST_RETRY)


def _age(headers: Mapping[str, bytes]) -> float:
    age = headers.get("age", b"").strip().decode("latin-1")
    return float(age) if _SECONDS.fullmatch(age) else 0.0
