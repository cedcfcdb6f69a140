"""View materialisation (section 6.6.2): R_vj, R_L and R_R for a batch of current documents.

What the conjunctive queries of all templates have in common is computed once: which nodes have
equal string values (R_vj), and the structural edges that end at them, on the left (R_L) and on the
right (R_R).
"""

from __future__ import annotations

from benchmarks.baselines.relations import Relations

STEPS = {
    "r_vj": """
        SELECT l.docid AS docid1, l.node AS n1, r.docid AS docid2, r.node AS n2, l.strval
        FROM doc l JOIN docw r ON l.strval = r.strval
    """,
    "r_l": """
        SELECT b.*, v.strval
        FROM (SELECT DISTINCT docid1, n1, strval FROM r_vj) v
        JOIN bin b ON b.docid = v.docid1 AND b.node2 = v.n1
    """,
    "r_r": """
        SELECT b.*, v.strval
        FROM (SELECT DISTINCT docid2, n2, strval FROM r_vj) v
        JOIN binw b ON b.docid = v.docid2 AND b.node2 = v.n2
    """,
}
"""The relations in the order in which they are computed."""


def materialise(relations: Relations, name: str) -> None:
    """Computes one of them again from the witness relations."""
    relations.database.execute(f"CREATE OR REPLACE TABLE {name} AS {STEPS[name]}")


def materialise_all(relations: Relations) -> None:
    """Computes all of them."""
    for name in STEPS:
        materialise(relations, name)
