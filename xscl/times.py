"""Times and durations as integer microseconds, so that a window's edge is exact."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from xscl.language.windows import is_unit, microseconds

__all__ = ["duration", "from_timestamp", "now", "to_seconds"]

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)")
_FARTHEST = 10**17


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
    """A document's timestamp: seconds, ISO 8601 or a datetime (UTC where no zone is given).

    Whole seconds are exact, however many.  Raises ValueError for anything else.

    >>> from_timestamp(1.5), from_timestamp("1970-01-01T00:00:02Z")
    (1500000, 2000000)
    """
    if type(value) is int and abs(value) < _FARTHEST // 1_000_000:
        return value * 1_000_000
    if isinstance(value, str):
        try:
            return _since_1970(datetime.fromisoformat(value.strip()))
        except ValueError:
            problem = f"timestamp {value!r} is neither seconds nor ISO 8601"
            raise ValueError(problem) from None
    # pandas' NaT is a datetime, too, but as NaN does it differs from itself.
    if isinstance(value, datetime) and value == value:
        return _since_1970(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"timestamp {value!r} is neither seconds nor ISO 8601")
    if not abs(value) < _FARTHEST / 1_000_000:
        raise ValueError(f"timestamp {value!r} is out of range")
    return round(value * 1_000_000)


def to_seconds(microseconds: int) -> float:
    """Microseconds as seconds."""
    return microseconds / 1_000_000


def now() -> int:
    """The current time."""
    return time.time_ns() // 1_000


def _since_1970(moment: datetime) -> int:
    if moment.utcoffset() is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
