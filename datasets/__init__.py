"""The data that come with the project, installed as `xscl.samples`.

`feeds/` has two weeks of June 2026 in seven small feeds: a publisher, four blogs and two news
sites, all invented for this project.  `queries.xscl` next to them has six standing queries that
find something in them.  `feed_stream` makes a feed stream of any length in the shape of the thesis'
section 6.6.3, and random queries over it; `feed_archive` makes feed files, any number of them, in
all formats.

The workloads of the benchmarks: `technical_benchmark` (section 6.6.1), `shared_values` (where
hardly two pairs of documents resemble each other), `retold_titles` (joins by likeness),
`element_paths` (stage 1), `personalised` (one
query text, constants for each subscriber); of event queries `cayuga_benchmark` (section 4.6.1),
`stock_closings` (section 4.6.3), `rumor_benchmark` (section 5.5.2), `cpu_readings` (5.5.3).
"""

from __future__ import annotations

from pathlib import Path

from .cayuga_benchmark import (
    STEPPED,
    SteppedQuery,
    cayuga_benchmark,
    cayuga_events,
    stepped_queries,
    with_rows,
)
from .cpu_readings import cpu_readings
from .element_paths import Vocabulary, random_documents, random_patterns, vocabulary
from .feed_archive import feed_archive
from .feed_stream import ITEM, LEAVES, feed_stream, random_queries
from .personalised import (
    FOLLOWED,
    linked_items,
    links_between,
    matched_subscriptions,
    subscriptions,
)
from .retold_titles import retold_titles
from .rumor_benchmark import rumor_benchmark, rumor_events
from .shared_values import shared_values
from .stock_closings import stock_closings
from .technical_benchmark import (
    LeafJoin,
    Schema,
    document_pair,
    document_pairs,
    query_text,
    random_joins,
    three_level,
    two_level,
)

__all__ = [
    "FEEDS",
    "FOLLOWED",
    "ITEM",
    "LEAVES",
    "STEPPED",
    "LeafJoin",
    "Schema",
    "SteppedQuery",
    "Vocabulary",
    "cayuga_benchmark",
    "cayuga_events",
    "cpu_readings",
    "document_pair",
    "document_pairs",
    "feed_archive",
    "feed_stream",
    "linked_items",
    "links_between",
    "matched_subscriptions",
    "query_text",
    "random_documents",
    "random_joins",
    "random_patterns",
    "random_queries",
    "retold_titles",
    "rumor_benchmark",
    "rumor_events",
    "shared_values",
    "stepped_queries",
    "stock_closings",
    "subscriptions",
    "three_level",
    "two_level",
    "vocabulary",
    "with_rows",
]

FEEDS = Path(__file__).parent / "feeds"
