"""The pairs of documents for a plan without an equality: all that its windows bring together.

What costs a cross product within the window, as `explain` says; only pairs of the current batch,
with documents that have nodes for the plan on either side.
"""

from __future__ import annotations

import duckdb

from join_stage.plan import Plan
from join_stage.relational.value_join import Delta

__all__ = ["bring_together"]


def bring_together(
    connection: duckdb.DuckDBPyConnection, plan: Plan, delta: Delta, rows: str, queries: str
) -> None:
    """Fills `together` (dl, dr, dt) for a plan, with the new pairs that some of its queries' time
    constraints admit; `rows` and `queries` are the relations of its rows and of the queries."""
    ((lo, wl),) = connection.execute(
        f'SELECT min(lo), max(wl) FROM {queries} JOIN "{rows}" USING (r)'
    ).fetchall()
    parts = (
        f"SELECT l.doc AS dl, r.doc AS dr, r.ts - l.ts AS dt "
        f"FROM {_documents(plan, rows, 0, left)} l, {_documents(plan, rows, 1, right)} r "
        f"WHERE l.doc <> r.doc AND r.ts - l.ts > {lo} AND abs(r.ts - l.ts) <= {wl}"
        for left, right in delta.sides("bound", lo)
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE together AS {' UNION ALL '.join(parts)}")


def _documents(plan: Plan, rows: str, side: int, bound: str) -> str:
    """The documents that have a node for some row of the plan on this side."""
    spines = " UNION ".join(
        f'SELECT s{i} FROM "{rows}"' for i, chain in enumerate(plan.singles) if chain.side == side
    )
    return f"(SELECT DISTINCT doc, ts FROM {bound} WHERE spine IN ({spines}))"
