"""The queries of an engine: how they come in, what they share, and when they go."""
