"""A composition for people, for programs and as a picture (docs/how-it-runs.md#compositions)."""
