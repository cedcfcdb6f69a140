"""What lxml and feedparser both read, they read equally: well-formed feeds lose nothing by the fast
reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from datasets import FEEDS
from tests.drawn import DRAW, SEED
from tests.shared import SHARED, wanting
from xscl.feeds import CANONICAL, Item, parsing
from xscl.feeds.entries import channel_feed, entry_item
from xscl.feeds.wild import Unreadable, WildFeed
from xscl.feeds.xml_feed import ROOTS, XmlFeed

DATA = SHARED / "data"

PARTED = {
    # What feedparser does to feeds that no specification allows.
    "ext/feedsync/spec-example-atom-2.xml": "an entry within an entry",
    "ext/feedsync/spec-example-rss-2.xml": "an item within an item",
    "atom/4.2.11/missing-self.xml": "an entry within a source",
    "atom/4.2.11/source-entry.xml": "an entry within a source",
    "atom10/entry_content_div_escaped_markup.xml": "escaped markup in XHTML is text",
    "atom/atom10_feed_entry_content_html_div_escaped_markup.xml": "markup in escaped HTML is text",
    "atom/must/entry_content_not_inline.xml": "XHTML that is escaped",
    "atom/must/entry_content_not_inline_cdata.xml": "XHTML that is escaped",
    "atom/must/entry_summary_not_inline_cdata.xml": "XHTML that is escaped",
    "atom/must/entry_title_not_inline_cdata.xml": "XHTML that is escaped",
    "atom/must/entry_author_unknown_element.xml": "an author without a name",
    "atom/must/valid_dc_all.xml": "dc:date beside updated",
    "atom/3.2.1/contains-email.xml": "a name with a mail address",
    "atom/4.1.3.3/content-svg.xml": "a title of SVG in the content",
    "atom/entry_id_xml_base.xml": "a relative id",
    "ext/media/duplicate_description.xml": "two media:description",
    "node_precedence/atom10_title.xml": "a title within an image",
    "rss/item_category_image.xml": "an image within a category",
    "rss/item_guid_isPermaLink_ValueError.xml": "a guid that is no address, declared as one",
    "rss/issue_217_enclosure_children.xml": "a title within an enclosure",
    "w3c-feedvalidator/rss/must/multiple_item_content_encoded.xml": "two contents",
    "rss/must/rss10_mixedContent.xml": "text next to elements",
    "parser/rss/rss_channel_item_author_naked_markup.xml": "markup within an author",
    "rss/rss_channel_item_category_naked_markup.xml": "markup within a category",
    "rss/rss_channel_item_guid_naked_markup.xml": "markup within a guid",
    "rss/rss_channel_item_uri_at_protocol.xml": "a link with an attribute uri",
    "rss20/data-types-email/jumbled.xml": "a comma between name and mail address",
}
ENCLOSURE = "an enclosure of type text/html, which is what feedparser says where there is none"
PARTED |= {
    f"{folder}/{name}.xml": ENCLOSURE
    for folder in ("atom", "atom10")
    for name in (
        "entry_link_no_href",
        "entry_link_no_href_link_priority",
        "entry_link_rel_enclosure",
        "entry_link_rel_enclosure_no_href",
    )
}
REFUSED = {"rss/version_rdf_090.xml", "rss/must/rss10_invalid_namespace.xml"}
REFUSED |= {"rss/must/rss10_invalid_namespace2.xml"}
"""Feeds without items that feedparser takes for none."""


def well_formed(folder: Path) -> Iterator[tuple[str, bytes, XmlFeed]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".jsonl":
            body = file.read_bytes()
            root = parsing.tree_of(body, None)
            if root is not None and root.tag.rpartition("}")[2].lower() in ROOTS:
                yield file.relative_to(folder).as_posix(), body, XmlFeed(root, "")


def items(read: XmlFeed | WildFeed) -> list[Item]:
    feed = channel_feed(read.channel, "f", ())
    # The site is the start of relative links, no more.
    return [entry_item(entry, read.channel, feed, CANONICAL) for entry in read.entries()]


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("folder", "least"),
    [(FEEDS, 7), (DATA / "feed-archives", 145), (DATA / "feed-conformance", 3900)],
    ids=["samples", "archives", "conformance"],
)
def test_both_read_the_same(folder: Path, least: int) -> None:
    if not folder.exists():
        pytest.skip(wanting("data", folder.name))
    count = 0
    for name, body, fast in well_formed(folder):
        count += 1
        if DRAW < 1 and least > 100 and count % 4 != SEED % 4:
            # Feedparser reads each fourth of the many, and all by `make fuzz`.
            continue
        try:
            slow = WildFeed(body, "", None)
        except Unreadable:
            assert name.endswith(tuple(REFUSED)), name
            continue
        ours, theirs = ([says(item) for item in items(read)] for read in (fast, slow))
        if ours != theirs:
            assert name.endswith(tuple(PARTED)), name
    assert count >= least


def says(item: Item) -> dict[str, object]:
    return {name: getattr(item, name) for name in Item.__slots__ if name != "feed"}
