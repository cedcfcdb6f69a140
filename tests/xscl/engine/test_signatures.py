"""Signatures: pairs of documents that differ in structure on one side are not treated as equal."""

from __future__ import annotations

from itertools import permutations

import pytest

import xscl

FLAT = "<a><x>{0}</x><y>{1}</y></a>"
TOGETHER = "<r><m><p>{0}</p><q>{1}</q></m></r>"
APART = "<r><m><p>{0}</p></m><m><q>{1}</q></m></r>"
"""The equal leaves of either have the same paths; only together do they have one `m` above."""

FLAT_LEFT = "S/a[./x->x][./y->y] {0} {{x = p AND y = q}} S/r/m->m[./p->p][./q->q]"
FLAT_RIGHT = "S/r/m->m[./p->p][./q->q] {0} {{p = x AND q = y}} S/a[./x->x][./y->y]"
BOTH = "S/r/m->m[./p->p][./q->q] {0} {{p = s AND q = t}} S/r/m->n[./p->s][./q->t]"


def matches(query: str, *documents: str) -> list[tuple[str, ...]]:
    """The documents of each match, published one by one; by strings of their own, no two pairs of
    them are equal except in structure."""
    with xscl.Engine() as engine:
        engine.subscribe(query)
        return sorted(
            match.documents
            for time, xml in enumerate(documents)
            for match in engine.publish("S", xml, id=str(time), timestamp=time)
        )


@pytest.mark.parametrize("operator", ["FOLLOWED BY", "JOIN"])
@pytest.mark.parametrize(
    "order", [*permutations((TOGETHER, APART))], ids=["good first", "bad first"]
)
def test_the_nodes_above_a_right_side_s_leaves_distinguish_pairs(
    order: tuple[str, ...], operator: str
) -> None:
    some = [FLAT.format(1, 2), *(xml.format(1, 2) for xml in order)]
    good = str(1 + order.index(TOGETHER))
    assert matches(FLAT_LEFT.format(operator), *some) == [("0", good)]


@pytest.mark.parametrize("operator", ["FOLLOWED BY", "JOIN"])
@pytest.mark.parametrize(
    "order", [*permutations((TOGETHER, APART))], ids=["good first", "bad first"]
)
def test_the_nodes_above_a_left_side_s_leaves_distinguish_pairs(
    order: tuple[str, ...], operator: str
) -> None:
    some = [xml.format(1, 2) for xml in order]
    good = str(order.index(TOGETHER))
    assert matches(FLAT_RIGHT.format(operator), *some, FLAT.format(1, 2)) == [(good, "2")]


@pytest.mark.parametrize("order", sorted({*permutations((TOGETHER, APART, TOGETHER, APART))}))
def test_the_nodes_above_both_sides_leaves_distinguish_pairs(order: tuple[str, ...]) -> None:
    some = [xml.format(1, 2) for xml in order]
    good = [str(i) for i, xml in enumerate(order) if xml is TOGETHER]
    assert matches(BOTH.format("FOLLOWED BY"), *some) == [tuple(good)]
    assert matches(BOTH.format("JOIN"), *some) == sorted(permutations(good))
