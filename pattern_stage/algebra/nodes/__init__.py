"""Plans of event queries: immutable operators over streams of events (Cayuga's algebra; Hong 2009,
section 3.2; docs/semantics.md#operators, #plans-in-normal-form).

A node is its operator and its inputs, in a file of its own with how its attributes are read;
`names` are the attributes that its events list, `open` whether they may have others.  Conditions
are tuples of conjuncts, the empty one TRUE.  Constants are places in the query's tuple, so queries
equal up to constants have one plan.
"""

from __future__ import annotations

from xscl.pattern_stage.algebra.nodes.aggregate import INF, Aggregate
from xscl.pattern_stage.algebra.nodes.exception import Except
from xscl.pattern_stage.algebra.nodes.iterate import Iterate
from xscl.pattern_stage.algebra.nodes.map import Item, Map
from xscl.pattern_stage.algebra.nodes.node import INPUTS, Node
from xscl.pattern_stage.algebra.nodes.renamed import Renamed
from xscl.pattern_stage.algebra.nodes.repeat import Once, Repeat
from xscl.pattern_stage.algebra.nodes.select import Condition, Select
from xscl.pattern_stage.algebra.nodes.sequence import Sequence
from xscl.pattern_stage.algebra.nodes.source import Source
from xscl.pattern_stage.algebra.nodes.union import Union
from xscl.pattern_stage.algebra.nodes.variable import Variable

__all__ = [
    "INF",
    "INPUTS",
    "Aggregate",
    "Condition",
    "Except",
    "Item",
    "Iterate",
    "Map",
    "Node",
    "Once",
    "Renamed",
    "Repeat",
    "Select",
    "Sequence",
    "Source",
    "Union",
    "Variable",
]
