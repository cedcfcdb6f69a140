"""The conditions and values of patterns and event queries: what their grammars, builders and
wordings share."""
