"""Value joins in process, for small batches (law 10).

`edges` say which value joins equal leaves of two paths stand for, the `view_cache` has the
`slices` of documents with one string, `signatures` what pairs of documents have in common,
`channels` all queries that a pair satisfies; `residual` tests what a signature leaves open.  `join`
puts these together, or goes the `plain` way.
"""
