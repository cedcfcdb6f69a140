"""The figures of both papers on patterns: SASE (2006), SASE+ (2008)."""
