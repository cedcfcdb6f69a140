"""From the trace that the walk over a document leaves to the layout of its rows.

A path determines its depth.  So a trace determines the node of each row and the nodes above it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.xpath_stage.layouts import Layout, LayoutRow, Trace
from xscl.xpath_stage.parsing.documents import ATTRIBUTE
from xscl.xpath_stage.paths import PathTable
from xscl.xpath_stage.transitions import DEAD

__all__ = ["lay_out"]

_LONG = 500
"""Traces with more entries are not cached."""


def lay_out(table: PathTable, trace: Trace) -> Layout:
    """The layout of a document's trace, cached as long as the paths keep their meaning."""
    layout = table.layouts.get(trace)
    if layout is not None:
        return layout
    layout = Layout.of(_rows(table, trace))
    if len(trace) < _LONG:
        table.store(trace, layout)
    return layout


def _rows(table: PathTable, trace: Trace) -> Iterator[LayoutRow]:
    leaves, paths = table.leaves, table.paths
    taken = 0
    above: list[int] = []
    node = -1
    name = 0
    for path in trace:
        if path < 0:
            name = ~path
            continue
        if name:
            chain: tuple[int, ...] = (*above, node + ATTRIBUTE * name)
            name = 0
        else:
            node += 1
            if path == DEAD:
                continue
            del above[paths[path].depth :]
            above.append(node)
            if not leaves[path]:
                continue
            chain = tuple(above)
        for leaf in leaves[path]:
            valued = leaf.functions is not None
            yield leaf.number, chain, taken if valued else None, leaf.depths
            taken += valued
