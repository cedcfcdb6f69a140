"""The input of stage 1: the paths of tree patterns, as plain immutable data.

A *definition* is the path of steps from a document's root to a variable's node, with the filters on
the way and those branches that bind nothing needed (docs/laws.md#definitions: same definition, same
witnesses, across all queries).  A *spine* is a definition with marks: the steps on the way whose
nodes the join stage needs, the leaf last.  The spines of a tree pattern's leaves contain all of its
structure that is left in the minor: leaves are connected where their marked ancestors are the same
node (section 6.3.1 of the thesis, whose R_bin contains such pairs).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["Definition", "Family", "Filter", "Spine", "Step", "Test"]


@dataclass(frozen=True, slots=True)
class Filter:
    """A predicate on one node, as XPath 1.0.

    `expression` is a condition whose context is the node; where `positional`, it is a whole step
    (`a[b][2]`) whose context is the node's parent, and the node must be among its result.
    `namespaces` are the (prefix, uri) pairs that the expression uses.  Its cost is estimated by
    three counts: the depth of nested `searches` (`//`), the `pairs` of two paths' nodes that are
    compared, and the `strings` of nodes that are read.
    """

    expression: str
    namespaces: tuple[tuple[str, str], ...] = ()
    positional: bool = False
    searches: int = 0
    pairs: bool = False
    strings: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Filters that differ in one constant only and are evaluated together: a node passes if some
    constant of the family holds there, and its witnesses include which ones do.

    `values` is a path, relative to the node.  The constant is compared with the string values of
    the path's nodes, under `functions`; the comparison must be true for one of them.  With `number`
    both are numbers, as in XPath 1.0; only then the operator may be an order.  Where the operator
    is `holds`, `values` is a condition instead, with the variables `$c0`, `$c1`, …; a constant has
    a value for each.
    """

    values: Filter
    operator: Literal["=", "<", "<=", ">", ">=", "holds"] = "="
    number: bool = False
    functions: tuple[str, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The hash is looked up at each node that has values.
        of = (self.values, self.operator, self.number, self.functions)
        object.__setattr__(self, "_hash", hash(of))

    def __hash__(self) -> int:
        return self._hash


Test = Filter | Family
"""A condition on a node."""


class Step(NamedTuple):
    """One step: axis, node test, filters.  It is a tuple, since definitions are looked up by steps.

    `test` is `name`, `{uri}name`, `*`, `{*}name`, or one of these after `@`.  After `descendant` an
    attribute is one of the context node or of an element below it.
    """

    axis: Literal["child", "descendant"]
    test: str
    filters: tuple[Test, ...] = ()


Definition = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Spine:
    """A definition in a stream, and the steps whose nodes are needed.

    `marks` are indices into `steps` in order, the last one the leaf's (a duplicate index is one
    node under two names).  `value` is None if the leaf's string value is not needed, else the
    functions (`values.FUNCTIONS`) to apply to it, in order; () means the string value itself.
    `distinct` is whether leaves below the same marked ancestors must be distinguished even where
    their values are equal.
    """

    stream: str
    steps: Definition
    marks: tuple[int, ...]
    value: tuple[str, ...] | None
    distinct: bool = True

    def __post_init__(self) -> None:
        marks, last = self.marks, len(self.steps) - 1
        if not marks or marks[-1] != last or (marks[1:] and list(marks) != sorted(marks)):
            raise ValueError(f"marks {marks} do not end at step {last}")
