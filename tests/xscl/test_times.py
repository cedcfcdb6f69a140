"""Times and durations as whole microseconds."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.times import duration, from_timestamp, now, to_seconds

SECOND = 1_000_000
DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("20", 20 * SECOND),
        ("0", 0),
        ("5ms", 5_000),
        ("0.5 ms", 500),
        ("2 msec", 2_000),
        ("90 s", 90 * SECOND),
        ("1 sec", SECOND),
        ("1 second", SECOND),
        ("2 seconds", 2 * SECOND),
        ("2 min", 120 * SECOND),
        ("1 minute", 60 * SECOND),
        ("3 minutes", 180 * SECOND),
        ("1.5h", 5400 * SECOND),
        ("1 hour", 3600 * SECOND),
        ("2 hours", 7200 * SECOND),
        ("1 d", DAY),
        ("7days", 7 * DAY),
        ("7 DAYS", 7 * DAY),
        ("1 day", DAY),
        ("1 week", 7 * DAY),
        ("2 weeks", 14 * DAY),
        (".5 s", SECOND // 2),
        ("1. s", SECOND),
        (" 7  days ", 7 * DAY),
        ("0.1 s", 100_000),
        ("0.000001 s", 1),
        ("INF", None),
        ("inf", None),
    ],
)
def test_durations(text: str, microseconds: int | None) -> None:
    assert duration(text) == microseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "days",
        "7 months",
        "1 year",
        "-1 s",
        "1 2",
        "7 d ays",
        "1e3 s",
        "seven days",
        "7 dayss",
        "1.2.3",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration; write for example"):
        duration(text)


@pytest.mark.parametrize(
    ("value", "microseconds"),
    [
        (0, 0),
        (1.5, 1_500_000),
        (-1, -SECOND),
        (1163462400, 1163462400 * SECOND),
        (1163462400.000001, 1163462400 * SECOND + 1),
        ("1970-01-01T00:00:02Z", 2 * SECOND),
        ("1970-01-01T00:00:02", 2 * SECOND),
        ("1970-01-01T01:00:02+01:00", 2 * SECOND),
        ("1969-12-31T23:59:59Z", -SECOND),
        ("1970-01-02", DAY),
        (" 1970-01-02T00:00:00.25Z ", DAY + 250_000),
        ("2006-11-14T00:00:00Z", 1163462400 * SECOND),
        (99_999_999_999, 99_999_999_999 * SECOND),
        (datetime(1970, 1, 2, microsecond=7), DAY + 7),
        (datetime(1970, 1, 2, tzinfo=UTC), DAY),
        (date(1970, 1, 2), DAY),
        (datetime(1970, 1, 2, 1, tzinfo=timezone(timedelta(hours=1))), DAY),
    ],
)
def test_timestamps(value: object, microseconds: int) -> None:
    assert from_timestamp(value) == microseconds


@pytest.mark.parametrize(
    "value",
    [
        *("", "yesterday", "12", "1712121212000", "2006-13-01", "2006-11-14T25:00:00Z"),
        *(True, None, [], {}),
    ],
)
def test_what_is_no_timestamp(value: object) -> None:
    with pytest.raises(ValueError, match="is neither seconds nor ISO 8601"):
        from_timestamp(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e12, 10**30])
def test_what_no_clock_shows(value: float) -> None:
    with pytest.raises(ValueError, match="is out of range"):
        from_timestamp(value)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))
def test_a_moment_is_the_same_as_text_and_as_seconds(moment: datetime) -> None:
    text = moment.isoformat()
    seconds = moment.replace(tzinfo=UTC).timestamp()
    assert from_timestamp(text) == from_timestamp(text + "Z") == from_timestamp(seconds)
    assert from_timestamp(moment) == from_timestamp(text)
    assert to_seconds(from_timestamp(text)) == seconds


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_of_any_zone_is_the_same_as_its_text(moment: datetime) -> None:
    assert from_timestamp(moment) == from_timestamp(moment.isoformat())


def test_a_missing_moment_of_pandas_is_none() -> None:
    missing = pytest.importorskip("pandas").NaT
    with pytest.raises(ValueError, match="NaT is neither seconds nor ISO 8601"):
        from_timestamp(missing)


def test_now_is_later_than_this_was_written() -> None:
    assert now() > from_timestamp("2026-01-01")
