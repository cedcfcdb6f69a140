"""R_T in process: the rows of one plan as a trie over the columns that say what a row joins.

A level for each column, in the plan's order (j0, j1, …, s0, …), the rows' numbers below the last.
The conjunctive query walks it beside the atoms of its body, so that nothing is joined that no row
begins with.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["RowTrie", "Trie"]

Trie = dict[int, "Trie"]


class RowTrie:
    """The rows of a plan.

    >>> rows = RowTrie()
    >>> rows.add((4, 7), 0), rows.add((4, 8), 1), rows.add((4, 8), 2), rows.root
    (None, None, None, {4: {7: {0: {}}, 8: {1: {}, 2: {}}}})
    >>> rows.remove((4, 7), 0), rows.root
    (None, {4: {8: {1: {}, 2: {}}}})
    """

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: Trie = {}

    def add(self, columns: Sequence[int], row: int) -> None:
        """Adds a row with these columns."""
        at = self.root
        for column in columns:
            at = at.setdefault(column, {})
        at[row] = {}

    def remove(self, columns: Sequence[int], row: int) -> None:
        """Removes a row, and all above it that leads to no other."""
        way = [self.root]
        for column in columns:
            way.append(way[-1][column])
        for at, step in zip(reversed(way), (row, *reversed(columns)), strict=True):
            del at[step]
            if at:
                return
