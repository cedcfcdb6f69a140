"""A query in value-join normal form becomes tree patterns and join graphs (section 6.1).

`dissect.py` has the steps in order, one file each: name_streams, plant_blocks, split_disjuncts,
compare_nodes, define_nodes, join_blocks, plan_operators.  `draft.py` is the intermediate result,
`parts.py` the final one.  The steps use `tree_patterns.py` (the nodes of a block), `xpath_text.py`
(conditions as the XPath of stage 1; their `condition_cost.py`) and `open_constants.py` (conditions
whose constants are parameters, as families of filters).  `outline.py` has the dissections of
queries that differ in names only.
"""
