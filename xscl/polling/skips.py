"""The hours and days in which a feed asks not to be read: `skipHours` and `skipDays` of RSS 2.0."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["after_skips"]

_HOUR = 3600.0


def after_skips(when: float, hours: frozenset[int], days: frozenset[int]) -> float:
    """The first time from `when` on that lies in no hour and on no day to be skipped; `when`
    itself if that leaves no hour of the week.

    >>> after_skips(1800.0, frozenset({0, 1}), frozenset())
    7200.0
    """
    moment = when
    for _ in range(7 * 24 + 1):
        at = datetime.fromtimestamp(moment, UTC)
        if at.hour not in hours and at.weekday() not in days:
            return moment
        moment = (moment // _HOUR + 1) * _HOUR
    return when
