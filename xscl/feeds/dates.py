"""Dates as feeds write them become seconds; a date that cannot be true is found out.

A form is a regular expression that names the parts of a date: RFC 822 and ISO 8601, which nearly
all feeds use, first; then Asctime, dates with slashes and Korean ones.  The names of months may be
English, Greek or Hungarian.  A date without a zone is UTC; a part beyond its range counts on, so
that 31 June is 1 July.  docs/feeds.md#formats states which dates to believe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from unicodedata import combining, normalize

from xscl.times import rfc3339

__all__ = ["DAY", "iso", "seconds_of", "timestamp"]

DAY = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_LONGEST = 100
"""More characters than any date has: a longer text is not tried on every form."""

_MONTH_NAMES = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mar apr maj jun jul aug sze okt nov dec",
    "ιαν φεβ μαρ απρ μαι ιουν ιουλ αυγ σεπ οκτ νοε δεκ",
)
_MONTHS = {
    name: number for names in _MONTH_NAMES for number, name in enumerate(names.split(), start=1)
}
_AHEAD = {
    -8: "pst pt",
    -7: "pdt mst mt",
    -6: "mdt cst ct",
    -5: "cdt est et",
    -4: "edt ast at",
    -3: "adt",
    1: "met",
    2: "mest",
}
"""Hours ahead of UTC; a zone of any other name is taken for UTC."""
_ZONES = {name: hours for hours, names in _AHEAD.items() for name in names.split()}

_OFFSET = re.compile(r"[a-z/]*([+-])(\d\d):?(\d\d)?(?: (?:utc|gmt))?")
_COMMENT = re.compile(r" ?\([^()]*\)\Z")
_NAME = r"[^\W\d_]"
_WEEKDAY = rf"(?:{_NAME}+(?: ?, ?| ))?"
_DAY = r"(?P<day>\d\d?)"
_MONTH = rf"(?P<month>{_NAME}{{3,10}})[.,]?"
_YEAR = r"(?P<year>\d{4})"
_TIME = (
    r"(?P<hour>\d\d?)(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?:[.,]\d+)?)?)?"
    r"(?: ?(?P<noon>[ap])m\b)?"
)
_PLAIN_TIME = r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,]\d+)?)?)?"
_ZONE = r"(?P<zone>(?:etc/)?[a-z]{0,4}(?:[+-]\d\d(?::?\d\d)?(?: (?:utc|gmt))?)?)"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_WEEKDAY}{_DAY} {_MONTH} (?P<year>\d{{4}}|\d\d)(?: {_TIME} ?{_ZONE})?",
        rf"{_YEAR}-(?P<month>\d\d?|{_NAME}+)-{_DAY}(?:(?: ?t ?| ){_TIME} ?{_ZONE})?",
        rf"{_YEAR}-?(?P<month>\d\d)-?(?P<day>\d\d)(?:t{_PLAIN_TIME}{_ZONE})?",
        rf"{_YEAR}(?:-(?P<month>\d\d?)|-?(?P<day>\d{{3}}))?",
        rf"{_WEEKDAY}{_MONTH} {_DAY} {_YEAR}(?: {_TIME} ?{_ZONE})?",
        rf"{_WEEKDAY}{_MONTH} {_DAY} {_TIME} (?:{_ZONE} )?{_YEAR}",
        rf"{_WEEKDAY}{_YEAR}/(?P<month>\d\d?)/{_DAY}(?: {_TIME} ?{_ZONE})?",
        rf"{_YEAR}(?:년 |-)(?P<month>\d\d)(?:월 |-){_DAY}일? (?P<half>오전 |오후 )?{_TIME}",
    )
)
_SEOUL = 9 * 3600


@lru_cache(maxsize=1 << 12)
def seconds_of(text: str) -> float | None:
    """The moment that a date names, in seconds since 1970; None for a text that is no date, and for
    a date before 1990, which is a placeholder.

    >>> seconds_of("Mon, 01 Jun 2026 10:00:00 +0200") == seconds_of("2026-06-01T08:00:00Z")
    True
    """
    text = " ".join(text.lower().split())
    if len(text) > _LONGEST:
        return None
    text = _COMMENT.sub("", text)
    for form in _FORMS:
        if found := form.fullmatch(text):
            seconds = _seconds(found.groupdict())
            return seconds if seconds is not None and _EARLIEST <= seconds <= _LATEST else None
    return None


def _seconds(parts: Mapping[str, str | None]) -> float | None:
    """The moment of a date in its parts; None for one that no calendar has."""
    part = parts.get
    first = _first_day(part("year") or "", part("month") or "1")
    if first is None:
        return None
    hour, offset = int(part("hour") or 0), _offset(part("zone") or "")
    if (noon := part("noon")) is not None:
        hour = hour % 12 + 12 * (noon == "p")
    if "half" in parts:
        hour, offset = hour % 12 + 12 if parts["half"] == "오후 " else hour, _SEOUL
    seconds = hour * 3600 + int(part("minute") or 0) * 60 + int(part("second") or 0) - offset
    return (first + int(part("day") or 1) - 1) * DAY + seconds


@lru_cache(maxsize=1 << 8)
def _first_day(year: str, month: str) -> int | None:
    """The days from 1970 to the first of a month."""
    number, years = _month(month), int(year)
    if len(year) == 2:
        years += 2000 if years < 90 else 1900
    if number is None:
        return None
    try:
        return date(years + (number - 1) // 12, (number - 1) % 12 + 1, 1).toordinal() - _EPOCH
    except ValueError:  # the year 0, or 10000
        return None


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text)
    name = text[:4]
    if not name.isascii():  # accents come and go
        name = "".join(c for c in normalize("NFD", name) if not combining(c))
    return _MONTHS.get(name[:3]) or _MONTHS.get(name)


@lru_cache(maxsize=1 << 8)
def _offset(zone: str) -> int:
    """How many seconds a zone is ahead of UTC."""
    if found := _OFFSET.fullmatch(zone):
        size = int(found[2]) * 3600 + int(found[3] or 0) * 60
        return -size if found[1] == "-" else size
    return _ZONES.get(zone, 0) * 3600


def iso(seconds: float | None) -> str:
    """A moment in ISO 8601, to the second; nothing for none."""
    return "" if seconds is None else rfc3339(int(seconds))


def timestamp(published: float | None, updated: float | None, arrival: float) -> float:
    """When an item counts as come: when it says it was published, else updated, unless that is
    more than a day after its arrival; else at its arrival.  All in seconds."""
    moment = published or updated or arrival
    return arrival if moment > arrival + DAY else moment
