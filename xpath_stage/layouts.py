"""Layouts: the rows of witnesses that documents of one structure share.

The walk over a document leaves a *trace*: the path of each element in document order, and the
string values that queries need.  A path determines its depth.  So the trace determines the node of
each row and the nodes above it, and the rows are built once for all documents of one trace.  A
document is then just its layout and its strings, whatever the number of queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from xscl.xpath_stage.constants import Satisfied

__all__ = ["Layout", "LayoutRow", "Row", "Trace", "Witnesses"]

Row = tuple[int, int, int, int | None, tuple[int, ...]]
"""A witness: document, code of the node, leaf path, string, the codes from the root to the node."""

LayoutRow = tuple[int, tuple[int, ...], int | None, tuple[int, ...]]
"""A row of a layout: leaf path, chain, index of its string (in the order of the rows), and the
depths of the nodes that distinguish it."""

Trace = tuple[int, ...]
"""The paths of elements, in document order; after an element, for each of its attributes that
leaves rows, `~name`, the complement of its name's number, and its path."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The rows of documents of one structure, in columns of equal length.

    `paths` are the numbers of leaf paths, `chains` the codes of the nodes from the root to each
    row's own.  `strings` has the index of each row's string in the document (None: no spine needs
    one), `distinguishing` the depths of the nodes by which spines distinguish rows of one string.
    `kinds` are the leaf paths, each once, `nodes` the codes of the rows' own nodes.  A layout is
    equal to itself only.
    """

    paths: tuple[int, ...]
    chains: tuple[tuple[int, ...], ...]
    strings: tuple[int | None, ...]
    distinguishing: tuple[tuple[int, ...], ...]
    kinds: frozenset[int]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, rows: Iterable[LayoutRow]) -> Layout:
        """The layout of some rows."""
        listed = list(rows)
        paths = tuple([path for path, _, _, _ in listed])
        chains = tuple([chain for _, chain, _, _ in listed])
        strings = tuple([string for _, _, string, _ in listed])
        distinguishing = tuple([depths for *_, depths in listed])
        nodes = tuple([chain[-1] for chain in chains])
        return cls(paths, chains, strings, distinguishing, frozenset(paths), nodes)


class Witnesses(Struct):
    """The witnesses of a batch of documents: the numbers, layouts and strings of the documents that
    have `left` any.

    In addition, `satisfied` has what of filter families holds where a definition needs it:
    (document, node, number of the family, what holds).
    """

    left: list[tuple[int, Layout, tuple[int | None, ...]]] = []
    satisfied: list[tuple[int, int, int, Satisfied]] = []

    def __len__(self) -> int:
        return sum([len(layout.paths) for _, layout, _ in self.left])

    def leave(self, document: int, layout: Layout, strings: Sequence[int | None]) -> None:
        """Adds the witnesses of a document."""
        self.left.append((document, layout, tuple(strings)))

    def rows(self) -> Iterator[Row]:
        """All rows: one for each node of an accepting path."""
        for document, layout, strings in self.left:
            columns = zip(layout.nodes, layout.paths, layout.strings, layout.chains, strict=True)
            for node, path, string, chain in columns:
                yield document, node, path, None if string is None else strings[string], chain
