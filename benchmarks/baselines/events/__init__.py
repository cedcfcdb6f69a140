"""Baselines of event queries: plans that share nothing among queries.

`sequential`: a query after the other, each with its own state; `restart`: the suffix of a plan run
again for each event, over the retained events.  `can`, the two-state embedding, is the engine's own
operators, so that only the plan differs.
"""
