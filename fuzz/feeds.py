"""Any bytes are a feed's items, each a document of the one shape, or no feed."""

from __future__ import annotations

import contextlib
import sys

import atheris

with atheris.instrument_imports(include=["xscl.feeds"]):
    from xscl.feeds import NotAFeed, is_opml, parse_feed, read_opml
from xscl.xpath_stage import parse

URL = "http://feeds.example/feed"
ARRIVAL = 1_700_000_000.0
DAY = 86_400.0


def one_input(data: bytes) -> None:
    """Reads a feed and, as it may be one, a list of subscriptions."""
    if is_opml(data):
        with contextlib.suppress(ValueError):
            read_opml(data)
        return
    try:
        feed = parse_feed(data, URL)
    except NotAFeed:
        return
    for item in feed.items:
        envelope = item.envelope("S", ARRIVAL)
        document = parse(envelope["xml"])
        assert document.tag == "item"
        assert document.findtext("feed") == URL
        assert envelope["id"].startswith(URL)
        assert envelope["timestamp"] <= ARRIVAL + DAY


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
