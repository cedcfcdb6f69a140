"""Times and spans of time: parsed, as integer microseconds so that a window's edge is exact,
printed.

A time counts from 1970 in UTC.  The units of a span are those of the language's windows
(docs/semantics.md#times-and-durations).
"""

from __future__ import annotations

import re
import reprlib
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

__all__ = [
    "DAY",
    "NEGATIVE",
    "NEVER",
    "NO_LENGTH",
    "TOO_LONG",
    "decimal_seconds",
    "duration",
    "earlier",
    "from_timestamp",
    "from_timestamps",
    "is_unit",
    "microseconds",
    "moment",
    "no_unit",
    "now",
    "rfc3339",
    "span",
    "to_seconds",
    "too_far",
    "written",
]

NEGATIVE = "a window cannot be negative; write its length without `-`"
NO_LENGTH = "found a window of no length, expected one longer than 0, or `INF`"
TOO_LONG = "found a window of more than 292,000 years; write `INF` for one without end"

_UNITS = {
    unit: length
    for units, length in (
        ("ms msec msecs", 1_000),
        ("s sec secs second seconds", 1_000_000),
        ("min mins minute minutes", 60_000_000),
        ("h hour hours", 3_600_000_000),
        ("d day days", 86_400_000_000),
        ("week weeks", 604_800_000_000),
    )
    for unit in units.split()
}
_PRINTED = (
    (86_400_000_000, "day"),
    (3_600_000_000, "hour"),
    (60_000_000, "minute"),
    (1_000_000, "second"),
    (1_000, "millisecond"),
    (1, "microsecond"),
)
_LONGEST = 2**63 - 1
_NO_LENGTH = re.compile(r"(?:month|mon|year|yr|y)s?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime.min.replace(tzinfo=UTC).timestamp()
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
DAY = 86_400_000_000
"""A time may be so far ahead of the clock and still move the watermark: a clock may be wrong."""

NEVER = -(1 << 63)
"""A time before all others."""

_FARTHEST = 10**17
_WHOLE = {int}


def is_unit(word: str) -> bool:
    """Whether a word is a unit of a window."""
    return word.lower() in _UNITS


def no_unit(word: str) -> str:
    """The sentence about a word that is no unit."""
    why = " (it has no fixed length)" if _NO_LENGTH.fullmatch(word) else ""
    units = "ms, s, min, h, days and weeks"
    return f"`{word}` is no unit of a window{why}; the units are {units}"


def microseconds(number: str, unit: str) -> int | None:
    """The length of a window, or None for one that is too long to be counted.

    Rounded down: times are whole microseconds, so this changes no result.

    >>> microseconds("1.5", "H")
    5400000000
    """
    whole, _, decimals = number.partition(".")
    whole = whole.lstrip("0")
    # Digits after the twentieth are far below a microsecond, whatever the unit.
    decimals = decimals[:20]
    length, parts = _UNITS[unit.lower()], 10 ** len(decimals)
    exact = (int(whole[:20] or "0") * parts + int(decimals or "0")) * length
    return None if len(whole) > 20 or exact > _LONGEST * parts else exact // parts


def duration(text: str) -> int | None:
    """A duration such as `7 days`, `1.5h` or `20` (seconds); None for `INF`.

    Raises ValueError for anything else.

    >>> duration("1.5h"), duration("INF")
    (5400000000, None)
    """
    if text.strip().upper() == "INF":
        return None
    found = _DURATION.fullmatch(text.strip())
    if found is None or not is_unit(found[2] or "s"):
        raise ValueError(f"{text!r} is no duration; write for example `7 days`, `90 s` or `INF`")
    length = microseconds(found[1], found[2] or "s")
    if length is None:
        raise ValueError(f"{text!r} is more than 292,000 years; write `INF`")
    return length


def from_timestamp(value: object) -> int:
    """A document's timestamp: seconds, ISO 8601, a datetime (UTC where no zone is given) or a
    date, which is its beginning.

    Whole seconds are exact, however many.  Raises ValueError for anything else.

    >>> from_timestamp(1.5), from_timestamp("1970-01-01T00:00:02Z")
    (1500000, 2000000)
    """
    if type(value) is int and abs(value) < _FARTHEST // 1_000_000:
        return value * 1_000_000
    if isinstance(value, str):
        text = value.strip()
        if len(text) > 8 and text.isdecimal():
            # Python takes any character, a digit, too, for the `T` between a date and a time.
            text = ""
        try:
            return _since_1970(datetime.fromisoformat(text))
        except ValueError:
            problem = f"timestamp {value!r} is neither seconds nor ISO 8601"
            raise ValueError(problem) from None
    # pandas' NaT is a datetime, too, but like NaN it differs from itself.
    if isinstance(value, datetime) and value == value:
        return _since_1970(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return _since_1970(datetime.combine(value, datetime.min.time()))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"timestamp {reprlib.repr(value)} is neither seconds nor ISO 8601")
    if not abs(value) < _FARTHEST / 1_000_000:
        raise ValueError(f"timestamp {reprlib.repr(value)} is out of range")
    return round(value * 1_000_000)


def from_timestamps(values: Sequence[object]) -> list[int]:
    """`from_timestamp` of each.

    >>> from_timestamps([1, 2]), from_timestamps([1, 0.5])
    ([1000000, 2000000], [1000000, 500000])
    """
    if _WHOLE.issuperset(map(type, values)):
        seconds: list[int] = [*values]  # type: ignore[list-item]
        if max(seconds) < _FARTHEST // 1_000_000 and min(seconds) > -_FARTHEST // 1_000_000:
            return [one * 1_000_000 for one in seconds]
    return [*map(from_timestamp, values)]


def to_seconds(microseconds: int) -> float:
    """Microseconds as seconds."""
    return microseconds / 1_000_000


def earlier(seconds: float, by: float = 0) -> float:
    """A time that is so many seconds before another, or the earliest that there is.

    >>> earlier(100.0, 60), earlier(0.0, 1e12)
    (40.0, -99999999999.0)
    """
    return max(seconds - by, 1.0 - _FARTHEST // 1_000_000)


def now() -> int:
    """The current time."""
    return time.time_ns() // 1_000


def too_far(time: int) -> str:
    """The sentence about a time of a control line that is more than a day ahead of the clock."""
    return (
        f"{moment(time)} is more than a day ahead of the clock, and all that comes before it would "
        "be late; name a time that has come"
    )


def span(microseconds: int, most: int | None = None) -> str:
    """A length of time: exactly, or by its `most` greatest units that are not 0.

    >>> span(5_400_000_000), span(86_400_000_000), span(0)
    ('1 hour 30 minutes', '1 day', '0 seconds')
    >>> span(604_800_000_001), span(698_401_000_000, most=2)
    ('7 days 1 microsecond', '8 days 2 hours')
    """
    parts = []
    for length, unit in _PRINTED:
        number, microseconds = divmod(microseconds, length)
        if number:
            parts.append(f"{number:,} {unit}{'' if number == 1 else 's'}")
    return " ".join(parts[:most]) or "0 seconds"


def written(microseconds: int) -> str:
    """A length of time as `duration` reads it, in the greatest unit that measures it.

    >>> written(86_400_000_000), written(129_600_000_000), written(1_000_001), written(0)
    ('1 day', '36 hours', '1.000001 seconds', '0 seconds')
    """
    for length, unit in _PRINTED[:4]:
        number, rest = divmod(microseconds, length)
        if number and not rest:
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{decimal_seconds(microseconds)} seconds"


def decimal_seconds(microseconds: int) -> str:
    """A length of time in seconds, exactly.

    >>> decimal_seconds(5_000_000), decimal_seconds(1_500_000), decimal_seconds(1)
    ('5', '1.5', '0.000001')
    """
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{seconds}.{rest:06}".rstrip("0") if rest else str(seconds)


def moment(microseconds: int) -> str:
    """A time for people; one that no calendar has, in seconds.

    >>> moment(1_163_462_400_000_000), moment(1_500_000), moment(10**18)
    ('2006-11-14 00:00:00Z', '1970-01-01 00:00:01.500000Z', '1,000,000,000,000.0 s')
    """
    try:
        when = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{to_seconds(microseconds):,} s"
    return when.replace(tzinfo=None).isoformat(" ") + "Z"


def rfc3339(seconds: float) -> str:
    """A time in seconds as feeds write it, to the microsecond.

    >>> rfc3339(1163548800.0), rfc3339(0.5)
    ('2006-11-15T00:00:00Z', '1970-01-01T00:00:00.500000Z')
    """
    when = _EPOCH + timedelta(seconds=min(max(seconds, _EARLIEST), _LATEST))
    return when.replace(tzinfo=None).isoformat() + "Z"


def _since_1970(when: datetime) -> int:
    if when.utcoffset() is None:
        when = when.replace(tzinfo=UTC)
    since = when - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
