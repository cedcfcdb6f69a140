"""Value joins in DuckDB, for large batches.

The conjunctive queries read `relations`; `state` is the documents' side of them, stored as long as
`retention` says; `value_join` finds the pairs of equal leaves, and the pairs of documents of plans
without an equality.
"""
