"""Joins on Spark beside the embedded engine: `inputs` writes what they read, `ways` are they."""
