"""Queries as data for the nested loops: paths are XPath 1.0, and blocks are `for` clauses.

A block's variables are the `for` clauses of XQuery, in order:

    S//book->x1[./author->x2]   is   Block("S", [Variable("x1", None, "//book"),
                                                 Variable("x2", "x1", "./author")], output="x1")

A chain is a tree of joins that leans to the left; a group is a join to the right of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.oracle.terms import Select, selected_paths

__all__ = [
    "Block",
    "Conjuncts",
    "Document",
    "Join",
    "Query",
    "Side",
    "Source",
    "Term",
    "Variable",
    "blocks_of",
    "joins_of",
]


@dataclass(frozen=True)
class Variable:
    """Ranges over the nodes that `path` selects from the parent's node, or from the document."""

    name: str
    parent: str | None
    path: str


@dataclass(frozen=True, eq=False)
class Block:
    """A block over a stream, or over the results of a query; `output` names the variable of the
    last step of its main path."""

    stream: str | Query
    variables: Sequence[Variable]
    output: str


@dataclass(frozen=True)
class Term:
    """A side of a comparison that is not just a variable: the nodes of a path (XPath) from one,
    or a constant without a variable, under functions (innermost first)."""

    variable: str | None
    path: str = "."
    functions: tuple[str, ...] = ()
    constant: str = ""


Side = str | Term
Conjuncts = Sequence[tuple[Side, str, Side]]


@dataclass(frozen=True, eq=False)
class Join:
    """Two sources under an operator; the window is in seconds.

    All of the `joins` must hold, (left, comparison, right), or all of one of the `alternatives`.
    They may be about variables of blocks to the left of `left`, too.
    """

    left: Source
    kind: Literal["FOLLOWED BY", "JOIN"]
    right: Source
    joins: Conjuncts = ()
    window: float | None = None
    alternatives: Sequence[Conjuncts] = ()

    @property
    def compared(self) -> set[str]:
        """The variables that any comparison is about."""
        sides = {
            side
            for joins in (self.joins, *self.alternatives)
            for left, _, right in joins
            for side in (left, right)
        }
        names = {side if isinstance(side, str) else side.variable for side in sides}
        return {name for name in names if name is not None}


Source = Block | Join


def blocks_of(source: Source) -> list[Block]:
    """The blocks of a source, in order of the text."""
    if isinstance(source, Block):
        return [source]
    return blocks_of(source.left) + blocks_of(source.right)


def joins_of(source: Source) -> list[Join]:
    """The joins of a source, the operands' before their own."""
    if isinstance(source, Block):
        return []
    return [*joins_of(source.left), *joins_of(source.right), source]


@dataclass(frozen=True, eq=False)
class Query:
    """What is selected from a source, and the stream that the results feed."""

    name: str
    source: Source
    select: Select = ""
    publish: str | None = None
    namespaces: Mapping[str, str] = field(default_factory=dict)

    @property
    def selected(self) -> set[str]:
        """The variables that the SELECT names."""
        return {path.variable for path in selected_paths(self.select)}


@dataclass(frozen=True, eq=False)
class Document:
    """A document of a stream; the time is in seconds.

    Of a published document the id says which match it comes from.
    """

    stream: str
    id: object
    timestamp: float
    xml: str
