"""Query templates: join graphs up to isomorphism, by canonical labelling (docs/laws.md#templates).

A template is a minor without its labels (section 6.4.1).  BLISS, through igraph, labels a graph
such that isomorphic graphs come out equal; the template's id is a hash of the result.  A query's
*assignment* maps the template's nodes, the meta-variables var1, var2, … of R_T, to the nodes of the
query's graph.  Among all isomorphisms it is the one that keeps closest to the order of the query's
nodes, so that equal queries have equal rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from operator import itemgetter
from typing import Any

from xscl.templates.join_graph import Edge, JoinGraph, Node

__all__ = ["Template", "template_of"]

Form = tuple[tuple[str, ...], tuple[tuple[int, int], ...]]


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


_templates: dict[Form, Template] = {}


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
    form, order = _canonical_form(shape, ())
    template = _templates.get(form)
    if template is None:
        template_id = hashlib.sha256(repr(form).encode()).hexdigest()[:12]
        graph = _renumbered(shape, _meta_variables(shape, order))
        template = _templates[form] = Template(template_id, graph)
    return template, _first_isomorphism(template.graph, shape)


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


def _first_isomorphism(template: JoinGraph, graph: JoinGraph) -> tuple[int, ...]:
    """The isomorphism from template to graph that is smallest, read as a sequence of nodes.

    A partial isomorphism extends to a whole one exactly if the graphs stay isomorphic with its
    nodes singled out.  So it grows node by node and never backtracks.
    """
    chosen: list[int] = []
    for index in range(len(template.nodes)):
        wanted, _ = _canonical_form(template, tuple(range(index + 1)))
        chosen.append(
            next(
                node.number
                for node in graph.nodes
                if node.number not in chosen
                and _canonical_form(graph, (*chosen, node.number))[0] == wanted
            )
        )
    return tuple(chosen)


@lru_cache(maxsize=100_000)
def _canonical_form(graph: JoinGraph, singled_out: Sequence[int]) -> tuple[Form, tuple[int, ...]]:
    """A value that is equal for isomorphic graphs only, and for all of them; and the graph's nodes
    (which must be 0, 1, …) in canonical order.

    Tree edges join nodes; the depth, part of the colour, shows which one is the parent.  A value
    join is an edge between the sides.  Every other comparison is a path over two nodes of its own,
    coloured by the operator and the direction.
    """
    depths = {node.number: len(graph.chain(node.number)) for node in graph.nodes}
    colours = [
        f"{node.side} {depths[node.number]} "
        f"{_role(graph, node.number)} "
        f"{singled_out.index(node.number) if node.number in singled_out else ''}"
        for node in graph.nodes
    ]
    edges = [(node.parent, node.number) for node in graph.nodes if node.parent is not None]
    value_joins = frozenset(graph.value_joins)
    for edge in graph.edges:
        if edge in value_joins:
            edges.append((edge.left, edge.right))
        else:
            source = len(colours)
            # Both ends of a symmetric comparison have the same colour.
            roles = ("of", "of") if edge.symmetric else ("from", "to")
            colours += [f"{edge.operator} {end}" for end in roles]
            edges += [(edge.left, source), (source, source + 1), (source + 1, edge.right)]
    palette = sorted(set(colours))
    core = _igraph()
    drawn = core.GraphBase(len(colours), edges)
    core.VertexSeq(drawn).set_attribute_values("vertex", range(len(colours)))
    # The meaning of a permutation has changed between versions of igraph; applied by igraph itself
    # it always means the same.
    canonical = drawn.permute_vertices(
        drawn.canonical_permutation(color=[palette.index(colour) for colour in colours])
    )
    order = core.VertexSeq(canonical).get_attribute_values("vertex")
    ends = sorted((min(edge), max(edge)) for edge in canonical.get_edgelist())
    form = tuple(colours[vertex] for vertex in order), tuple(ends)
    return form, tuple(vertex for vertex in order if vertex < len(graph.nodes))


@cache
def _igraph() -> Any:
    """Only the compiled core of igraph: where matplotlib is installed, the package imports all of
    it, which takes a second."""
    package = find_spec("igraph")
    assert package is not None
    core = PathFinder.find_spec("igraph._igraph", package.submodule_search_locations)
    assert core is not None
    assert core.loader is not None
    module = module_from_spec(core)
    core.loader.exec_module(module)
    return module


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
