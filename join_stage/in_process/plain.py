"""The plain way: the conjunctive queries over all pairs of a document, without signatures
(docs/laws.md#signatures).

It is for a document whose pairs rarely resemble others, or have too much in common for a signature.
The relation `pair` then contains the common leaves of all of them, and the other document is one
more variable of the queries, which all atoms share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xscl.join_stage.compiler import programs_of
from xscl.join_stage.evaluator import Binding, Relation, Relations
from xscl.join_stage.in_process.edges import Edges
from xscl.join_stage.in_process.signatures import Hit, LeafPosition
from xscl.join_stage.registry import Registry

__all__ = ["Equal", "hits_of_all"]

Equal = tuple[Sequence[int], LeafPosition, LeafPosition]
"""Documents that have an equal leaf with the new one, and the leaves' positions: left, right."""


def hits_of_all(
    registry: Registry, edges: Edges, equals: Iterable[Equal]
) -> Iterator[tuple[int, tuple[Hit, ...]]]:
    """The hits of a document and each of the others, by the cores of all plans."""
    pairs = Relation()
    for others, left, right in equals:
        edge = edges.between(left.path, right.path)
        assert edge is not None
        for join, depths, opposite in edge.joins:
            nodes = (
                *(left.chain[depth] for depth in depths),
                *(right.chain[depth] for depth in opposite),
                left,
            )
            pairs.setdefault(join, []).extend((other, *nodes) for other in others)
    relations = Relations(pair=pairs)
    hits: dict[int, list[Hit]] = {}
    for program in programs_of(registry, pairs):
        for at, bindings in program.begin(registry.rows_of(program.plan), relations):
            by_other: dict[int, list[Binding]] = {}
            for other, *values in bindings:
                assert isinstance(other, int)
                by_other.setdefault(other, []).append(tuple(values))
            for other, some in by_other.items():
                hits.setdefault(other, []).append(Hit(program, at, tuple(some)))
    for other, found in hits.items():
        yield other, tuple(found)
