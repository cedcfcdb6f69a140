"""The joined nodes of a match are those that some match of the same documents and output nodes
binds to the variables of its equalities and likenesses: asked of the engine with all variables
selected."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.xscl.explain.drawing import documents
from xscl.documents.document import document_of
from xscl.language import parse
from xscl.why import conditions_of
from xscl.why.joined.nodes import JoinedNodes, joined_nodes

ONE = (
    "S//a->p[.//b->x] JOIN {x = u} S//a->q[.//b->u]",
    "S//a[b->x]//c->p JOIN {x = u} S//*->q[./*->u]",
    "S//*->p[@k->x] JOIN {x = u} S//b->q[.//c->u]",
    "S//a->p JOIN {p//c = q} S//c->q",
    "S//*[b->x][c->y]/*->p JOIN {x = u OR y = u} S//b->u",
    "S//a->p[.//b->x] JOIN {similar(x, u) >= 0.5} S//*->q[.//b->u]",
)
SEVERAL = (
    "S//a->p[.//b->x][.//c->y] JOIN {x = u AND y = v} S//a->q[.//b->u][.//c->v]",
    "S//a->p[b->x[@k->y]] JOIN {x = u AND y = v} S//*->q[b->u][c->v]",
    "S//b->x JOIN {x = y} S//b->y JOIN {y = z} S//c->z",
    "S//a->p[.//b->x] JOIN {similar(x, u, 'trigrams') >= 0.3 AND x = u} S//a->q[.//b->u]",
)


def marked(text: str, match: xscl.Match, bodies: list[str]) -> list[JoinedNodes]:
    (query,), errors = parse(text)
    assert not errors
    given = [document_of({"xml": bodies[int(id)], "id": id}, 0, 0) for id in match.documents]
    return joined_nodes(conditions_of(query), given, match.nodes, match.bindings)


SURE = ["<a k='1'><b k='1'><c>1</c></b><c>1</c></a>"] * 3
"""They match by each of the texts."""


@pytest.mark.parametrize("text", [*ONE, *SEVERAL])
@drawn(10)
@example(bodies=SURE)
@given(bodies=st.lists(documents, min_size=2, max_size=4))
def test_joined_nodes(text: str, bodies: list[str]) -> None:
    (query,), _ = parse(text)
    conditions = conditions_of(query)
    variables = [item.variable for p in conditions.patterns for item in p.items if item.variable]
    envelopes = [{"xml": body, "id": str(n)} for n, body in enumerate(bodies)]
    with xscl.Engine() as engine:
        engine.subscribe(text, name="plain")
        engine.subscribe(f"SELECT {', '.join(variables)} FROM {text}", name="all")
        matches = engine.publish_many(envelopes)
    of_all = [match for match in matches if match.query == "all"]
    assert of_all or bodies != SURE
    for match in (one for one in matches if one.query == "plain"):
        same = [m for m in of_all if (m.documents, m.nodes) == (match.documents, match.nodes)]
        assert same
        found = marked(text, match, bodies)
        assert found
        for one, equality in zip(found, conditions.disjuncts[0], strict=True):
            assert one.values
            if " OR " in text or "//c =" in text:
                continue
            for side in equality.operands:
                assert side.block is not None
                expected = {other.bindings[side.variable] for other in same}
                numbers = {number for number, _ in one.nodes[side.block]}
                assert numbers == expected if text in ONE else numbers >= expected


def test_paths_functions_attributes_and_texts() -> None:
    text = "S//a->p JOIN {lower-case(p/b) = u AND p/@k = v} S//c->u[@l->v]"
    bodies = ["<a k='1'><b>X</b><b>Y</b></a>", "<r><c l='2'>y</c><c l='1'>x</c></r>"]
    with xscl.Engine() as engine:
        engine.subscribe(text)
        envelopes = [{"xml": body, "id": str(n)} for n, body in enumerate(bodies)]
        (match,) = engine.publish_many(envelopes)
    first, second = marked(text, match, bodies)
    assert first.text == "lower-case(p/b) = u"
    assert (first.values, first.nodes) == (("x",), ({(1, None)}, {(2, None)}))
    assert (second.values, second.nodes) == (("1",), ({(0, "k")}, {(2, "l")}))


def test_of_alike_texts_what_each_shares() -> None:
    """Each node with the tokens that it shares with any that it is like; on the left as written."""
    text = "S//a->p JOIN {similar(p/b, lower-case(u)) >= 0.5 AND p/k = v} S//c->u[@l->v]"
    bodies = [
        "<a><k>1</k><b>One  two three</b><b>four FIVE</b><b>six</b></a>",
        "<r><c l='1'>three one four five</c><c l='2'>six</c></r>",
    ]
    with xscl.Engine() as engine:
        engine.subscribe(text)
        envelopes = [{"xml": body, "id": str(n)} for n, body in enumerate(bodies)]
        (match,) = engine.publish_many(envelopes)
    alike, equal = marked(text, match, bodies)
    assert (alike.measure, equal.measure) == ("words", None)
    assert alike.shared == (
        {(3, None): {"four", "five"}},
        {(1, None): {"four", "five"}},
    )
    assert alike.values == ("four FIVE",)
    assert alike.nodes == ({(3, None)}, {(1, None)})


def test_nothing_of_what_could_be_alike_in_too_many_ways() -> None:
    text = "S//a->p JOIN {similar(p/b, q/b) >= 0.5} S//a->q"
    bodies = [f"<a>{''.join(f'<b>w{n} x</b>' for n in range(400))}</a>"] * 2
    with xscl.Engine() as engine:
        engine.subscribe(text)
        envelopes = [{"xml": body, "id": str(n)} for n, body in enumerate(bodies)]
        match, *_ = engine.publish_many(envelopes)
    with pytest.raises(xscl.XSCLError, match="pairs of values"):
        marked(text, match, bodies)


def test_nothing_of_large_documents() -> None:
    text = "S//a->p JOIN {p = q} S//a->q"
    bodies = [f"<a>{'x' * 200_000}</a>"] * 2
    with xscl.Engine() as engine:
        engine.subscribe(text)
        envelopes = [{"xml": body, "id": str(n)} for n, body in enumerate(bodies)]
        match, _ = engine.publish_many(envelopes)
    assert marked(text, match, bodies) == []
