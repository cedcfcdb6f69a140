"""The technical benchmark of the thesis' section 6.6.1: two documents, and random queries that
join their leaves.

A schema has two levels (the leaves are children of the root, as in a feed item) or three (the root
and the nodes below it have four children each).  The two documents of a pair conform to it; the
leaves of each have different values, and leaf i of the first equals leaf i of the second.  A query
joins `k` leaves of one document with `k` of a later one, `k` drawn from a Zipfian distribution
(table 6.5: 1000 queries, 6 leaves, exponent 0.8).  In a three-level schema the nodes above the
leaves are bound, too.  Everything is the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Any

__all__ = [
    "LeafJoin",
    "Schema",
    "document_pair",
    "document_pairs",
    "query_text",
    "random_joins",
    "three_level",
    "two_level",
]

QUERIES = 1000
LEAVES = 6
ZIPF = 0.8
BRANCHING = 4

Path = tuple[str, ...]
Envelopes = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Schema:
    """The name of the root, and the path from it to each leaf, in document order."""

    root: str
    leaves: tuple[Path, ...]

    def __post_init__(self) -> None:
        if not self.leaves or any(len(path) not in (1, 2) for path in self.leaves):
            raise ValueError("a leaf is one or two levels below the root")

    def document(self, values: Sequence[str]) -> str:
        """A document that conforms to the schema, with the values of its leaves.

        >>> two_level(2).document(["a", "b"])
        '<doc><leaf1>a</leaf1><leaf2>b</leaf2></doc>'
        """
        parts = []
        places = zip(self.leaves, values, strict=True)
        for above, leaves in groupby(places, key=lambda place: place[0][:-1]):
            text = "".join(f"<{path[-1]}>{value}</{path[-1]}>" for path, value in leaves)
            parts.append(f"<{above[0]}>{text}</{above[0]}>" if above else text)
        return f"<{self.root}>{''.join(parts)}</{self.root}>"


def two_level(leaves: int = LEAVES) -> Schema:
    """A root with so many leaves."""
    return Schema("doc", tuple((f"leaf{number}",) for number in range(1, leaves + 1)))


def three_level(branching: int = BRANCHING) -> Schema:
    """A root with so many children, each with so many leaves.

    >>> len(three_level().leaves)
    16
    """
    return Schema(
        "doc",
        tuple(
            (f"part{part}", f"leaf{(part - 1) * branching + leaf}")
            for part in range(1, branching + 1)
            for leaf in range(1, branching + 1)
        ),
    )


@dataclass(frozen=True, slots=True)
class LeafJoin:
    """A query: leaves of a document (indices into the schema's), each equal to one of a later one.

    `window` is in seconds, None for no window.
    """

    name: str
    pairs: tuple[tuple[int, int], ...]
    window: int | None = None


def random_joins(
    schema: Schema,
    count: int = QUERIES,
    *,
    most: int | None = None,
    zipf: float = ZIPF,
    window: int | None = None,
    seed: int = 1,
) -> list[LeafJoin]:
    """Queries of 1 to `most` value joins (by default one for each leaf of a two-level schema, and
    4 over three levels, the thesis' K).  `k` value joins have a probability proportional to
    `k ** -zipf`; their leaves are drawn without replacement on either side (figure 6.17).

    >>> random_joins(two_level(), 1)
    [LeafJoin(name='q1', pairs=((0, 2),), window=None)]
    """
    random = Random(seed)
    leaves = range(len(schema.leaves))
    if most is None:
        most = BRANCHING if len(schema.leaves[0]) > 1 else len(leaves)
    sizes = range(1, most + 1)
    weights = [size**-zipf for size in sizes]
    joins = []
    for number in range(1, count + 1):
        (size,) = random.choices(sizes, weights)
        pairs = zip(random.sample(leaves, size), random.sample(leaves, size), strict=True)
        joins.append(LeafJoin(f"q{number}", tuple(pairs), window))
    return joins


def query_text(schema: Schema, joins: Iterable[LeafJoin]) -> str:
    """The text of a query file.

    >>> print(query_text(two_level(), [LeafJoin("q1", ((0, 2), (1, 1)), 60)]))
    -- name: q1
    S//doc->a[./leaf1->a1][./leaf2->a2]
    FOLLOWED BY {a1=b1 AND a2=b2, 60 s}
    S//doc->b[./leaf3->b1][./leaf2->b2];
    <BLANKLINE>
    """
    return "\n".join(_query(schema, join) for join in joins)


def document_pairs(schema: Schema, count: int, *, seed: int = 2) -> Iterator[Envelopes]:
    """Pairs of documents, numbered from 0: the first is the thesis' own.

    In the others the values of the second document are shuffled, differently for each pair, so that
    no two pairs join the same leaves (as long as there are other orders).  Queries draw all leaves
    with the same probability, so each pair is as hard as the first.
    """
    random = Random(seed)
    order = list(range(len(schema.leaves)))
    seen = set()
    for number in range(count):
        for _ in range(100):
            if tuple(order) not in seen:
                break
            random.shuffle(order)
        seen.add(tuple(order))
        yield document_pair(schema, number, order)


def document_pair(schema: Schema, number: int, order: Sequence[int] | None = None) -> Envelopes:
    """Two documents of stream `S`, as envelopes in order of time; leaf i of the second equals leaf
    `order[i]` of the first, by default leaf i.  Values of one number occur in no other pair.

    >>> first, second = document_pair(two_level(2), 5)
    >>> first["xml"] == second["xml"], second["timestamp"]
    (True, 11)
    """
    values = [f"value {number}.{leaf}" for leaf in range(len(schema.leaves))]
    moved = values if order is None else [values[leaf] for leaf in order]
    return [
        {
            "stream": "S",
            "id": f"d{number}.{side}",
            "timestamp": 2 * number + side,
            "xml": schema.document(texts),
        }
        for side, texts in enumerate([values, moved])
    ]


def _query(schema: Schema, join: LeafJoin) -> str:
    equalities = " AND ".join(f"a{n}=b{n}" for n in range(1, len(join.pairs) + 1))
    window = "" if join.window is None else f", {join.window} s"
    left, right = (
        _block(schema, [pair[side] for pair in join.pairs], "ab"[side]) for side in (0, 1)
    )
    return f"-- name: {join.name}\n{left}\nFOLLOWED BY {{{equalities}{window}}}\n{right};\n"


def _block(schema: Schema, leaves: Sequence[int], name: str) -> str:
    """A block that binds leaves to `name`1, `name`2, …, and the nodes above them, if they are not
    the root, to `name`_1, `name`_2, …"""
    below: dict[Path, list[str]] = {}
    for number, leaf in enumerate(leaves, 1):
        path = schema.leaves[leaf]
        below.setdefault(path[:-1], []).append(f"[./{path[-1]}->{name}{number}]")
    filters = ""
    for number, (above, bound) in enumerate(below.items(), 1):
        text = "".join(bound)
        filters += f"[./{above[0]}->{name}_{number}{text}]" if above else text
    return f"S//{schema.root}->{name}{filters}"
