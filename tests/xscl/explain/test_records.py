"""The members of `explain --format json`, and that what they say is true."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

import xscl
from tests.xscl.explain.drawing import documents, joins_of_one_pattern, queries
from tests.xscl.explain.subscribed import dissected
from xscl.explain import as_json, as_mermaid, as_svg, as_text
from xscl.templates import RULES, Edge, JoinGraph, Node, template_of


def record(text: str) -> dict[str, Any]:
    """The members of the last query of a text, as a program reads them."""
    members: dict[str, Any] = json.loads(json.dumps(as_json(dissected(text)[-1])))
    return members


@pytest.mark.parametrize(
    ("text", "templates", "value_joins", "variables"),
    [
        ("S//a->x[b->y]", None, 0, ["x", "y"]),
        ("S//a->x JOIN {x = y} S//b->y", 1, 1, ["x", "y"]),
        ("S//a->x JOIN {x < y} S//b->y", 1, 0, ["x", "y"]),
        ("S//a->x JOIN {x = y OR x = 'a'} S//b->y", 2, 1, ["x", "y"]),
        ("S//a->x JOIN {x = y AND 'a' = 'b'} S//b->y", 0, 0, ["x", "y"]),
        ("S//a->x JOIN {x = y} S//b->y JOIN {y = z} S//c->z", 2, 2, ["x", "y", "z"]),
        ("(SELECT x FROM S//a->x JOIN {x = y} S//b->y)//a->z", None, 0, ["z"]),
    ],
)
def test_members(text: str, templates: int | None, value_joins: int, variables: list[str]) -> None:
    members = record(text)
    assert members["name"] == "q1"
    assert members["value_joins"] == value_joins
    assert members["variables"] == variables
    if templates is None or templates == 1:
        assert isinstance(members["template"], str | None)
        assert (members["template"] is None) == (templates is None)
    else:
        assert len(members["template"]) == templates


def test_isomorphic_minors_have_one_template() -> None:
    one = record("S//a->x[b->y] FOLLOWED BY {x = z AND y = w, 1 h} S//c->z[d->w]")
    other = record("R//p[.//q->i[r->j]] JOIN {k = j AND i = l} T//m->l[@k->k]")
    third = record("S//a[x->x][y->y] JOIN {x = z AND y = w} S//c[z->z][w->w]")
    assert (
        one["template"] == record("S//a->x[.//b->y] JOIN {x=z AND y=w} T/c->z[.//d->w]")["template"]
    )
    assert one["template"] == other["template"]
    assert one["template"] != third["template"]


def test_streams_windows_and_sub_queries() -> None:
    members = record(
        "-- name: q\n(SELECT x FROM S//a->x PUBLISH P)//b->y"
        " JOIN {y = z, 1.5 h} (T//c->z FOLLOWED BY {INF} T//d) PUBLISH R"
    )
    assert members["streams"] == ["T"]
    assert members["publishes"] == "R"
    (inner,) = members["subqueries"]
    assert (inner["name"], inner["streams"], inner["publishes"]) == ("q(1)", ["S"], "P")
    (part,) = members["disjuncts"]
    assert [(b["stream"], b["subquery"]) for b in part["blocks"]] == [
        (None, "q(1)"),
        ("T", None),
        ("T", None),
    ]
    first, second = part["stages"]
    assert (first["operator"], first["window"]) == ("FOLLOWED BY", None)
    assert [(side["blocks"], side["kept"]) for side in first["sides"]] == [([2], None), ([3], 0)]
    assert (second["operator"], second["window"]) == ("JOIN", 5400)
    assert [(side["stage"], side["blocks"]) for side in second["sides"]] == [
        (None, [1]),
        (1, [2, 3]),
    ]


@settings(deadline=None)
@given(queries())
def test_what_the_reduction_rules_remove_is_what_they_remove(text: str) -> None:
    """Of the join graph in the members, built again; of a composite it has what is compared."""
    for part in record(text)["disjuncts"]:
        for stage in part["stages"]:
            graph = join_graph(part, stage)
            for rule, removed in zip(RULES, stage["removed"].values(), strict=True):
                before = {node.number for node in graph.nodes}
                graph = rule(graph)
                assert before - {node.number for node in graph.nodes} == set(removed)
            assert [node.number for node in graph.nodes] == stage["minor"]
            assert template_of(graph)[0].id == stage["template"]


def join_graph(part: dict[str, Any], stage: dict[str, Any]) -> JoinGraph:
    compared = {number for edge in stage["edges"] for number in edge["nodes"]}
    nodes = []
    for index, side in enumerate(stage["sides"]):
        for block in part["blocks"]:
            if block["block"] in side["blocks"]:
                for node in block["pattern"]:
                    if side["stage"] is None:
                        nodes.append(Node(node["node"], index, node["parent"]))
                    elif node["node"] in compared:
                        nodes.append(Node(node["node"], index, None))
    edges = tuple(Edge(edge["operator"], *edge["nodes"]) for edge in stage["edges"])
    return JoinGraph(tuple(sorted(nodes)), edges)


@settings(deadline=None)
@given(joins_of_one_pattern(), documents, documents)
def test_what_is_found_in_both_orders_is(text: str, one: str, other: str) -> None:
    if not any("both orders" in note for note in record(text)["notes"]):
        return
    with xscl.Engine() as engine:
        engine.subscribe(text)
        envelopes = [{"id": "1", "xml": one}, {"id": "2", "xml": other}]
        found = {match.documents for match in engine.publish_many(envelopes)}
    assert found == {pair[::-1] for pair in found}


@pytest.mark.parametrize(
    "comparisons",
    ["x = u", "y = v", "x = u AND y != v", "y < x AND v < u", "x = v AND u = y"],
)
def test_joins_that_find_both_orders(comparisons: str) -> None:
    notes = record(f"S//a->x[b->y] JOIN {{{comparisons}, 1 h}} S//a->u[b->v]")["notes"]
    assert any("both orders" in note for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        "S//a->x JOIN {x = y AND x < y, 1 h} S//a->y",
        "S//a->x[b->y] JOIN {x = v, 1 h} S//a->u[b->v]",
        "S//a->x JOIN {x = y AND x = '1', 1 h} S//a->y",
        "S//a->x[b] JOIN {x = y, 1 h} S//a->y",
        "S//a->x JOIN {x = y, 1 h} T//a->y",
        "S//a->x FOLLOWED BY {x = y, 1 h} S//a->y",
        "S//a->x[b->p][b->q[c]] JOIN {p = s, 1 h} S//a->y[b->r][b->s[c]]",
    ],
)
def test_joins_that_may_not(text: str) -> None:
    assert not any("both orders" in note for note in record(text)["notes"])


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("A//x", "<x/>"),
        ("A//x->x JOIN {x = y, 5 s} B//y->y", "<x>1</x>"),
        ("A//x->x FOLLOWED BY {x = y, 5 s} B//y->y", "<x>1</x>"),
        ("B//y->y FOLLOWED BY {x = y, 5 s} A//x->x", "<x>1</x>"),
        ("A//x->x FOLLOWED BY {x = y, 5 s} B//y->y JOIN {y = z, 1 min} C//z->z", "<x>1</x>"),
        ("B//y->y JOIN {x = y, 5 s} (A//x->x FOLLOWED BY {x = z, 20 s} C//z->z)", "<x>1</x>"),
    ],
)
def test_documents_are_kept_as_long_as_is_said(text: str, document: str) -> None:
    """By the stage that joins them, in whole seconds."""
    (part,) = record(text)["disjuncts"]
    (number,) = (block["block"] for block in part["blocks"] if block["stream"] == "A")
    kept = next(
        (
            side["kept"]
            for stage in part["stages"]
            for side in stage["sides"]
            if side["blocks"] == [number]
        ),
        0,
    )
    for late, retained in ((0, True), (1, False)):
        with xscl.Engine(lateness=0) as engine:
            engine.subscribe(text)
            engine.publish("A", document, timestamp=0)
            engine.publish("elsewhere", "<e/>", timestamp=kept + late)
            streams: Any = engine.stats(exact=True)["streams"]
            assert ("A" in streams) == retained


EVENTS = """
SELECT pid, AVG(load) AS load FROM WINDOW{60 s}(CPU) GROUP BY pid PUBLISH SMOOTHED;
SELECT pid FROM FILTER{load > 90}(SMOOTHED FOLD{$2.pid = $.pid, $2.load > $.load} SMOOTHED);
SELECT pid FROM FILTER{load > 80}(SMOOTHED FOLD{$2.pid = $.pid, $2.load > $.load} SMOOTHED);
"""


def test_equal_parts_of_event_queries_have_one_id() -> None:
    parts = dissected(EVENTS)
    every = [json.loads(json.dumps(as_json(part, parts))) for part in parts]
    assert [one["kind"] for one in every] == ["cel"] * 3
    assert every[0]["schema"] == {"open": False, "names": ["pid", "load"]}
    assert every[1]["channel"] == every[2]["channel"] == ["q2", "q3"]
    assert every[1]["template"] == every[2]["template"] != every[0]["template"]
    one, other = every[1]["plan"], every[2]["plan"]
    while (one["id"], one["form"]) != (other["id"], other["form"]):
        assert one["form"] == other["form"]
        assert one["queries"] != other["queries"]
        (one, *_), (other, *_) = one["inputs"], other["inputs"]
    assert one["operator"].startswith("µ")
    assert one["queries"] == ["q2", "q3"]
    assert every[1]["states"][0]["forward"][0]["condition"] == "load > 90"
    assert "A: AI on pid" in every[1]["indexes"]


def test_a_query_is_explained_as_it_was_subscribed() -> None:
    """What it reads is known by what published there then, whether that is still there or not."""
    with xscl.Engine() as engine:
        engine.subscribe("SELECT a AS top, b FROM FILTER{a > 1}(S) PUBLISH p", name="gives")
        engine.subscribe(
            "SELECT x FROM (SELECT top AS a FROM p NEXT{top = $2.b} S)//a->x JOIN {x = y} S//y->y",
            name="joins",
        )
        reads = engine.subscribe("SELECT top FROM p NEXT{top > 3 AND $2.c = 1} S", name="reads")
        rows: list[dict[str, object]] = [{"least": at} for at in range(3)]
        engine.subscribe_many("SELECT top FROM p NEXT{top > :least AND $2.c = 1} S", rows)
        before = [engine.explain(one.name) for one in engine.subscriptions]
        engine.subscribe("FILTER{a > 1}(T) PUBLISH p", name="opens")
        shown = [as_json(engine.subscriptions[2].dissection)["plan"]]
        engine.subscriptions[0].cancel()
        names = [one.name for one in engine.subscriptions if one.name != "opens"]
        for text, name in zip(before[1:], names, strict=True):
            assert engine.explain(name) == text
        assert shown == [as_json(reads.dissection)["plan"]]


def test_a_query_is_compiled_once() -> None:
    """What is explained is what runs."""
    with xscl.Engine() as engine:
        pattern = engine.subscribe("EVENT SEQ(A a, B b) WITHIN 1 h")
        events = engine.subscribe("A NEXT{$2.a = $1.a} B")
        assert pattern.dissection.compiled is pattern.wiring.pattern
        assert events.wiring.events is not None
        assert events.dissection.compiled is events.wiring.events.compiled


def test_the_indexes_are_those_of_the_operators() -> None:
    """An order is bisected only where no equality is, and computed values are looked up, too."""
    members = record(
        "FILTER{a = 1 AND b > 2}(S) NEXT{$2.c = $1.d + $1.b AND DUR <= 1 h} FILTER{e > 3}(T)"
    )
    assert members["indexes"] == [
        "predicate index of S on a (=)",
        "A: AN on e (>)",
        "A: AI on c",
    ]


NESTED = """
SELECT P.small, Q.amount AS large
FROM ((SELECT {"small": A.amount} FROM (t A; t B) WHERE FILTER(A.acc = B.acc))/* P; t Q)
WHERE FILTER(P.small < Q.amount)
"""
"""An EQL query with another one in it."""


@pytest.mark.parametrize(
    ("text", "streams"),
    [
        (NESTED, ["t"]),
        ("(SELECT x FROM S//a->x JOIN {x = y} S//b->y)//a->z", []),
        ("FILTER{a > 1}((SELECT attr1 AS a FROM S))", ["S"]),
    ],
)
def test_streams_of_sub_queries_are_nobodys(text: str, streams: list[str]) -> None:
    """Nothing says the name of the stream between a query and its sub-query, which none can ask
    for; the sub-query has its members in the other's."""
    (query,) = dissected(text)
    members = as_json(query)
    for said in (json.dumps(members), as_text(query), as_mermaid([query]), as_svg([query])):
        assert "\0" not in said
        assert "u0000" not in said
    if query.subqueries:
        assert [one["name"] for one in members["subqueries"]] == [
            inner.query.name for _, inner in query.subqueries
        ]
    assert members["streams"] == streams
