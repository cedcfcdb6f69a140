"""The algebra of event queries: plans in, compiled operators out (patterns-cel.md, section 3)."""
