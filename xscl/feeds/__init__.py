"""Feeds in any format become items of one shape, and those document envelopes.

`parse_feed` reads the bytes of one feed, `read_opml` a list of feeds; files of either are read by
`xscl.sources.feed_files`.  On the way: `xml_feed`, `json_feed` and `wild` read a format into
entries, `mending` what is wrong with many of them; `entries` makes items of them (`items`), by the
rules of `html_text`, `links`, `dates` and `identity`.
"""

from xscl.feeds.items import Enclosure, Feed, Item, ParsedFeed
from xscl.feeds.opml import Outline, is_opml, read_opml
from xscl.feeds.parsing import NotAFeed, parse_feed
from xscl.xpath_stage.texts.urls import CANONICAL, RAW, Rules, canonical, rules_of

__all__ = [
    "CANONICAL",
    "RAW",
    "Enclosure",
    "Feed",
    "Item",
    "NotAFeed",
    "Outline",
    "ParsedFeed",
    "Rules",
    "canonical",
    "is_opml",
    "parse_feed",
    "read_opml",
    "rules_of",
]
