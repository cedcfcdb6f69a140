"""A bound on equal leaves of one document: they are joined all with all (law 11).

A value that stands a thousand times in two documents makes a million pairs.  Of leaves that mean
the same to every spine a few are enough; a document with too many others is refused.
"""

from __future__ import annotations

from collections import Counter

from xpath_stage.layouts import Layout, LayoutRow
from xpath_stage.work import ExcessiveDocument

__all__ = ["MANY_ROWS", "bounded"]

MANY_ROWS = 1_000
"""Only of a document with more rows than that, those beyond are counted."""

_ALIKE = 16
_EQUAL = 3_000


def bounded(layout: Layout, strings: list[int]) -> tuple[Layout, list[int]]:
    """The layout of a document and its strings, without the rows beyond many that are alike: of
    the same string below the same marked nodes.

    Raises ExcessiveDocument where one string stands at too many nodes that are not alike.
    """
    alike: Counter[object] = Counter()
    equal: Counter[object] = Counter()
    rows: list[LayoutRow] = []
    kept: list[int] = []
    columns = zip(layout.paths, layout.chains, layout.strings, layout.apart, strict=True)
    for number, (leaf, chain, place, depths) in enumerate(columns):
        if place is None:
            rows.append((leaf, chain, None, depths))
            continue
        string = strings[place]
        if number >= MANY_ROWS:
            # Most strings stand at few nodes, and of these no more is counted.
            if equal[leaf, string] >= _ALIKE:
                marked = (leaf, string, *(chain[depth] for depth in depths))
                alike[marked] += 1
                if alike[marked] > _ALIKE:
                    continue
            equal[leaf, string] += 1
            if equal[leaf, string] > _EQUAL:
                raise ExcessiveDocument(
                    f"a value that queries join stands at more than {_EQUAL:,} nodes that they "
                    "tell apart; filter them or split the document"
                )
        rows.append((leaf, chain, len(kept), depths))
        kept.append(string)
    if len(rows) == len(layout.paths):
        return layout, strings
    return Layout.of(rows), kept
