"""Dates as feeds write them."""

from __future__ import annotations

from calendar import timegm
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from feedparser.datetimes import _parse_date
from hypothesis import given
from hypothesis import strategies as st

from xscl.feeds.dates import iso, seconds_of, timestamp

MOMENT = datetime(2026, 6, 1, 8, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "Mon, 01 Jun 2026 10:00:00 +0200",
        "Mon, 1 Jun 2026 08:00:00 GMT",
        "1 June 2026 08:00 UT",
        "Mon 01 Jun 2026 04:00:00 EDT",
        "2026-06-01T08:00:00Z",
        "2026-06-01T10:00:00+02:00",
        "2026-06-01 08:00:00",
        "2026-06-01T08:00Z",
        "2026-06-01T08:00:00.123456789Z",
        "Mon Jun  1 08:00:00 2026",
        " 2026-06-01T08:00:00Z\n",
    ],
)
def test_one_moment_in_many_forms(text: str) -> None:
    assert seconds_of(text) == MOMENT


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "0001-01-01T00:00:00Z", "1970-01-01", "9" * 200],
)
def test_what_is_no_date_and_what_is_a_placeholder(text: str) -> None:
    assert seconds_of(text) is None


moments = st.datetimes(
    min_value=datetime(1990, 1, 2),
    max_value=datetime(9998, 1, 1),
    timezones=st.integers(-14 * 4, 14 * 4).map(lambda q: timezone(timedelta(minutes=15 * q))),
)


@given(moments)
def test_dates_come_back(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    for text in (format_datetime(moment), moment.isoformat(), iso(moment.timestamp())):
        assert seconds_of(text) == moment.timestamp()
        parsed = _parse_date(text)
        assert parsed is None or timegm(parsed) == moment.timestamp(), "as feedparser reads it"


def test_the_one_rule() -> None:
    day = 86_400
    assert timestamp(5.0, 6.0, 7.0) == 5
    assert timestamp(None, 6.0, 7.0) == 6
    assert timestamp(None, None, 7.0) == 7
    assert timestamp(7.0 + day, None, 7.0) == 7 + day
    assert timestamp(8.0 + day, None, 7.0) == 7
