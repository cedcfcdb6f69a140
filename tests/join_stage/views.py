"""The thesis' relations, for tests, as views over ours: R_T, R_doc, R_bin, R_docW, R_binW, R_outT.

Table 6.4 shows them for the running example.  Ours hold rows of paths and of spines, shared by
all queries (docs/laws.md#path-rows); these views spell them out by variable.  R_doc and
R_bin are of the whole state, R_docW, R_binW and R_outT of the current batch.
Composites are no documents of the thesis': R_doc, R_bin and their kin leave them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa

from xscl import Engine
from xscl.join_stage.constraints import FOREVER
from xscl.join_stage.plan import Chain, Plan
from xscl.join_stage.processor import JoinProcessor
from xscl.templates import template_of

__all__ = ["Relation", "Views", "views_of"]


@dataclass(frozen=True, slots=True)
class Relation:
    """Column names and rows, in order."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


def views_of(engine: Engine) -> Views:
    """The relations of an engine; for queries that are the same up to constants there is one
    row."""
    names: dict[int, list[str]] = {}
    for subscription in engine.subscriptions:
        for number in subscription.numbers:
            names.setdefault(number, []).append(subscription.name)
    return Views(engine._join, {number: ", ".join(some) for number, some in names.items()})


class Views:
    """Views over the relations of a join processor.

    `queries` gives the queries' names by their numbers.
    """

    def __init__(self, processor: JoinProcessor, queries: dict[int, str]) -> None:
        self._processor = processor
        self._connection = processor.connection
        processor.prepare()
        names = {"variable": processor.registry.variables, "query_name": queries}
        for relation, name_of in names.items():
            table = pa.table(
                {
                    "number": pa.array(name_of, pa.int64()),
                    "name": pa.array(name_of.values(), pa.string()),
                }
            )
            self._connection.register("incoming", table)
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {relation} AS FROM incoming")
            self._connection.unregister("incoming")

    @property
    def templates(self) -> list[str]:
        """The ids of the templates that queries have."""
        plans = self._processor.registry.plans.values()
        return list(dict.fromkeys(plan.template.id for plan in plans))

    def r_t(self, template: str) -> Relation:
        """R_T of a template: qid, var1, var2, …, wl (seconds, None without end)."""
        parts, width = [], 0
        for plan, nodes in self._plans(template):
            width = len(nodes)
            names = ", ".join(f"x{i}.name" for i in range(width))
            joins = " ".join(
                f"JOIN variable x{i} ON x{i}.number = t.v{node}" for i, node in enumerate(nodes)
            )
            parts.append(
                f"SELECT n.name, {names}, {_WINDOW} "
                f"FROM query q JOIN query_name n ON n.number = q.q "
                f'JOIN "rows_{plan.id}" t USING (r) {joins}'
            )
        columns = ("qid", *(f"var{i + 1}" for i in range(width)), "wl")
        return self._relation(columns, parts)

    def r_out(self, template: str) -> Relation:
        """R_outT of a template: qid, docid1, node1, node2, …, wl, for the current batch.

        Of a composite, docid1 is the ids of its documents, in order, with `+` between them.
        """
        found: set[tuple[object, ...]] = set()
        width = 0
        completed = {plan.id for plan in self._processor.relational.plans()}
        for plan, nodes in self._plans(template):
            width = len(nodes)
            if plan.sides == 1 or plan.id not in completed:
                continue
            names = ", ".join(f"n{node} & 4294967295" for node in nodes)
            matches = self._processor.relational.matches(plan, nodes)
            found.update(
                self._connection.execute(
                    f"SELECT query_name.name, id, {names}, seconds FROM "
                    f"(SELECT *, {_WINDOW} AS seconds {matches}) "
                    f"JOIN query_name ON number = q JOIN ({_IDS}) i ON i.doc = dl"
                ).fetchall()
            )
        columns = ("qid", "docid1", *(f"node{i + 1}" for i in range(width)), "wl")
        # What has no value comes last, as in the other relations.
        rows = sorted(found, key=lambda row: [(value is None, value) for value in row])
        return Relation(columns, rows)

    def r_doc(self) -> Relation:
        """R_doc: docid, node, strVal (None where the node's string joins nothing)."""
        return self._relation(("docid", "node", "strVal"), self._nodes("bound"))

    def r_doc_w(self) -> Relation:
        """R_docW: as R_doc, of the current batch."""
        return self._relation(("docid", "node", "strVal"), self._nodes("bound_w"))

    def r_bin(self) -> Relation:
        """R_bin: docid, var1, var2, node1, node2, for each edge of a minor."""
        columns = ("docid", "var1", "var2", "node1", "node2")
        return self._relation(columns, list(self._edges("bound")))

    def r_bin_w(self) -> Relation:
        """R_binW: as R_bin, of the current batch."""
        columns = ("docid", "var1", "var2", "node1", "node2")
        return self._relation(columns, list(self._edges("bound_w")))

    def _plans(self, template: str) -> Iterator[tuple[Plan, tuple[int, ...]]]:
        """The plans of a template, with the nodes that are its meta-variables."""
        for plan in self._processor.registry.plans.values():
            if plan.template.id == template:
                yield plan, template_of(plan.minor)[1]

    def _chains(self) -> Iterator[tuple[Chain, list[int], str]]:
        """Each chain of each plan, the positions of its nodes in the minor, and a query for its
        spines, with the variables of its nodes as v{node}."""
        for plan in self._processor.registry.plans.values():
            minor = {node.number for node in plan.minor.nodes}
            sources = [
                (
                    chain,
                    f'SELECT v.{side}s AS spine, t.* FROM "rows_{plan.id}" t '
                    f"JOIN value_join v ON v.j = t.j{i}",
                )
                for i, pair in enumerate(plan.joins)
                for chain, side in zip(pair, "lr", strict=True)
            ]
            sources += [
                (chain, f'SELECT t.s{i} AS spine, t.* FROM "rows_{plan.id}" t')
                for i, chain in enumerate(plan.singles)
            ]
            for chain, source in sources:
                positions = [i for i, node in enumerate(chain.nodes) if node in minor]
                if positions and not plan.composite[chain.side]:
                    yield chain, positions, source

    def _edges(self, bound: str) -> Iterator[str]:
        for chain, positions, source in self._chains():
            for above, below in pairwise(positions):
                a, b = chain.nodes[above], chain.nodes[below]
                yield (
                    f"SELECT DISTINCT d.id, x.name, y.name, w.n{above} & 4294967295, "
                    f"w.n{below} & 4294967295 FROM {bound} w JOIN document d USING (doc) "
                    f"JOIN ({source}) s USING (spine) JOIN variable x ON x.number = s.v{a} "
                    f"JOIN variable y ON y.number = s.v{b}"
                )

    def _nodes(self, bound: str) -> list[str]:
        bindings = []
        for chain, positions, source in self._chains():
            for position in positions:
                leaf = position == len(chain.nodes) - 1
                string = "w.s" if leaf and chain.value else "NULL::BIGINT"
                bindings.append(
                    f"SELECT w.doc, w.n{position} AS node, {string} AS s FROM {bound} w "
                    f"JOIN ({source}) USING (spine)"
                )
        if not bindings:
            return []
        return [
            "SELECT d.id, node & 4294967295, max(value) "
            f"FROM ({' UNION ALL '.join(bindings)}) JOIN document d USING (doc) "
            "LEFT JOIN strings t ON t.id = s GROUP BY d.id, node"
        ]

    def _relation(self, columns: tuple[str, ...], parts: list[str]) -> Relation:
        if not parts:
            return Relation(columns, [])
        rows = self._connection.execute(" UNION ".join(parts) + " ORDER BY ALL").fetchall()
        return Relation(columns, rows)


_WINDOW = f"CASE WHEN wl < {FOREVER} THEN wl / 1e6 END"

_IDS = """
SELECT doc, id FROM document
UNION ALL
SELECT c.doc, string_agg(d.id, '+' ORDER BY list_position(c.parts, d.doc))
FROM (SELECT doc, parts, unnest(parts) AS part FROM composite) c JOIN document d ON d.doc = c.part
GROUP BY c.doc
"""
