"""Dates as feeds write them become seconds, and those that lie are seen through.

The two forms that nearly all feeds use, RFC 822 and ISO 8601, are read here; every other one
(Asctime, Korean, Greek, Hungarian, dates without a time) by feedparser's readers.  Both give the
same second for what both read.  A date without a zone is UTC.  The rule about which dates to
believe is the one of interface.md.
"""

from __future__ import annotations

import re
from calendar import timegm
from datetime import UTC, date, datetime, time
from functools import lru_cache

# The readers have no public name; parsing a whole feed around each date would be the other way.
from feedparser.datetimes import _parse_date as parse_other

__all__ = ["DAY", "iso", "seconds_of", "timestamp"]

DAY = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_LONGEST = 100
"""More characters than any date has: what is longer is not tried on every reader."""

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), start=1)}
_ZONES = {"ut": 0, "gmt": 0, "utc": 0, "z": 0, "": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5}
_ZONES |= {"mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_RFC_822 = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(\d{1,2})\s+([a-z]{3})[a-z]*\.?\s+(\d{4})"
    r"\s+(\d{1,2}):(\d\d)(?::(\d\d))?\s*([+-]\d\d:?\d\d|[a-z]{0,3})",
    re.IGNORECASE | re.ASCII,
)
_ISO_8601 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s?([+-]\d\d:?\d\d|[Zz]?)",
    re.ASCII,
)


@lru_cache(maxsize=1 << 12)
def seconds_of(text: str) -> float | None:
    """The moment that a date names, in seconds since 1970; None for what is no date, and for a
    date before 1990, which is a placeholder.

    >>> seconds_of("Mon, 01 Jun 2026 10:00:00 +0200") == seconds_of("2026-06-01T08:00:00Z")
    True
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    try:
        seconds = _common(text)
        if seconds is None:
            parsed = parse_other(text)
            seconds = None if parsed is None else float(timegm(parsed))
    except (ValueError, OverflowError):
        return None
    return seconds if seconds is not None and _EARLIEST <= seconds <= _LATEST else None


def _common(text: str) -> float | None:
    if found := _RFC_822.fullmatch(text):
        day, name, year, hour, minute, second, zone = found.groups()
        month = _MONTHS.get(name.lower())
    elif found := _ISO_8601.fullmatch(text):
        year, number, day, hour, minute, second, zone = found.groups()
        month = int(number)
    else:
        return None
    offset = _offset(zone)
    if month is None or offset is None:
        return None
    try:
        days = date(int(year), month, int(day)).toordinal() - _EPOCH
        clock = time(int(hour), int(minute), int(second or 0))
    except ValueError:  # the 31st of June, 24:00, a leap second
        return None
    return days * DAY + clock.hour * 3600 + clock.minute * 60 + clock.second - offset


def _offset(zone: str) -> int | None:
    """How many seconds a zone is before UTC."""
    if zone[:1] in ("+", "-"):
        size = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        return -size if zone[0] == "-" else size
    hours = _ZONES.get(zone.lower())
    return None if hours is None else hours * 3600


def iso(seconds: float | None) -> str:
    """A moment in ISO 8601, to the second; nothing for none."""
    if seconds is None:
        return ""
    return f"{datetime.fromtimestamp(int(seconds), UTC).isoformat()[:19]}Z"


def timestamp(published: float | None, updated: float | None, arrival: float) -> float:
    """When an item counts as come: when it says it was published, else updated, unless that is
    more than a day after its arrival; else at its arrival.  All in seconds."""
    moment = published or updated or arrival
    return arrival if moment > arrival + DAY else moment
