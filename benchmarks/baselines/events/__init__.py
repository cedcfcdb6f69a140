"""What event queries are measured against: plans that share nothing among queries.

`sequential`: a query after the other, each with its own state; `restart`: the suffix of a plan run
anew for each event, over the events held.  `can`, the two-state embedding, is the engine's own
operators, so that the plan alone differs.
"""
