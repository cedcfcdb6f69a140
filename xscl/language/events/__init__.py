"""The part of the language that computes with events: FILTER, NEXT, FOLD, UNION, WINDOW
(docs/semantics.md#event-queries)."""
