"""Which items of a body are new, by the rules of polling (`xscl.polling.news`).

What is remembered of a feed is bounded: the keys of the items that it shows, and of the thousand
that it showed before.  Dates take no part in it, and no watermark: an item that is dated 2099
drops no other, and one that is shown for years stays known.
"""

from __future__ import annotations

from xscl.polling.news import Seen
from xscl.spark.ingestion.item_keys import packed, unpacked

__all__ = ["feed_news"]


def feed_news(shown: bytes, keys: bytes, *, updates: bool) -> tuple[list[int], bytes]:
    """The places of the items that are new, with `updates` of those that are edited, too, and what
    is shown from now on.  `shown` and `keys`, those of the body's items, are packed."""
    items = list(unpacked(keys))
    place = {item.identity: number for number, item in enumerate(items)}
    seen = Seen(unpacked(shown))
    news = seen.take(items)
    published = [*news.new, *news.edited] if updates else news.new
    return sorted(place[item.identity] for item in published), packed(seen)
