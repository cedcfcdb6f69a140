"""XSCL on Spark: from feeds to a deduplicated stream of item documents, and queries over them.

`run` evaluates standing queries over a DataFrame, a batch or a stream; `join` is its older name,
without results unless asked for.  `documents` makes documents of the rows of a table; `channels`
and `problems` are next to it.  `joins` is how.

`FeedSource` is `format("feed")`, `JsonLinesSink` is `format("xscl-jsonl")`: register them with
`spark.dataSource.register`.  `ingestion.jobs` has the two streaming queries that `xscl ingest`
runs, and `items_of` for bodies of one's own.  On the way of a body: `gathering` fetches it into the
`spool`, `feed_source` offers it, it lands; `parsed_bodies` reads its items, `known_items` says
which are new, `columns` are those of all tables.  Nothing here is imported before it is needed: the
rest of XSCL works without PySpark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xscl.spark.joins.join import channels, documents, join, problems, run

__all__ = ["channels", "documents", "join", "problems", "run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("xscl.spark.joins.join"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
