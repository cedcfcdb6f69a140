"""Which events of a node still are documents' and so are told apart by number (patterns-cel.md,
section 2): FILTER, UNION and `SELECT *` keep that, whatever computes does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pattern_stage.algebra.nodes import Node, Select, Source, Union

__all__ = ["documents"]


def documents(node: Node) -> Callable[[Any], bool]:
    """Whether an event of a node still is a document's."""
    match node:
        case Source():
            return lambda event: event[2] is not None
        case Select():
            return documents(node.input)
        case Union():
            sides = documents(node.left), documents(node.right)
            return lambda event: sides[event[3]](event[4])
        case _:
            return lambda event: False
