"""A bound on equal leaves of one document, since all are joined with all
(docs/laws.md#bounded-work).

A value that occurs a thousand times in two documents makes a million pairs.  Of leaves that are
equivalent to every spine a few are enough; a document with too many others is refused.
"""

from __future__ import annotations

from collections import Counter

from xscl.xpath_stage.layouts import Layout, LayoutRow
from xscl.xpath_stage.work import ExcessiveDocument

__all__ = ["MANY_ROWS", "bounded"]

MANY_ROWS = 1_000
"""Equal leaves are counted only in a document with more rows than that."""

_EQUIVALENT = 16
_EQUAL = 3_000


def bounded(layout: Layout, strings: list[int]) -> tuple[Layout, list[int]]:
    """The layout of a document and its strings, without surplus equivalent rows: rows with the same
    string below the same marked nodes.

    Raises ExcessiveDocument where one string occurs at too many nodes that are not equivalent.
    """
    equivalent: Counter[object] = Counter()
    equal: Counter[object] = Counter()
    rows: list[LayoutRow] = []
    kept: list[int] = []
    columns = zip(layout.paths, layout.chains, layout.strings, layout.distinguishing, strict=True)
    for number, (leaf, chain, place, depths) in enumerate(columns):
        if place is None:
            rows.append((leaf, chain, None, depths))
            continue
        string = strings[place]
        if number >= MANY_ROWS:
            # Most strings occur at few nodes; nothing more is counted for these.
            if equal[leaf, string] >= _EQUIVALENT:
                marked = (leaf, string, *(chain[depth] for depth in depths))
                equivalent[marked] += 1
                if equivalent[marked] > _EQUIVALENT:
                    continue
            equal[leaf, string] += 1
            if equal[leaf, string] > _EQUAL:
                raise ExcessiveDocument(
                    f"a value that queries join is at more than {_EQUAL:,} nodes that they "
                    "distinguish; filter them or split the document"
                )
        rows.append((leaf, chain, len(kept), depths))
        kept.append(string)
    if len(rows) == len(layout.paths):
        return layout, strings
    return Layout.of(rows), kept
