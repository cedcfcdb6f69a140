"""Other libraries' test files: what they expect of an item is what comes out, and no file of any
corpus breaks the reader."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urljoin

import pytest
from lxml import etree

from tests.shared import SHARED, needs
from tests.xscl.feeds.expectations import (
    Claim,
    feedparser_claims,
    gofeed_claims,
    gofeed_files,
    headers,
)
from xscl.feeds import NotAFeed, ParsedFeed, parse_feed
from xscl.feeds.opml import is_opml, read_opml

DATA = SHARED / "data"
CORPUS = DATA / "feed-conformance"
SERVED = "http://127.0.0.1:8097/tests/"

pytestmark = needs("data", "feed-conformance")

EXCEPTIONS: dict[str, tuple[str, object, str]] = {
    "feedparser/encoding/bozo_linenoise.xml": (
        "summary", "\u00e2\u20ac\u2122<>\u00e2\u20ac\x9d\u0160",
        "feedparser drops <>, which is text as it stands",
    ),
    "feedparser/wellformed/rss/item_description_not_a_doctype.xml": (
        "summary", "", "<!' opens a comment in HTML; feedparser keeps it as text",
    ),
    "feedparser/wellformed/rss/item_description_not_a_doctype2.xml": (
        "summary", "",
        "<!DOCTYPE without an end is a doctype in HTML; feedparser keeps it as text",
    ),
    "feedparser/wellformed/sanitize/item_content_encoded_script_nested_cdata.xml": (
        "content", "]]>", "what feedparser's sanitizer leaves of a CDATA section within HTML",
    ),
    "feedparser/wellformed/sanitize/xml_declaration_unexpected_character.xml": (
        "source", "",
        "<!DOCTYPE without an end is a doctype in HTML; feedparser keeps it as text",
    ),
    "feedparser/wellformed/sanitize/xml_malicious_comment.xml": (
        "source", "sa", "a comment of HTML that does not end; feedparser ends it at the next >",
    ),
    "gofeed/parser/atom/atom10_feed_title_xhtml_escaped_markup.xml": (
        "source", "",
        "<title> ends in </subtitle>: not well-formed, and feedparser finds no title",
    ),
    "gofeed/parser/atom/atom10_feed_title_xhtml_inline_markup.xml": (
        "source", "",
        "<title> ends in </subtitle>: not well-formed, and feedparser finds no title",
    ),
    "gofeed/translator/atom/feed_categories_-_atom_feed_categories.xml": (
        "category", ("eterm1", "eterm2"),
        "gofeed names a category by its label, which is for people; here it is the term",
    ),
}  # fmt: skip
"""The files that claim something else: of which one field, what it is here, and why."""


def feedparser_cases() -> Iterator[tuple[str, bytes, str | None, str | None, list[Claim]]]:
    """Name, body, content type, base and claims of each file of feedparser's that has some."""
    for file in sorted((CORPUS / "feedparser").rglob("*")):
        if file.is_file():
            body = file.read_bytes()
            sent = headers(body)
            name = file.relative_to(CORPUS).as_posix()
            place = sent.get("content-location")
            is_served = b"127.0.0.1" in body
            base = urljoin(SERVED, place) if place else SERVED if is_served else None
            if base is not None and not base.startswith("http"):
                base = SERVED
            yield name, body, sent.get("content-type"), base, list(feedparser_claims(body))


def gofeed_cases() -> Iterator[tuple[str, bytes, str | None, str | None, list[Claim]]]:
    for file, beside in gofeed_files(CORPUS / "gofeed"):
        name = file.relative_to(CORPUS).as_posix()
        claims = gofeed_claims(name.removeprefix("gofeed/"), beside.read_bytes())
        yield name, file.read_bytes(), None, None, list(claims)


@pytest.mark.parametrize(
    ("source", "cases", "least_claims"),
    [("feedparser", feedparser_cases, 1200), ("gofeed", gofeed_cases, 300)],
)
def test_items_are_as_expected(source: str, cases: object, least_claims: int) -> None:
    count = 0
    failed: dict[str, list[tuple[str, object]]] = {}
    for name, body, content_type, base, claims in cases():  # type: ignore[operator]
        count += len(claims)
        try:
            feed = parse_feed(body, name, content_type=content_type, base=base)
        except NotAFeed as error:
            failed |= {name: [("no feed", str(error))]} if claims else {}
            continue
        for claim in claims:
            if not claim.holds(feed):
                failed.setdefault(name, []).append((claim.field, found(feed, claim)))
    assert count >= least_claims
    # Neither more fails than is listed, nor less, nor otherwise.
    assert failed == {
        name: [(field, ours)]
        for name, (field, ours, _) in EXCEPTIONS.items()
        if name.startswith(source)
    }


def found(feed: ParsedFeed, claim: Claim) -> object:
    """What was read where a claim expects something else."""
    if claim.item is None or claim.item >= len(feed.items):
        return feed.feed.title
    item = feed.items[claim.item]
    return item.categories if claim.field == "category" else getattr(item, claim.field)


@pytest.mark.parametrize("folder", ["feed-conformance", "feed-archives", "opml"])
def test_each_file_is_read_or_refused(folder: str) -> None:
    for file in sorted((DATA / folder).rglob("*")):
        if not file.is_file() or file.name == "items.jsonl":
            continue
        body = file.read_bytes()
        started = time.monotonic()
        with suppress(NotAFeed):
            for item in parse_feed(body, str(file)).items:
                etree.fromstring(str(item.envelope("S", 2e9)["xml"]))
        assert time.monotonic() - started < 60, f"{file} hangs"


def test_the_opml_files_list_what_they_list() -> None:
    bodies = [file.read_bytes() for file in (DATA / "opml").rglob("*") if file.is_file()]
    lists = [read_opml(body) for body in bodies if is_opml(body)]
    assert len(lists) == 61
    assert len({each.address for subscriptions in lists for each in subscriptions}) == 1092
