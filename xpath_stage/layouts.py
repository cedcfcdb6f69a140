"""Layouts: where the witnesses of documents stand that are built alike.

The walk over a document leaves a *trace*: the path of each element in document order, and the
string values that are asked for.  As a path tells its depth, the trace says where each row stands
and which nodes are above it; so the rows are put together once for all documents of one trace,
and a document is no more than its layout and its strings, whatever the number of queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from xpath_stage.constants import Held

__all__ = ["Layout", "LayoutRow", "Row", "Trace", "Witnesses"]

Row = tuple[int, int, int, int | None, tuple[int, ...]]
"""A witness: document, code of the node, leaf path, string, the codes from the root to the node."""

LayoutRow = tuple[int, tuple[int, ...], int | None, tuple[int, ...]]
"""A row of a layout: leaf path, chain, which string (they are in order of the rows), and by which
depths it is told apart."""

Trace = tuple[int, ...]
"""The paths of elements, in document order; after an element, for each of its attributes that
leaves rows, `~name`, the complement of its name's number, and its path."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The rows of documents that are built alike, in columns of equal length.

    `paths` are the numbers of leaf paths, `chains` the codes of the nodes from the root to each
    row's own; `strings` says which of a document's strings is a row's (None: no spine asks for
    one), `apart` by the nodes of which depths the spines tell rows of one string apart.  `kinds`
    are the leaf paths, each once, `nodes` the codes of the rows' own nodes.  A layout is equal to
    itself only.
    """

    paths: tuple[int, ...]
    chains: tuple[tuple[int, ...], ...]
    strings: tuple[int | None, ...]
    apart: tuple[tuple[int, ...], ...]
    kinds: frozenset[int]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, rows: Iterable[LayoutRow]) -> Layout:
        """The layout of some rows."""
        listed = list(rows)
        paths = tuple([path for path, _, _, _ in listed])
        chains = tuple([chain for _, chain, _, _ in listed])
        strings = tuple([string for _, _, string, _ in listed])
        apart = tuple([depths for *_, depths in listed])
        nodes = tuple([chain[-1] for chain in chains])
        return cls(paths, chains, strings, apart, frozenset(paths), nodes)


class Witnesses(Struct):
    """The witnesses of a batch of documents: of those that have `left` any, the numbers, layouts
    and strings.

    Beside these, `held` says what of filter families holds where a definition asks for it:
    (document, node, number of the family, what holds).
    """

    left: list[tuple[int, Layout, tuple[int | None, ...]]] = []
    held: list[tuple[int, int, int, Held]] = []

    def __len__(self) -> int:
        return sum([len(layout.paths) for _, layout, _ in self.left])

    def leave(self, document: int, layout: Layout, strings: Sequence[int | None]) -> None:
        """Adds what a document leaves."""
        self.left.append((document, layout, tuple(strings)))

    def rows(self) -> Iterator[Row]:
        """All rows: one for each node of an accepting path."""
        for document, layout, strings in self.left:
            columns = zip(layout.nodes, layout.paths, layout.strings, layout.chains, strict=True)
            for node, path, string, chain in columns:
                yield document, node, path, None if string is None else strings[string], chain
