"""What the documents of a match have in common.

values.py  a match -> the values for which its equalities and likenesses hold
nodes.py   a match -> the nodes of its documents that have these
"""

from xscl.why.joined.nodes import JoinedNodes, joined_nodes
from xscl.why.joined.values import Joined, JoinedValues

__all__ = ["Joined", "JoinedNodes", "JoinedValues", "joined_nodes"]
