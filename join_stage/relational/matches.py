"""The matches of a plan's queries as SQL: CQ_T, then Algorithm 3 over its rows.

A row of R_T may have many queries, each with its own operator and window.  CQ_T finds the pairs
that some row joins.  The queries of that row then decide whether the pair is in time, whether both
sides came since they were subscribed, and, where a side is a composite, that no document is on both
sides.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from xscl.join_stage.plan import Plan

__all__ = ["found_sql", "matches_sql"]


@lru_cache(maxsize=100_000)
def found_sql(plan: Plan, nodes: tuple[int, ...], valued: tuple[int, ...], rows: str) -> str:
    """CQ_T as SQL, its rows in the relation of this name."""
    # Imported only here: small batches need no SQL, and its writer takes long to import.
    from xscl.join_stage.sql import to_sql

    query = plan.query(nodes, valued)
    return to_sql(replace(query, rows=replace(query.rows, relation=rows)))


def matches_sql(plan: Plan, found: str, queries: str = "query") -> str:
    """The FROM clause of the matches of a plan's queries.

    `found` is CQ_T as SQL; `queries` the relation of the queries to evaluate.  An ordinary document
    begins and ends at its time, dt is end(right) - end(left).
    """
    source = f"FROM ({found}) JOIN {queries} USING (r)"
    if plan.sides == 1:
        return f"{source} WHERE dl >= since"
    since = []
    for side, composite in zip("lr", plan.composite, strict=True):
        if composite:
            source += f" JOIN composite c{side} ON c{side}.doc = d{side}"
        since.append(f"{f'c{side}.first' if composite else f'd{side}'} >= since")
    left, right = plan.composite
    gap = "dt - (cr.ts - cr.start)" if right else "dt"
    conditions = [*since, f"{gap} > lo", "abs(dt) <= wl"]
    if left and right:
        conditions.append("NOT list_has_any(cl.parts, cr.parts)")
    elif left:
        conditions.append("NOT list_contains(cl.parts, dr)")
    elif right:
        conditions.append("NOT list_contains(cr.parts, dl)")
    return f"{source} WHERE {' AND '.join(conditions)}"
