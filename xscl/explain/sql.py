"""The conjunctive queries of queries as SQL, laid out for people
(docs/laws.md#one-conjunctive-query)."""

from __future__ import annotations

from collections.abc import Iterable

from xscl.dissection.parts import Dissection
from xscl.explain.words import plain
from xscl.join_stage import Plan

__all__ = ["as_sql"]


def as_sql(dissections: Iterable[Dissection]) -> str:
    """The SQL of all stages of some queries and their sub-queries, a statement for each
    conjunctive query, after a comment for each stage that it evaluates."""
    stages: dict[str, tuple[Plan, list[str]]] = {}
    for dissection in dissections:
        for one in dissection.everything():
            for number, disjunct in enumerate(one.disjuncts, 1):
                which = f", disjunct {number}" if len(one.disjuncts) > 1 else ""
                for place, stage in enumerate(disjunct.operators, 1):
                    joined = len(stage.sides) == 2
                    template = f"template {stage.plan.template.id}" if joined else "no join"
                    _, said = stages.setdefault(stage.plan.id, (stage.plan, []))
                    name = plain(one.query.name)
                    said.append(f"-- {name}{which}, stage {place}: {template}")
    return "\n\n".join("\n".join((*said, _statement(plan))) for plan, said in stages.values())


def _statement(plan: Plan) -> str:
    import sqlglot

    from xscl.join_stage import to_sql

    text = to_sql(plan.query(plan.outputs, plan.valued))
    laid_out = sqlglot.parse_one(text, read="duckdb")
    return f"{laid_out.sql(dialect='duckdb', identify=True, pretty=True)};"
