"""Other engines over the same items and queries: each by a script of its own in an environment of
its own (`environments`), which reads a folder's items and queries (`queries`) and prints the
matches of each query (`cells` runs it within a limit)."""
