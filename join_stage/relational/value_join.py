"""The value join: which leaves of two documents are equal, for which of the queries' equalities.

    ΔL ⋈ R  ∪  L ⋈ ΔR  ∪  ΔL ⋈ ΔR      (docs/laws.md#time; Δ: the batch, section 6.5's R_vj)

A pair is a left and a right document within the widest window.  Where every query is FOLLOWED BY
and the batch is later than all before it, ΔL ⋈ R is empty and is left out; where a batch is
reviewed for queries that have come after it, it is joined with itself only.  Equal leaves are rows
of paths.  Only after this join are the pairs of paths that occur looked up in what they accept, so
that a row comes out for each equality (j) that some query requires, with the marked ancestors of
both leaves: the relation `pair` that the conjunctive queries read.

A plan without an equality reads `together` instead: all pairs of documents within the plan's
windows, a cross product of documents that have nodes for the plan on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xscl.join_stage.plan import ALIKE, Plan
from xscl.templates import Edge

if TYPE_CHECKING:
    import duckdb

__all__ = ["Delta", "bring_together", "join_values", "note_joining_paths"]


@dataclass(frozen=True, slots=True)
class Delta:
    """Which pairs are new.

    `first` is the first document of the current batch, None for one that is reviewed; `in_order` is
    whether no document of the batch is earlier than one before it.
    """

    first: int | None
    in_order: bool

    def sides(self, relation: str, lo: int) -> list[tuple[str, str]]:
        """The left and the right sides to be joined, each pair being in one of them.

        `relation` has all documents, and with `_w` after its name those of the batch; only pairs
        with dt > `lo` are of interest.
        """
        new = f"{relation}_w"
        if self.first is None:
            return [(new, new)]
        joined = [(relation, new)]
        if not (self.in_order and lo >= 0):
            joined.append((new, f"(SELECT * FROM {relation} WHERE doc < {self.first})"))
        return joined


_PAIR = """
CREATE OR REPLACE TEMP TABLE pair AS
WITH
equal AS MATERIALIZED ({equal}),
met AS MATERIALIZED (SELECT DISTINCT lp, rp FROM equal),
edge AS MATERIALIZED (
    SELECT lp, rp, j, lo, wl, a.depths AS ld, b.depths AS rd
    FROM met
    JOIN accept a ON a.path = lp
    JOIN {of}value_join v ON v.ls = a.spine
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
  AND l.path IN (FROM {of}left_path) AND r.path IN (FROM {of}right_path)
"""


_JOINING_PATHS = """
CREATE OR REPLACE TEMP TABLE {of}left_path AS
SELECT DISTINCT path FROM accept JOIN {of}value_join ON spine = ls;
CREATE OR REPLACE TEMP TABLE {of}right_path AS
SELECT DISTINCT path FROM accept JOIN {of}value_join ON spine = rs;
"""


def note_joining_paths(connection: duckdb.DuckDBPyConnection, of: str = "") -> None:
    """Notes which paths join, on either side: to be called when `accept` or `value_join` has
    changed.  With `asked_` as `of`, for the selected queries."""
    connection.execute(_JOINING_PATHS.format(of=of))


def join_values(
    connection: duckdb.DuckDBPyConnection,
    *,
    bounds: tuple[int, int],
    depth: int,
    delta: Delta,
    of: str = "",
) -> None:
    """Fills `pair` for the current batch, by `value_join` or, with `asked_` as `of`, by
    `asked_value_join`.

    `bounds` are the widest (lo, wl) of the queries, `depth` is the longest chain.
    """
    lo, wl = bounds
    equal = " UNION ALL ".join(
        _EQUAL.format(left=left, right=right, lo=lo, wl=wl, of=of)
        for left, right in delta.sides("node", lo)
    )
    chains = ", ".join(
        f"{side}c[{side}d[{i + 1}] + 1] AS {side}{i}" for side in "lr" for i in range(depth)
    )
    connection.execute(_PAIR.format(equal=equal, chains=chains, of=of))


def bring_together(
    connection: duckdb.DuckDBPyConnection,
    plan: Plan,
    delta: Delta,
    rows: str,
    queries: str,
    leading: Edge | None = None,
) -> None:
    """Fills `together` (dl, dr, dt) for a plan, with the new pairs that some of its queries' time
    constraints admit; `rows` and `queries` are the relations of its rows and of the queries.  With
    a `leading` likeness, only pairs that have texts which are alike."""
    ((lo, wl),) = connection.execute(
        f'SELECT min(lo), max(wl) FROM {queries} JOIN "{rows}" USING (r)'
    ).fetchall()
    between, with_string = ", ", ""
    if leading is not None:
        between = f" JOIN {ALIKE}{leading.measure} ON a = l.s JOIN "
        with_string = " ON b = r.s"
    parts = (
        f"SELECT DISTINCT l.doc AS dl, r.doc AS dr, r.ts - l.ts AS dt "
        f"FROM {_documents(plan, rows, 0, left, leading)} l{between}"
        f"{_documents(plan, rows, 1, right, leading)} r{with_string} "
        f"WHERE l.doc <> r.doc AND r.ts - l.ts > {lo} AND abs(r.ts - l.ts) <= {wl}"
        for left, right in delta.sides("bound", lo)
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE together AS {' UNION ALL '.join(parts)}")


def _documents(plan: Plan, rows: str, side: int, bound: str, leading: Edge | None) -> str:
    """The documents that have a node for some row of the plan on this side; where a likeness leads,
    with the strings that it compares."""
    compared = None if leading is None else (leading.left, leading.right)[side]
    spines = " UNION ".join(
        f'SELECT s{i} FROM "{rows}"'
        for i, chain in enumerate(plan.singles)
        if chain.side == side and (compared is None or chain.nodes[-1] == compared)
    )
    columns = "doc, ts" if compared is None else "doc, ts, s"
    return f"(SELECT DISTINCT {columns} FROM {bound} WHERE spine IN ({spines}))"
