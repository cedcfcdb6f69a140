"""Plans of event queries: immutable operators over streams of events (Cayuga's algebra; Hong 2009,
section 3.2; patterns-cel.md, sections 3 and 5).

A node is its operator and its inputs, in a file of its own with how its attributes are read;
`names` are the attributes that its events list, `open` whether they may have others.  Conditions
are tuples of conjuncts, the empty one TRUE.  Constants are places in the query's tuple, so queries
alike but for constants have one plan.
"""

from __future__ import annotations

from pattern_stage.algebra.nodes.aggregate import INF, Aggregate
from pattern_stage.algebra.nodes.iterate import Iterate
from pattern_stage.algebra.nodes.map import Item, Map
from pattern_stage.algebra.nodes.select import Condition, Select
from pattern_stage.algebra.nodes.sequence import Sequence
from pattern_stage.algebra.nodes.source import Source
from pattern_stage.algebra.nodes.union import Union

__all__ = [
    "INF",
    "Aggregate",
    "Condition",
    "Item",
    "Iterate",
    "Map",
    "Node",
    "Select",
    "Sequence",
    "Source",
    "Union",
]

Node = Source | Select | Map | Union | Sequence | Iterate | Aggregate
