"""The value join: which leaves of two documents are equal, for which of the queries' equalities.

    ΔL ⋈ R  ∪  L ⋈ ΔR  ∪  ΔL ⋈ ΔR      (law 9; Δ is the current batch, section 6.5's R_vj)

A pair is a left and a right document within the widest window.  Where every query is FOLLOWED BY
and the batch is later than all before it, ΔL ⋈ R can hold nothing and is left out.  Equal leaves
are rows of paths; only then do the pairs of paths that occur get looked up in what they accept,
so that a row comes out for each equality (j) that some query asks about, with the marked
ancestors of both leaves: the relation `pair` that the conjunctive queries read.
"""

from __future__ import annotations

import duckdb

__all__ = ["join_values", "note_joining_paths"]

_PAIR = """
CREATE OR REPLACE TEMP TABLE pair AS
WITH
equal AS MATERIALIZED ({equal}),
met AS MATERIALIZED (SELECT DISTINCT lp, rp FROM equal),
edge AS MATERIALIZED (
    SELECT lp, rp, j, lo, wl, a.depths AS ld, b.depths AS rd
    FROM met
    JOIN accept a ON a.path = lp
    JOIN value_join v ON v.ls = a.spine
    JOIN accept b ON b.path = rp AND b.spine = v.rs
)
SELECT j, dl, dr, dt, s, {chains}
FROM equal JOIN edge USING (lp, rp)
WHERE dt > lo AND abs(dt) <= wl
"""

_EQUAL = """
SELECT l.doc AS dl, r.doc AS dr, r.ts - l.ts AS dt, l.s AS s,
       l.path AS lp, r.path AS rp, l.chain AS lc, r.chain AS rc
FROM {left} l JOIN {right} r ON l.s = r.s
WHERE l.doc <> r.doc AND r.ts - l.ts > {lo} AND abs(r.ts - l.ts) <= {wl}
  AND l.path IN (FROM left_path) AND r.path IN (FROM right_path)
"""


_JOINING_PATHS = """
CREATE OR REPLACE TEMP TABLE left_path AS
SELECT DISTINCT path FROM accept JOIN value_join ON spine = ls;
CREATE OR REPLACE TEMP TABLE right_path AS
SELECT DISTINCT path FROM accept JOIN value_join ON spine = rs;
"""


def note_joining_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Notes which paths join at all, on either side: to be called when `accept` or `value_join`
    has changed."""
    connection.execute(_JOINING_PATHS)


def join_values(
    connection: duckdb.DuckDBPyConnection,
    *,
    bounds: tuple[int, int],
    depth: int,
    first: int,
    in_order: bool,
) -> None:
    """Fills `pair` for the current batch.

    `bounds` are the widest (lo, wl) of all queries, `depth` is the longest chain; the batch's
    documents are those from number `first`; `in_order` tells that all of them are later than
    every document before.
    """
    lo, wl = bounds
    parts = [_EQUAL.format(left="node", right="node_w", lo=lo, wl=wl)]
    if not (in_order and lo >= 0):
        old = f"(SELECT * FROM node WHERE doc < {first})"
        parts.append(_EQUAL.format(left="node_w", right=old, lo=lo, wl=wl))
    chains = ", ".join(
        f"{side}c[{side}d[{i + 1}] + 1] AS {side}{i}" for side in "lr" for i in range(depth)
    )
    connection.execute(_PAIR.format(equal=" UNION ALL ".join(parts), chains=chains))
