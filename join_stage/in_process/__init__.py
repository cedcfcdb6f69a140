"""Value joins in process, for small batches (law 10).

`edges` say what equal leaves mean, `view_cache` and `slices` where they are, `signatures` what
pairs of documents have in common, `channels` all that a pair satisfies, `completion` what a
signature does not say; `join` puts these together, or goes the `plain` way.
"""
