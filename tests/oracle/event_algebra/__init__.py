"""Event queries by brute force, from the set definitions of Cayuga's algebra alone
(patterns-cel.md, sections 1 to 4); nothing of it is the engine's, not even the reading of texts."""
