"""Files that a command names: read, gzipped or not; put in place whole; no output that is also an
input.
"""
