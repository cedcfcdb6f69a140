"""A template into the SQL of its conjunctive query CQ_T (sections 6.4.4 and 6.5).

For each value join there are copies of R_doc and R_docW, joined on their string values, and for
each structural edge a copy of R_bin or R_binW; with materialised views one of R_L or R_R replaces
the two of a leaf.  R_T says which variables each query means; `Sequential` has the variables of one
query in its place.  Line 4 of Algorithm 3 (the window) is part of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.baselines.shapes import Hanging, Shape, leaf_names

FOREVER = 2**60
"""The window of a query that has none."""


@dataclass(slots=True)
class Body:
    """The body of a conjunctive query: copies of relations, and what joins them."""

    tables: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    strings: dict[str, str] = field(default_factory=dict)


def of_template(shape: Shape, table: str, *, views: bool) -> str:
    """CQ_T over the R_T in `table`: the number of results of each query that has any."""
    body = _body(shape, {name: f"t.{name}" for name in shape.names()}, "t.wl", views=views)
    tables = ", ".join([f"{table} t", *body.tables])
    conditions = " AND ".join(body.conditions)
    return f"SELECT t.qid, count(*) FROM {tables} WHERE {conditions} GROUP BY t.qid"


def of_query(shape: Shape, variables: Sequence[int], window: int) -> str:
    """The conjunctive query of one XSCL query: the number of its results."""
    named = dict(zip(shape.names(), map(str, variables), strict=True))
    body = _body(shape, named, str(window), views=False)
    conditions = " AND ".join(body.conditions)
    return f"SELECT count(*) FROM {', '.join(body.tables)} WHERE {conditions}"


def _body(shape: Shape, variables: dict[str, str], window: str, *, views: bool) -> Body:
    body = Body()
    _side(body, "l", shape.left, variables, ("bin", "doc", "r_l"), views=views)
    _side(body, "r", shape.right, variables, ("binw", "docw", "r_r"), views=views)
    for leaf in leaf_names(shape):
        body.conditions.append(f"{body.strings['l' + leaf]} = {body.strings['r' + leaf]}")
    body.conditions += ["l1.ts < r1.ts", f"r1.ts - l1.ts <= {window}"]
    return body


def _side(
    body: Body,
    side: str,
    hanging: Hanging,
    variables: dict[str, str],
    relations: tuple[str, str, str],
    *,
    views: bool,
) -> None:
    """The copies of one side; that of leaf n's structural edge is named `l`n or `r`n.

    The edge from the top to a node in the middle is not in R_L or R_R, whose lower ends are the
    joined leaves: it is read from R_bin or R_binW.
    """
    structure, values, view = relations
    edges = [(f"{side}t", f"{side}m{n}") for n in range(1, max(hanging) + 1)]
    edges += [
        (f"{side}m{middle}" if middle else f"{side}t", f"{side}{leaf}")
        for leaf, middle in enumerate(hanging, 1)
    ]
    for above, below in edges:
        leaf = below[1:].isdigit()
        body.tables.append(f"{view if views and leaf else structure} {below}")
        body.conditions += [
            f"{below}.var1 = {variables[above]}",
            f"{below}.var2 = {variables[below]}",
        ]
        if below != f"{side}1":
            body.conditions.append(f"{below}.docid = {side}1.docid")
        if above in body.nodes:
            body.conditions.append(f"{below}.node1 = {body.nodes[above]}")
        body.nodes.setdefault(above, f"{below}.node1")
        body.nodes[below] = f"{below}.node2"
        if leaf and views:
            body.strings[below] = f"{below}.strval"
        elif leaf:
            copy = f"d{below}"
            body.tables.append(f"{values} {copy}")
            body.conditions += [f"{copy}.docid = {below}.docid", f"{copy}.node = {below}.node2"]
            body.strings[below] = f"{copy}.strval"
