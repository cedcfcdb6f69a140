"""The adversarial stream: hardly two pairs of documents are alike."""

from __future__ import annotations

import time

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.views import materialise_all
from benchmarks.engine import found, loaded
from benchmarks.measure import batches, rate, within
from benchmarks.report import Cell, Report, Table, number
from benchmarks.scale import Scale
from datasets import random_joins, shared_values, three_level

QUERIES = 1_000
DOCUMENTS = 2_000
BATCH = 100
WINDOW = 500
"""Seconds, which is documents."""


def run(scale: Scale) -> Report:
    schema = three_level()
    joins = random_joins(schema, QUERIES, window=WINDOW)
    documents = list(shared_values(min(DOCUMENTS, scale.items)))
    with loaded(schema, joins) as engine:
        went = rate(batches(documents, BATCH), lambda part: found(engine, part), 4 * scale.limit)
    rows: list[tuple[Cell, ...]] = [("XSCL", went.documents, number(went.per_second), went.matches)]
    for way, views in (("MMQJP", False), ("MMQJP with views", True)):
        relations = Relations(schema)
        queries = MMQJP(relations, joins, views=views)
        relations.load(documents[:BATCH])
        relations.merge()

        def join(
            views: bool = views, relations: Relations = relations, queries: MMQJP = queries
        ) -> int:
            if views:
                materialise_all(relations)
            return queries.evaluate().total()

        started = time.perf_counter()
        matches = within(4 * scale.limit, relations.database, join)
        spent = time.perf_counter() - started
        if matches is None:
            rows.append((way, BATCH, f"< {number(BATCH / spent)}", None))
        else:
            rows.append((way, BATCH, number(BATCH / spent), matches))
            if matches != went.found[0]:
                raise AssertionError(f"{way} finds {matches} matches, XSCL {went.found[0]}")
    return Report(
        "adversarial",
        "Adversarial: values shared across all leaves",
        f"Three-level documents whose 16 leaves share 100 values, {QUERIES:,} queries with windows "
        f"of {WINDOW} documents, in batches of {BATCH}. The baselines join the first batch with "
        "itself.",
        (Table(("way", "documents", "documents/s", "matches"), tuple(rows)),),
    )
