"""Value joins in DuckDB, for large batches.

`relations` are read by the conjunctive queries; `state` is the documents' side of them, held as
long as `retention` says; `value_join` finds the pairs of equal leaves, and the pairs of documents
of plans without an equality.
"""
