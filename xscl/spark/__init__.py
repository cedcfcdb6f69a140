"""Feeds on Spark: from addresses and files to a deduplicated stream of item documents.

`FeedSource` is `format("feed")`, `JsonLinesSink` is `format("xscl-jsonl")`: register them with
`spark.dataSource.register`.  `jobs` has the two streaming queries that `xscl ingest` runs, and
`items_of` for bodies of one's own.  On the way of a body: `gathering` fetches it into the `spool`,
`feed_source` offers it, it lands; `parsed_bodies` reads its items, `known_items` says which are
new, `columns` are those of all tables.  Nothing here is imported before it is needed: the rest of
XSCL works without PySpark.
"""
