"""Times and durations as integer microseconds, so that a window's edge is exact."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

__all__ = ["duration", "from_timestamp", "now", "to_seconds"]

_UNITS = {
    "ms": 1_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "second": 1_000_000,
    "min": 60_000_000,
    "minute": 60_000_000,
    "h": 3_600_000_000,
    "hour": 3_600_000_000,
    "d": 86_400_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)\s*")
_FARTHEST = 10**17


def duration(text: str) -> int | None:
    """A duration such as `7 days`, `1.5h` or `20` (seconds); None for `INF`.

    Raises ValueError for anything else.

    >>> duration("1.5h"), duration("INF")
    (5400000000, None)
    """
    if text.strip().upper() == "INF":
        return None
    found = _DURATION.fullmatch(text)
    unit = found[2].lower() if found else ""
    factor = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s") if len(unit) > 2 else unit)
    if not unit:
        factor = 1_000_000
    if found is None or factor is None:
        raise ValueError(f"{text!r} is no duration; write for example `7 days`, `90 s` or `INF`")
    return int(Decimal(found[1]) * factor)


def from_timestamp(value: object) -> int:
    """A document's timestamp, seconds or ISO 8601 (UTC where no zone is given).

    Raises ValueError for anything else.

    >>> from_timestamp(1.5), from_timestamp("1970-01-01T00:00:02Z")
    (1500000, 2000000)
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            problem = f"timestamp {value!r} is neither seconds nor ISO 8601"
            raise ValueError(problem) from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
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
    return from_timestamp(datetime.now(UTC).timestamp())
