"""A query in value-join normal form becomes tree patterns and join graphs (section 6.1)."""
