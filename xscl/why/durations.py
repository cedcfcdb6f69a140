"""Times and spans of time for people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["moment", "span"]

_UNITS = (
    (86_400_000_000, "days"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1_000, "ms"),
    (1, "µs"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def span(microseconds: int) -> str:
    """A length of time by its two greatest units that are not 0.

    >>> span(698_400_000_000), span(86_400_000_000), span(604_800_000_001), span(0)
    ('8 days 2 h', '1 day', '7 days 1 µs', '0 s')
    """
    parts = []
    for length, unit in _UNITS:
        number, microseconds = divmod(microseconds, length)
        if number:
            parts.append(f"{number:,} {unit[:-1] if unit == 'days' and number == 1 else unit}")
    return " ".join(parts[:2]) or "0 s"


def moment(time: int) -> str:
    """A time in microseconds as ISO 8601 in UTC; one that no calendar has, in seconds.

    >>> moment(1_163_462_400_000_000), moment(1_500_000)
    ('2006-11-14 00:00:00', '1970-01-01 00:00:01.500000')
    """
    try:
        when = _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        return f"{time / 1_000_000:,} s"
    return when.replace(tzinfo=None).isoformat(" ")
