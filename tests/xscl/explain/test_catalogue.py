"""Many queries: their catalogue, and which share a template; their SQL."""

from __future__ import annotations

import sqlglot

from tests.xscl.explain.subscribed import dissected
from xscl import Engine
from xscl.dissection.parts import Dissection
from xscl.explain import as_sql, as_text, catalogue_text, explain_file
from xscl.join_stage import to_sql


def many(count: int) -> list[Dissection]:
    return dissected(
        ";".join(f"S//a->x[b = {n}] JOIN {{x = y, {n} s}} T//b->y" for n in range(count))
    )


def test_up_to_20_queries_are_reported_one_by_one() -> None:
    reported = explain_file(many(20))
    assert reported.count("conjunctive query\n") == 20
    assert catalogue_text(many(20)) in reported


def test_more_are_a_catalogue() -> None:
    reported = explain_file(many(21))
    assert "conjunctive query" not in reported
    assert reported.startswith(catalogue_text(many(21)))
    assert "21 queries; `xscl explain … --query NAME` shows one of them" in reported
    assert "q1, q2, q3 and 18 more" in reported


def test_sharing_is_reported_of_others_only() -> None:
    queries = many(8)
    assert "shared with" not in as_text(queries[0])
    assert "shared with" not in as_text(queries[0], queries[:1])
    assert "shared with q2\n" in as_text(queries[0], queries[:2])
    assert "shared with q1, q2, q3, q4, q5 and 2 more\n" in as_text(queries[7], queries)
    other = dissected("-- name: other\nS//a->x JOIN {x = y AND x = z} T//b->y[c->z]")
    assert "shared with" not in as_text(other[0], [*queries, *other])


def test_templates_are_counted_by_queries() -> None:
    text = "; ".join(
        (
            "S//a->x JOIN {x = y} S//b->y JOIN {y = z} S//c->z",
            "S//a->x JOIN {x = y OR x < y} S//b->y PUBLISH P",
            "P//p",
        )
    )
    templates, streams, plan = catalogue_text(dissected(text)).split("\n\n")
    assert plan.splitlines()[1:] == ["  s_⋈: 4 operators → 2 m-ops, channels of up to 3 streams"]
    rows = [line.split("  ") for line in templates.splitlines()[1:]]
    assert [[cell.strip() for cell in row if cell][1:] for row in rows] == [
        ["1 | 2: 1 = 2", "1", "2", "q1 and q2"],
        ["1 | 2: 1 < 2", "0", "1", "q2"],
    ]
    assert streams.splitlines()[1:] == [
        "S       —             q1 and q2",
        "P       q2            q3",
    ]


def test_without_joins_there_are_no_templates() -> None:
    assert catalogue_text(dissected("S//a; T//b")).startswith("templates: none")


def test_sql_says_once_what_queries_share() -> None:
    queries = dissected(
        "-- name: one\nS//a->x JOIN {x = y} S//b->y JOIN {y = z} S//c->z;\n"
        "-- name: two\nS//d->x JOIN {x = y} S//e->y;\n-- name: three\nS//a"
    )
    template = queries[1].disjuncts[0].operators[0].plan.template.id
    reported = as_sql(queries)
    comments = [line for line in reported.splitlines() if line.startswith("--")]
    assert sorted(comments) == [
        f"-- one, stage 1: template {template}",
        f"-- one, stage 2: template {template}",
        "-- three, stage 1: no join",
        f"-- two, stage 1: template {template}",
    ]
    plans = {
        stage.plan.id: stage.plan
        for query in queries
        for part in query.disjuncts
        for stage in part.operators
    }
    evaluated = {to_sql(plan.query(plan.outputs, plan.valued)) for plan in plans.values()}
    bare = "\n".join(line for line in reported.splitlines() if not line.startswith("--"))
    assert {said(one) for one in bare.split(";") if one.strip()} == set(map(said, evaluated))


def said(sql: str) -> str:
    """A statement, however it is laid out."""
    return sqlglot.parse_one(sql, read="duckdb").sql("duckdb", identify=True)


def test_a_query_that_never_holds_has_no_sql() -> None:
    assert as_sql(dissected("S//a->x JOIN {'a' = 'b'} S//b->y")) == ""


def test_an_engine_explains_all_of_its_queries() -> None:
    with Engine() as engine:
        engine.load(
            "S//a->x JOIN {x = y} S//b->y; EVENT SEQ(A a, B b); EVENT SEQ(A a, B b) -- twice"
        )
        reported = engine.explain()
        alone = [engine.explain(name) for name in ("q1", "q2", "q3")]
    assert all(one.splitlines()[1] in reported for one in alone)
    (row,) = (line for line in reported.splitlines() if "a → b" in line and "q2 and q3" in line)
    assert row.split()[-5:] == ["—", "2", "q2", "and", "q3"]


def test_an_engine_shows_the_plan_that_it_has() -> None:
    text = "-- name: one\nS1 NEXT{$2.a = $1.a} T;\n-- name: two\nS2 NEXT{$2.a = $1.a} T"
    with Engine() as engine:
        engine.load(text)
        assert "plan of all queries" not in engine.explain()
    with Engine(sharable=[{"S1", "S2"}]) as engine:
        engine.load(text)
        reported = engine.explain().partition("plan of all queries")[2]
    assert "S1 | S2" in reported
    assert "c_;: 2 operators → evaluated as 1" in reported
    with Engine(sharable=[{"S1", "S2"}], without={"c_;"}) as engine:
        engine.load(text)
        reported = engine.explain().partition("plan of all queries")[2]
    assert "s_;: 2 operators → 1 m-op" in reported
    assert "c_;" not in reported


def test_of_very_many_similar_queries_some_represent_all() -> None:
    """Templates and streams are of all; a query that no other represents is there, too."""
    with Engine() as engine:
        engine.subscribe_many(
            "SELECT x FROM FILTER{x > :least}(S) NEXT{DUR <= 1 h} S",
            [{"name": f"e{least}", "least": least} for least in range(300)],
        )
        engine.subscribe_many(
            "S//a->b[. = :it] JOIN {b = c} T//c->c",
            [{"name": f"j{it}", "it": str(it)} for it in range(300)],
        )
        engine.subscribe("FILTER{x > 2}(S)", name="alone")
        reported, one = engine.explain(), engine.explain("e299")
    assert "e0, e1, e2 and 297 more" in reported
    assert "j0, j1, j2 and 297 more" in reported
    assert "e0, e1, e2 and 598 more" in reported
    assert "alone\n" in reported
    assert "plan of 133 of 601 queries" in reported
    assert "x > 299" in one
    assert "one channel with e0, e1, e2, e3, e4 and 294 more, alike" in one
