"""Joins on Spark compared with the embedded engine: `inputs` writes what they read, `ways` runs
them."""
