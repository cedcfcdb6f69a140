"""Event queries by brute force, from the set definitions of Cayuga's algebra alone
(docs/semantics.md#event-queries); nothing of it is the engine's, not even the reading of texts."""
