"""Sequential (section 6.6.1): each XSCL query is evaluated by an SQL query of its own.

Deduplicated, queries that join the same leaves within the same window are evaluated once for all of
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from benchmarks.baselines.conjunctive_query import FOREVER, of_query
from benchmarks.baselines.shapes import template_of
from datasets import LeafJoin, Schema


class Database(Protocol):
    """DuckDB or SQLite."""

    def execute(self, statement: str, /) -> Any: ...


class Sequential:
    """The queries as SQL, each distinct one with the names of those that are like it."""

    def __init__(self, schema: Schema, joins: Sequence[LeafJoin], *, deduplicated: bool) -> None:
        names: dict[object, list[str]] = {}
        first: dict[object, LeafJoin] = {}
        for join in joins:
            like = (frozenset(join.pairs), join.window) if deduplicated else join.name
            names.setdefault(like, []).append(join.name)
            first.setdefault(like, join)
        self._names = list(names.values())
        self._statements = [_statement(schema, join) for join in first.values()]

    def __len__(self) -> int:
        """How many SQL queries there are."""
        return len(self._statements)

    def names(self, count: int) -> set[str]:
        """The names of the XSCL queries that correspond to the first `count` SQL queries."""
        return {name for names in self._names[:count] for name in names}

    def evaluate(
        self, database: Database, first: int = 0, count: int | None = None
    ) -> Counter[str]:
        """The results of each query over the relations in a database; or of `count` of the SQL
        queries from the `first` on: they are drawn at random, so these are a sample of all."""
        some = slice(first, None if count is None else first + count)
        counts: Counter[str] = Counter()
        for names, statement in zip(self._names[some], self._statements[some], strict=True):
            ((results,),) = database.execute(statement).fetchall()
            if results:
                counts.update(dict.fromkeys(names, results))
        return counts

    def plan(self, database: Database, count: int) -> None:
        """Plans the first `count` SQL queries, and evaluates none."""
        for statement in self._statements[:count]:
            database.execute(f"EXPLAIN {statement}").fetchall()


def _statement(schema: Schema, join: LeafJoin) -> str:
    shape, row = template_of(schema, join)
    return of_query(shape, row, FOREVER if join.window is None else join.window)
