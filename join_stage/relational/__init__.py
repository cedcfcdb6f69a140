"""Value joins in DuckDB, for large batches.

`relations` are what the conjunctive queries read, `state` the documents' side of them and
`retention` how long it is held; `value_join` are the pairs of equal leaves, `together` those of
plans without an equality, `views` the thesis' own relations over ours.
"""
