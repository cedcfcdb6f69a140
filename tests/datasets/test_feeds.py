"""The sample feeds: well-formed, two weeks of June 2026, and worth querying."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import feedparser
import pytest
from lxml import etree

from datasets import FEEDS
from xscl.sources.feed_files import read_feeds

FILES = sorted(FEEDS.glob("*.xml"))
AFTERWARDS = datetime(2026, 6, 15, tzinfo=UTC).timestamp()
QUERIES = (FEEDS / "queries.xscl").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def items() -> list[etree._Element]:
    envelopes = read_feeds(FEEDS, "S", arrival=AFTERWARDS)
    return [etree.fromstring(envelope["xml"]) for envelope in envelopes]


def test_there_are_seven_feeds_in_both_formats() -> None:
    versions = Counter(feedparser.parse(str(file)).version for file in FILES)
    assert versions == {"rss20": 4, "atom10": 3}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_feed_is_well_formed(file: Path) -> None:
    parsed = feedparser.parse(str(file))
    assert not parsed.bozo
    assert len(parsed.entries) >= 20
    assert etree.parse(str(file)).getroot().tag in ("rss", "{http://www.w3.org/2005/Atom}feed")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_dates_are_in_the_two_weeks_and_newest_first(file: Path) -> None:
    dates = [datetime(*entry.published_parsed[:6]) for entry in feedparser.parse(str(file)).entries]
    assert dates == sorted(dates, reverse=True)
    assert all(datetime(2026, 6, 1) <= date < datetime(2026, 6, 15) for date in dates)


def test_the_items_are_complete(items: list[etree._Element]) -> None:
    assert 140 <= len(items) <= 160
    for item in items:
        tags = {child.tag for child in item}
        assert {"feed", "site", "source", "id", "link", "title", "author"} <= tags
        assert {"category", "published"} <= tags
        assert tags & {"summary", "content"}


def test_identities_are_unique_and_addresses_invented(items: list[etree._Element]) -> None:
    assert len({item.findtext("id") for item in items}) == len(items)
    addresses = [link.text or "" for item in items for link in item.iter("link", "linked", "site")]
    assert all(re.match(r"https://[a-z-]+\.example/", address) for address in addresses)


def test_reviews_cross_posts_and_links_between_feeds(items: list[etree._Element]) -> None:
    titles = Counter(item.findtext("title") for item in items)
    by_author = Counter(
        (item.findtext("title"), author.text) for item in items for author in item.iter("author")
    )
    links = Counter(item.findtext("link") for item in items)
    linked = {link.text for item in items for link in item.iter("linked")}
    assert sum(count > 1 for count in titles.values()) >= 20
    assert sum(count > 1 for count in by_author.values()) >= 10
    assert any(count > 1 for count in links.values())
    assert len(linked & set(links)) >= 20


def test_six_named_queries() -> None:
    names = re.findall(r"^-- name: (\w+)$", QUERIES, re.MULTILINE)
    assert names == [
        "reviewed",
        "author_on_subject",
        "cross_post",
        "common_reference",
        "answered",
        "retold",
    ]
    statements = re.sub(r"--.*", "", QUERIES).split(";")
    assert statements.pop().strip() == ""
    assert len(statements) == len(names)
    for statement in statements:
        assert re.fullmatch(
            r"\s*SELECT\s+<.*>\s+FROM S//item\[.*\]\s+"
            r"(FOLLOWED BY|JOIN) \{[^{}]+, \d+ days?\}\s+S//item\[.*\]",
            statement,
            re.DOTALL,
        )
