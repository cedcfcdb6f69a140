"""Query templates: a join graph's minor and its canonical form (sections 6.4.1 and 6.4.2).

`join_graph` represents a query, `reduction` reduces it to its minor, and `canonical` finds the
template of which the minor is an instance.
"""

from xscl.templates.canonical import Template, template_of
from xscl.templates.join_graph import FLIPPED, Edge, JoinGraph, Node, flipped
from xscl.templates.reduction import RULES, minor

__all__ = [
    "FLIPPED",
    "RULES",
    "Edge",
    "JoinGraph",
    "Node",
    "Template",
    "flipped",
    "minor",
    "template_of",
]
