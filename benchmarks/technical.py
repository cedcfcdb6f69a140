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
from collections.abc import Callable, Sequence
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

__all__ = ["COLUMNS", "WAYS", "Pair", "measure", "planning", "sequential"]

WAYS = (
    "Sequential",
    "Sequential, deduplicated",
    "Sequential, SQLite",
    "MMQJP",
    "MMQJP with views",
    "XSCL, cold",
    "XSCL, warm",
)
PLANNED = ("Sequential", "MMQJP", "MMQJP with views")
"""The ways whose SQL DuckDB plans."""
COLUMNS = (
    "templates",
    "templates, mirrored = 1",
    "matches",
    *(f"planning, {way}, %" for way in PLANNED),
)
"""What is measured beside the times."""

SAMPLE = 20
"""Sequential's queries are evaluated so many at a time, until the limit is reached."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of documents: the seconds of each of the ways (None: longer than the limit).

    `sampled` are the ways whose time is that of a sample of the queries, scaled up; `planning` is
    the share of the time that DuckDB takes to plan the SQL of a way.
    """

    templates: int
    up_to_mirroring: int
    matches: int
    seconds: dict[str, float | None]
    sampled: tuple[str, ...]
    planning: dict[str, float]

    def time(self, way: str) -> str:
        """The time of a way as text; `~` marks what was sampled."""
        taken = time_text(self.seconds[way]) or "> limit"
        return f"~ {taken}" if way in self.sampled else taken

    def cells(self) -> tuple[Cell, ...]:
        """A row's cells, in the order of COLUMNS."""
        shares = (
            round(100 * self.planning[way]) if way in self.planning else None for way in PLANNED
        )
        return self.templates, self.up_to_mirroring, self.matches, *shares

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
        names = queries.names(done)
        agree(way, results, {name: expected[name] for name in names & expected.keys()})
        if done < len(queries):
            sampled.append(way)
    some = seconds(partial(plain.evaluate, relations.database, 0, SAMPLE))
    planned = {WAYS[0]: planning(partial(plain.plan, relations.database, SAMPLE), some)}
    for way, views in zip(WAYS[3:5], (False, True), strict=True):
        mmqjp = MMQJP(relations, joins, views=views)
        templates = len(mmqjp)
        done_by = _mmqjp(relations, mmqjp, scale, views)
        taken[way] = done_by and done_by[0]
        if done_by is not None:
            agree(way, done_by[1], expected)
            planned[way] = planning(mmqjp.plan, done_by[0])
    taken[WAYS[5]], taken[WAYS[6]], matches, engine_templates = _engine(schema, joins, scale)
    if matches != expected.total():
        raise AssertionError(f"{matches} matches in groups, and {expected.total()} of the queries")
    if engine_templates != templates:
        raise AssertionError(f"{templates} templates, and {engine_templates} of the engine")
    mirrored = up_to_mirroring(template_of(schema, join)[0] for join in joins)
    return Pair(templates, mirrored, matches, taken, tuple(sampled), planned)


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


def planning(plan: Callable[[], object], taken: float) -> float:
    """The share of planning in the time of some SQL queries."""
    return min(1, seconds(plan) / taken)


def _mmqjp(
    relations: Relations, queries: MMQJP, scale: Scale, views: bool
) -> tuple[float, Counter[str]] | None:
    def run() -> Counter[str]:
        if views:
            materialise_all(relations)
        return queries.evaluate()

    results = within(scale.patience, relations.database, run)
    if results is None:
        return None
    return best(run, scale.rounds, scale.limit), results


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
