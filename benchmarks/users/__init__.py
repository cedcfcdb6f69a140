"""What users do, timed: the engine of this checkout, that of another one, and the join by hand.

`inputs` writes documents and queries to a folder.  `worker` is run once for each checkout, as a
process that imports its package, `by_hand` does the same without the engine, and `turns` lets them
take turns.
"""
