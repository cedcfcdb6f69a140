"""Value joins in process, for small batches (law 10).

`edges` are the value joins that equal leaves of two paths stand for; the `view_cache` has `slices`
of documents with one string, of which `ranges` are in time; `signatures` are of pairs that have
the same in common, `channels` all queries that a pair satisfies, `residual` tests the conditions
beyond a signature, and `crossing` has the pairs of queries without an equality.  `join` puts these
together, or goes the `plain` way.
"""
