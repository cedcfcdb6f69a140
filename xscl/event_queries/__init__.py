"""Event queries: schemas and names, from syntax trees to plans of Cayuga's algebra
(docs/semantics.md#event-queries)."""
