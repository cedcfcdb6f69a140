"""Query templates: join graphs up to isomorphism, by canonical labelling (docs/laws.md#templates).

A template is a minor without its labels (section 6.4.1).  `labelling` orders the nodes such that
isomorphic graphs come out equal; the template's id is a hash of the result.  A query's
*assignment* maps the template's nodes, the meta-variables var1, var2, … of R_T, to the nodes of the
query's graph.  Among all isomorphisms it is the one that keeps closest to the order of the query's
nodes, so that equal queries have equal rows.

Leaves that any symmetry exchanges, *twins*, need no search: where there are many, one of them
stands for all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from xscl.templates.join_graph import Edge, JoinGraph, Node
from xscl.templates.labelling import Arc, Form, Symmetry, canonical_order, form_of, symmetries

__all__ = ["Template", "template_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A class of isomorphic join graphs; there is one object for each class.  `graph` has nodes 0,
    1, …; meta-variable i+1 is node i."""

    id: str
    graph: JoinGraph


def template_of(graph: JoinGraph, order: Sequence[int] = ()) -> tuple[Template, tuple[int, ...]]:
    """The template of a graph, and the assignment of the template's nodes to the graph's.  `order`
    is an alternative order of the graph's nodes; parents must precede their children in it, too.

    >>> pair = (Node(7, 0, None), Node(9, 1, None))
    >>> template, assignment = template_of(JoinGraph(pair, (Edge("=", 7, 9),)))
    >>> template.graph.nodes, assignment
    ((Node(number=0, side=0, parent=None), Node(number=1, side=1, parent=None)), (7, 9))
    """
    numbers = order or [node.number for node in graph.nodes]
    index: dict[int | None, int] = {number: i for i, number in enumerate(numbers)}
    nodes = [(index[node.number], node.side, index.get(node.parent)) for node in graph.nodes]
    edges = [(edge.operator, index[edge.left], index[edge.right]) for edge in graph.edges]
    template, order = _template_of_shape(
        tuple(sorted(nodes, key=itemgetter(0))),
        tuple(sorted(edges)),
        frozenset([index[number] for number in graph.kept]),
        frozenset([index[number] for number in graph.valued]),
    )
    return template, tuple([numbers[index] for index in order])


_FEW = 8
"""So many twins are each a vertex of their own."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A template, its nodes in canonical order, its symmetries but those of twins
    (`labelling.symmetries`), and these, each time in order."""

    template: Template
    order: tuple[int, ...]
    symmetries: Mapping[int, Mapping[int, Symmetry]]
    twins: Sequence[Sequence[int]]


_known: dict[Form, _Known] = {}


@lru_cache(maxsize=100_000)
def _template_of_shape(
    nodes: Sequence[tuple[int, int, int | None]],
    edges: Sequence[tuple[str, int, int]],
    kept: frozenset[int],
    valued: frozenset[int],
) -> tuple[Template, tuple[int, ...]]:
    """As `template_of`, for the parts of a graph whose nodes are 0, 1, …; cached, so that queries
    of one shape compute it once."""
    shape = JoinGraph(
        tuple([Node(*node) for node in nodes]), tuple([Edge(*edge) for edge in edges]), kept, valued
    )
    colours, arcs = _drawn(shape)
    drawing = _Drawing(shape)
    order = drawing.expanded(canonical_order(drawing.colours, drawing.arcs))
    form = form_of(colours, arcs, order)
    known = _known.get(form)
    if known is None:
        known = _known[form] = _new_template(shape, form, order)
    return known.template, _first_isomorphism(known, order)


def _new_template(shape: JoinGraph, form: Form, order: Sequence[int]) -> _Known:
    numbers = _meta_variables(shape, order)
    graph = _renumbered(shape, numbers)
    index = {number: i for i, number in enumerate(numbers)}
    drawing = _Drawing(graph)
    of_representatives = symmetries(drawing.colours, drawing.arcs)
    return _Known(
        Template(hashlib.sha256(repr(form).encode()).hexdigest()[:12], graph),
        tuple([index[number] for number in order]),
        {
            drawing.vertices[node][0]: {
                drawing.vertices[image][0]: drawing.moved(symmetry)
                for image, symmetry in others.items()
            }
            for node, others in of_representatives.items()
        },
        [some for some in drawing.vertices if len(some) > 1],
    )


class _Drawing:
    """The colours and arcs of a graph in which one of many twins stands for all: `vertices` has the
    nodes of each vertex, in order."""

    def __init__(self, graph: JoinGraph) -> None:
        joined = {node for edge in graph.edges for node in (edge.left, edge.right)}
        joined |= {node.parent for node in graph.nodes if node.parent is not None}
        twins: dict[tuple[int, int | None, str], list[int]] = {}
        for node in graph.nodes:
            if node.number not in joined:
                alike = node.side, node.parent, _role(graph, node.number)
                twins.setdefault(alike, []).append(node.number)
        of_first = {some[0]: some for some in twins.values() if len(some) > _FEW}
        others = {one for some in of_first.values() for one in some[1:]}
        left = [node.number for node in graph.nodes if node.number not in others]
        self.vertices = [of_first.get(number, [number]) for number in left]
        colours, arcs = _drawn(graph)
        vertex = {number: place for place, number in enumerate(left)}
        self.colours = [
            colours[some[0]] if len(some) == 1 else f"{colours[some[0]]} {len(some)}"
            for some in self.vertices
        ]
        self.arcs = [
            (vertex[one], label, vertex[other])
            for one, label, other in arcs
            if one in vertex and other in vertex
        ]

    def expanded(self, order: Sequence[int]) -> tuple[int, ...]:
        """An order of vertices as one of nodes."""
        return tuple([node for vertex in order for node in self.vertices[vertex]])

    def moved(self, symmetry: Symmetry) -> Symmetry:
        """A symmetry of the vertices as one of nodes."""
        nodes = self.vertices
        return {
            one: other
            for vertex, image in symmetry.items()
            for one, other in zip(nodes[vertex], nodes[image], strict=True)
        }


def _meta_variables(graph: JoinGraph, order: Sequence[int]) -> list[int]:
    """The nodes in the order of var1, var2, …: left to right, from the roots down, the right ones
    after their partners on the left; equivalent nodes in canonical order."""
    numbers: dict[int, int] = {}

    def key(node: Node) -> tuple[int, list[int], int]:
        partners = sorted(numbers[e.left] for e in graph.value_joins if e.right == node.number)
        return len(graph.chain(node.number)), partners, order.index(node.number)

    for side in (0, 1):
        for node in sorted((node for node in graph.nodes if node.side == side), key=key):
            numbers[node.number] = len(numbers)
    return list(numbers)


def _first_isomorphism(known: _Known, order: Sequence[int]) -> tuple[int, ...]:
    """The isomorphism from a template to a graph in canonical order that is smallest, read as a
    sequence of nodes: any other one differs from it by a symmetry of the template.

    Node by node the template is turned such that the smallest node possible is the image, by
    symmetries that keep the nodes before in place.
    """
    images = dict(zip(known.order, order, strict=True))
    chosen = [images[node] for node in range(len(order))]
    for some in known.twins:
        for node, image in zip(some, sorted([chosen[one] for one in some]), strict=True):
            chosen[node] = image
    for node, others in known.symmetries.items():
        nearest = min(others, key=chosen.__getitem__)
        if chosen[nearest] < chosen[node]:
            before = chosen.copy()
            for one, image in others[nearest].items():
                chosen[one] = before[image]
    return tuple(chosen)


def _drawn(graph: JoinGraph) -> tuple[list[str], list[Arc]]:
    """The colours and arcs of a graph whose nodes are 0, 1, …; an edge is read from both ends."""
    colours = [f"{node.side} {_role(graph, node.number)}" for node in graph.nodes]
    arcs: list[Arc] = []
    for node in graph.nodes:
        if node.parent is not None:
            arcs += [(node.parent, "child", node.number), (node.number, "parent", node.parent)]
    for edge in graph.edges:
        back = edge.flipped()
        arcs += [(edge.left, edge.operator, edge.right), (back.left, back.operator, back.right)]
    return colours, arcs


def _role(graph: JoinGraph, number: int) -> str:
    if number in graph.valued:
        return "valued"
    return "kept" if number in graph.kept else ""


def _renumbered(graph: JoinGraph, numbers: Sequence[int]) -> JoinGraph:
    """The graph with node `numbers[i]` as i; parents must precede their children."""
    index = {number: i for i, number in enumerate(numbers)}
    nodes = (
        Node(index[n.number], n.side, None if n.parent is None else index[n.parent])
        for n in graph.nodes
    )
    return JoinGraph(
        tuple(sorted(nodes)),
        tuple(Edge(e.operator, index[e.left], index[e.right]) for e in graph.edges),
        frozenset(index[number] for number in graph.kept),
        frozenset(index[number] for number in graph.valued),
    )
