"""A query during its dissection: the results of the steps of `dissect.py` so far.

Named tuples: each step replaces some fields, which a dataclass does much slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from xscl.dissection.open_constants import OpenConstant
from xscl.dissection.parts import JoinOperator, OperatorSide
from xscl.dissection.tree_patterns import TreePatterns
from xscl.join_stage import TimeConstraint
from xscl.language.normal_form import Conjunct
from xscl.language.syntax import Query
from xscl.templates import Edge, JoinGraph
from xscl.xpath_stage import Definition

__all__ = ["DisjunctDraft", "Draft", "OperatorGraph"]


class OperatorGraph(NamedTuple):
    """An operator before it is planned: the fields are those of `JoinOperator`."""

    sides: tuple[OperatorSide, ...]
    constraint: TimeConstraint
    graph: JoinGraph
    columns: tuple[int, ...]
    valued: tuple[int, ...]


class DisjunctDraft(NamedTuple):
    """One disjunct; a comment names the step that fills in the fields below it."""

    # split_disjuncts
    query: Query
    conjuncts: tuple[Conjunct, ...]
    patterns: TreePatterns
    selected: Mapping[str, int]
    # compare_nodes, which adds to the patterns, too
    edges: tuple[Edge, ...] = ()
    # define_nodes
    definitions: Mapping[int, Definition] = MappingProxyType({})
    opened: tuple[tuple[int, OpenConstant], ...] = ()
    # join_blocks
    graphs: tuple[OperatorGraph, ...] = ()
    # plan_operators
    operators: tuple[JoinOperator, ...] = ()

    @property
    def put_out(self) -> tuple[int, ...]:
        """The nodes that the matches need: output nodes, selected ones, and those on which open
        constants are tested after the join."""
        opened = (node for node, _ in self.opened)
        return tuple(dict.fromkeys((*self.patterns.outputs, *self.selected.values(), *opened)))


class Draft(NamedTuple):
    """A query: the streams and tree patterns of its blocks, then its disjuncts."""

    query: Query
    streams: tuple[str, ...] = ()
    patterns: TreePatterns = TreePatterns()
    disjuncts: tuple[DisjunctDraft, ...] = ()
