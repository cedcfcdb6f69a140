"""Files that a command names: read, gzipped or not; put in place whole; those of DuckDB opened one
after the other; no output that is also an input.
"""
