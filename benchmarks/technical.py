"""The technical benchmark (section 6.6.1): one pair of documents under some queries, in all ways.

The baselines get the witness relations and are timed for the conjunctive queries only, as the
thesis did; the engine is timed from the XML text of both documents to all matches.  Each way must
find as many matches of each query as the engine, Sequential for the queries for which the limit
leaves it time.  For the engine a pair is *cold* if no pair before it joined the same leaves, so
that no cached signature helps, and *warm* if one has.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.row_store import row_store
from benchmarks.baselines.sequential import Database, Sequential
from benchmarks.baselines.shapes import template_of, up_to_mirroring
from benchmarks.baselines.views import materialise_all
from benchmarks.engine import counted, found, loaded
from benchmarks.measure import agree, best, seconds, within
from benchmarks.report import Cell, time_text
from benchmarks.scale import Scale
from datasets import LeafJoin, Schema, document_pair, document_pairs

__all__ = ["COLUMNS", "WAYS", "Pair", "measure", "sequential"]

WAYS = (
    "Sequential",
    "Sequential, deduplicated",
    "Sequential, SQLite",
    "MMQJP",
    "MMQJP with views",
    "XSCL, cold",
    "XSCL, warm",
)
COLUMNS = ("templates", "mirror images as one", "matches", *WAYS, "planning")

SAMPLE = 20
"""Sequential's queries are evaluated so many at a time, until the limit is reached."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of documents: the seconds of each of the ways (None: longer than the limit).

    `sampled` are the ways whose time is that of a sample of the queries, scaled up; `planning` is
    the share of Sequential's time in DuckDB that passes before a query is evaluated.
    """

    templates: int
    up_to_mirroring: int
    matches: int
    seconds: dict[str, float | None]
    sampled: tuple[str, ...]
    planning: float

    def cells(self) -> tuple[Cell, ...]:
        """A row's cells, in the order of COLUMNS; `~` marks what was sampled."""
        times = (
            ("~ " if way in self.sampled else "") + (time_text(self.seconds[way]) or "> limit")
            for way in WAYS
        )
        planning = f"{100 * self.planning:.0f} %"
        return self.templates, self.up_to_mirroring, self.matches, *times, planning

    def times(self, slow: str, fast: str) -> float | None:
        """How many times as long one way takes as another."""
        numerator, denominator = self.seconds[slow], self.seconds[fast]
        return numerator / denominator if numerator and denominator else None


def measure(schema: Schema, joins: Sequence[LeafJoin], scale: Scale) -> Pair:
    """Measures all ways, and sees to it that they find the same."""
    relations = Relations(schema)
    earlier, current = document_pair(schema, 0)
    relations.load([earlier])
    relations.merge()
    relations.load([current])
    taken: dict[str, float | None] = {}
    sampled = []
    plain, distinct = (
        Sequential(schema, joins, deduplicated=deduplicated) for deduplicated in (False, True)
    )
    expected = counted(schema, joins, [earlier, current])
    for way, queries, database in (
        (WAYS[0], plain, relations.database),
        (WAYS[1], distinct, relations.database),
        (WAYS[2], plain, row_store(relations)),
    ):
        taken[way], done, results = sequential(queries, database, SAMPLE, scale.limit)
        some = queries.names(done)
        agree(way, results, {name: expected[name] for name in some & expected.keys()})
        if done < len(queries):
            sampled.append(way)
    templates = 0
    for way, views in zip(WAYS[3:5], (False, True), strict=True):
        taken[way], found_by_way, templates = _mmqjp(relations, joins, scale, views)
        if found_by_way is not None:
            agree(way, found_by_way, expected)
    taken[WAYS[5]], taken[WAYS[6]], matches, engine_templates = _engine(schema, joins, scale)
    if matches != expected.total():
        raise AssertionError(f"{matches} matches in groups, and {expected.total()} of the queries")
    if engine_templates != templates:
        raise AssertionError(f"{templates} templates, and {engine_templates} of the engine")
    mirrored = up_to_mirroring(template_of(schema, join)[0] for join in joins)
    planning = _planning(plain, relations.database)
    return Pair(templates, mirrored, matches, taken, tuple(sampled), planning)


def sequential(
    queries: Sequential, database: Database, sample: int, limit: float
) -> tuple[float, int, Counter[str]]:
    """The time of all SQL queries, how many of them were evaluated (`sample` at a time, until the
    limit is reached), and their results."""
    results: Counter[str] = Counter()
    started = time.perf_counter()
    done = 0
    while done < len(queries) and time.perf_counter() - started < limit:
        results += queries.evaluate(database, done, sample)
        done = min(done + sample, len(queries))
    return (time.perf_counter() - started) / done * len(queries), done, results


def _planning(queries: Sequential, database: Database) -> float:
    """The share of planning in the time of the first SQL queries."""
    planned = seconds(partial(queries.plan, database, SAMPLE))
    return min(1, planned / seconds(partial(queries.evaluate, database, 0, SAMPLE)))


def _mmqjp(
    relations: Relations, joins: Sequence[LeafJoin], scale: Scale, views: bool
) -> tuple[float | None, Counter[str] | None, int]:
    queries = MMQJP(relations, joins, views=views)

    def run() -> Counter[str]:
        if views:
            materialise_all(relations)
        return queries.evaluate()

    results = within(scale.patience, relations.database, run)
    if results is None:
        return None, None, len(queries)
    return best(run, scale.rounds, scale.limit), results, len(queries)


def _engine(
    schema: Schema, joins: Sequence[LeafJoin], scale: Scale
) -> tuple[float, float, int, int]:
    """The median time of a cold and of a warm pair; the matches of the thesis' own pair, and the
    templates."""
    with loaded(schema, joins) as engine:

        def publish(pair: Sequence[dict[str, Any]]) -> int:
            return sum(found(engine, [document]) for document in pair)

        own, *others = document_pairs(schema, scale.rounds + 1)
        matches = publish(own)
        cold = [seconds(partial(publish, pair)) for pair in others]
        again = [document_pair(schema, scale.rounds + n) for n in range(1, scale.rounds + 1)]
        warm = [seconds(partial(publish, pair)) for pair in again]
        templates = engine.stats(exact=True)["templates"]
        assert isinstance(templates, int)
    return median(cold), median(warm), matches, templates
