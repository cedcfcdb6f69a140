"""Of equivalent leaves a few are kept in a document of many rows: its matches are those of all."""

from __future__ import annotations

import pytest

import xscl
from xscl.xpath_stage.equal_leaves import MANY_ROWS

SIMILAR = "<m><n><b>x</b></n></m>"
OTHERS = "<m><n><b>y</b></n></m><m><n><b>x</b></n></m>"


def matches(query: str, document: str) -> list[xscl.Match]:
    """Those of a document with another that has a value of it, and one of its others."""
    with xscl.Engine() as engine:
        engine.subscribe(query, name="q")
        engine.publish("S", document, id="s", timestamp=0)
        return engine.publish("R", "<k><v>x</v><v>y</v></k>", id="r", timestamp=1)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("S//m->m[./n/b->x] JOIN {x = y} R//v->y", 42, id="distinguished above"),
        pytest.param("S//n->n[./b->x] JOIN {x = y} R//v->y", 42, id="distinguished just above"),
        pytest.param(
            "SELECT x FROM S//b->x JOIN {x = y} R//v->y", 42, id="distinguished themselves"
        ),
        pytest.param("S//m->m[.//b->x] JOIN {lower-case(x) = y} R//v->y", 42, id="a function"),
        pytest.param("S//m->m[./n/b->x] JOIN {x <= y} R//v->y", 83, id="in an order"),
        pytest.param("S/r->r[.//b->x] JOIN {x = y} R//v->y", 2, id="equivalent"),
        pytest.param("S/r->r[.//m//b->x] JOIN {x = y} R/k->k[./v->y]", 1, id="alike on both sides"),
    ],
)
def test_leaves_below_other_nodes_are_others(query: str, found: int) -> None:
    """Forty times a value, then another and the first again, alone or after so many rows that
    equivalent ones are not kept."""
    last = f"{SIMILAR * 40}{OTHERS}"
    before = "".join(f"<m><n><b>z{number}</b></n></m>" for number in range(MANY_ROWS))
    expected = [match.nodes for match in matches(query, f"<r><f/>{last}</r>")]
    assert len(expected) == found
    moved = 3 * MANY_ROWS
    nodes = [match.nodes for match in matches(query, f"<r><f>{before}</f>{last}</r>")]
    assert [(n - moved if n > moved else n, k) for n, k in nodes] == expected
