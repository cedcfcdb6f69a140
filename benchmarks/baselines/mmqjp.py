"""MMQJP (Algorithm 1): one conjunctive query for each template, over all of its queries.

With `views`, they read R_L and R_R in place of the four witness relations (section 6.6.2); who
calls `evaluate` sees to it that these are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmarks.baselines.conjunctive_query import FOREVER, of_template
from benchmarks.baselines.relations import Relations, Rows, insert
from benchmarks.baselines.shapes import Shape, template_of
from datasets import LeafJoin


class MMQJP:
    """The relations R_T of the queries, in the database of the witnesses."""

    def __init__(self, relations: Relations, joins: Sequence[LeafJoin], *, views: bool) -> None:
        self._execute = relations.database.execute
        self._names = [join.name for join in joins]
        rows: dict[Shape, Rows] = {}
        for number, join in enumerate(joins):
            shape, row = template_of(relations.schema, join)
            window = FOREVER if join.window is None else join.window
            rows.setdefault(shape, []).append((number, window, *row))
        self._statements = []
        for number, (shape, tuples) in enumerate(rows.items()):
            table = f"{'views' if views else 'base'}_{number}"
            columns = ["qid", "wl", *shape.names()]
            fields = ", ".join(f"{column} BIGINT" for column in columns)
            self._execute(f"CREATE TABLE {table} ({fields})")
            insert(relations.database, table, columns, tuples)
            self._statements.append(of_template(shape, table, views=views))

    def __len__(self) -> int:
        """How many templates there are."""
        return len(self._statements)

    def evaluate(self) -> Counter[str]:
        """The results of each query that has any (lines 2 and 3 of Algorithm 1)."""
        counts: Counter[str] = Counter()
        for statement in self._statements:
            for number, results in self._execute(statement).fetchall():
                counts[self._names[number]] += results
        return counts

    def plan(self) -> None:
        """Plans the conjunctive queries, and evaluates none."""
        for statement in self._statements:
            self._execute(f"EXPLAIN {statement}").fetchall()
