"""Dates as feeds write them."""

from __future__ import annotations

from calendar import timegm
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import feedparser
import pytest
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
        "Mon, 01 Jun 2026 04:00:00 -0400",
        "2026-06-01T03:30:00-04:30",
        "2026-06-01 08:00:00",
        "2026-06-01T08:00Z",
        "2026-06-01T08:00:00.123456789Z",
        "2026-06-01 04:00:00 EDT",
        "20260601T100000+0200",
        "2026-06-01 T 08:00:00Z",
        "2026-6-1T8:00",
        "Mon, 01 Jun 26 08:00:00 +0000",
        "Mon ,\t01  Jun 2026  08:00:00\t +0000",
        "Mon, 01 Jun 2026 10:00:00 GMT+02:00",
        "Mon, 01 Jun 2026 10:00:00 MEST",
        "Mon, 01 Jun 2026 08:00:00 Etc/GMT",
        "Mon, 01 Jun 2026 08:00:00 XYZ",
        "Mon, Jun 01 2026 08:00:00 GMT",
        "Mon, 2026/06/01 04:00:00 EDT",
        "Mon Jun  1 08:00:00 2026",
        "Mon Jun  1 01:00:00 PDT 2026",
        "2026년 06월 01일 17:00:00",
        "2026-06-01 오후 05:00:00",
        "2026-június-01T10:00+02:00",
        "Δευ, 01 Ιούν 2026 08:00:00 GMT",
        " 2026-06-01T08:00:00Z\n",
    ],
)
def test_one_moment_in_many_forms(text: str) -> None:
    assert seconds_of(text) == MOMENT


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-06-01", "2026-06-01"),
        ("20260601", "2026-06-01"),
        ("2026-06", "2026-06-01"),
        ("2026", "2026-01-01"),
        ("2026-152", "2026-06-01"),
        ("1 Jun 2026", "2026-06-01"),
        ("2026-05-32T00:00:00Z", "2026-06-01"),
        ("Sun, 31 May 2026 24:00:00 GMT", "2026-06-01"),
        ("2026-05-31T23:59:60Z", "2026-06-01"),
        ("2025-13-01", "2026-01-01"),
        ("2026-06-01 오전 09:00:00", "2026-06-01"),
        ("2026-február-01", "2026-02-01"),
        ("Παρ, 01 Μαϊ 2026", "2026-05-01"),
    ],
)
def test_days_without_a_time_and_parts_beyond_their_range(text: str, day: str) -> None:
    assert iso(seconds_of(text)) == f"{day}T00:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "insert updated date here", "07-01T01:55:07-05:00", "1518478934"),
        *("0000-01-01", "0001-01-01T00:00:00Z", "Mon, 1 Jan 0001 00:00:00 +0000", "1970-01-01"),
        *("9999-99-01", "9" * 200, "1 Foo 2026 10:00:00 GMT"),
    ],
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
        item = f"<item><pubDate>{text}</pubDate></item>"
        (entry,) = feedparser.parse(f"<rss version='2.0'><channel>{item}</channel></rss>").entries
        parsed = entry.published_parsed
        assert parsed is None or timegm(parsed) == moment.timestamp(), "as feedparser reads it"


def test_the_one_rule() -> None:
    day = 86_400
    assert timestamp(5.0, 6.0, 7.0) == 5
    assert timestamp(None, 6.0, 7.0) == 6
    assert timestamp(None, None, 7.0) == 7
    assert timestamp(7.0 + day, None, 7.0) == 7 + day
    assert timestamp(8.0 + day, None, 7.0) == 7
