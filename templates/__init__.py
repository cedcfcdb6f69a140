"""Query templates: a join graph's minor and its canonical form (sections 6.4.1 and 6.4.2).

`join_graph` is what a query is, `reduction` what is left of it, `canonical` which template
that is an instance of.
"""

from templates.canonical import Template, template_of
from templates.join_graph import FLIPPED, Edge, JoinGraph, Node
from templates.reduction import RULES, minor

__all__ = ["FLIPPED", "RULES", "Edge", "JoinGraph", "Node", "Template", "minor", "template_of"]
