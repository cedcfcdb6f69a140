"""The data that the project brings with it, installed as `xscl.samples`.

`feeds/` holds two weeks of June 2026 as seven small feeds tell them: a publisher, four
blogs and two news sites, all invented for this project, and beside them `queries.xscl`,
five standing queries that find something in them.  `feed_stream` makes a feed stream of
any length in the shape of the thesis' section 6.6.3, and random queries over it;
`feed_archive` makes feed files, any number of them, in all formats.
"""

from __future__ import annotations

from pathlib import Path

from .feed_archive import feed_archive
from .feed_stream import LEAVES, feed_stream, random_queries

__all__ = ["FEEDS", "LEAVES", "feed_archive", "feed_stream", "random_queries"]

FEEDS = Path(__file__).parent / "feeds"
