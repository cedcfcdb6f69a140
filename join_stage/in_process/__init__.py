"""Value joins in process, for small batches (docs/laws.md#two-value-joins).

`edges` are the value joins that equal leaves of two paths represent; the `view_cache` has `slices`
of documents with one string, of which `ranges` are in time; `signatures` are of pairs that have the
same in common, `channels` all queries that a pair satisfies, `residual` tests the conditions beyond
a signature by `completions` and `thresholds`, and `crossing` has the pairs of queries without an
equality.  `join` combines these, or uses the `plain` way.
"""
