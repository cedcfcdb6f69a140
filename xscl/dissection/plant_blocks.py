"""Each block of a query as a tree pattern of its steps."""

from __future__ import annotations

from xscl.dissection.draft import Draft
from xscl.dissection.tree_patterns import Growing
from xscl.language.walk import operands

__all__ = ["plant_blocks"]


def plant_blocks(draft: Draft) -> Draft:
    """Adds the tree patterns, their variables and output nodes."""
    growing = Growing(draft.patterns)
    for index, operand in enumerate(operands(draft.query.source)):
        growing.block(index, operand)
    return draft._replace(patterns=growing.grown())
