"""The streams and baselines of the papers on patterns: SASE (2006), SASE+ (2008)."""
