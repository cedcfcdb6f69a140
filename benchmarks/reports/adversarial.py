"""The adversarial stream: hardly two pairs of documents resemble each other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.views import materialise_all
from benchmarks.engine import ALL_PAIRS, found, loaded
from benchmarks.measure import Envelopes, Rate, batches, check, of, rate, within
from benchmarks.report import Cell, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import LeafJoin, random_joins, shared_values, three_level

QUERIES = 1_000
DOCUMENTS = 2_000
BATCH = 100
WINDOW = 500
"""Seconds, which is documents."""
LONGER = 4
"""The engine may take so many times the limit."""


def run(scale: Scale) -> Report:
    schema = three_level()
    joins = random_joins(schema, min(QUERIES, scale.many), window=WINDOW)
    documents = list(shared_values(min(DOCUMENTS, scale.items)))
    as_it_is = by_engine(joins, documents, scale, {})
    all_pairs = by_engine(joins, documents, scale, ALL_PAIRS)
    check(as_it_is, all_pairs)
    rows: list[tuple[Cell, ...]] = [
        engine_row("XSCL", as_it_is, len(documents)),
        engine_row("XSCL, all pairs", all_pairs, len(documents)),
    ]
    ratio = as_it_is.relative_speed(all_pairs)
    statement = Statement(
        "goal, adversarial",
        "no worse than 0.7 of evaluating all pairs",
        ratio >= 0.7,
        f"{number(ratio)} of the documents/s",
    )
    for way, views in (("MMQJP", False), ("MMQJP with views", True)):
        rows.append(first_batch(way, joins, documents, scale, views, as_it_is.found[0]))
    return Report(
        "adversarial",
        "Adversarial: values shared across all leaves",
        f"Three-level documents whose 16 leaves share 100 values, {len(joins):,} queries with "
        f"windows of {WINDOW} documents, in batches of {BATCH}, none of which begins after "
        f"{LONGER * scale.limit:g} s. "
        "The baselines join the first batch with itself.",
        (Table(("way", "documents", "documents/s", "matches"), tuple(rows)),),
        (),
        (statement,),
    )


def by_engine(
    joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale, options: dict[str, Any]
) -> Rate:
    with loaded(three_level(), joins, **options) as engine:
        return rate(batches(documents, BATCH), partial(found, engine), LONGER * scale.limit)


def engine_row(way: str, went: Rate, total: int) -> tuple[Cell, ...]:
    return way, of(went.documents, total), number(went.per_second), went.matches


def first_batch(
    way: str,
    joins: Sequence[LeafJoin],
    documents: Envelopes,
    scale: Scale,
    views: bool,
    expected: int,
) -> tuple[Cell, ...]:
    """The row of a baseline, given the matches that it should find."""
    relations = Relations(three_level())
    queries = MMQJP(relations, joins, views=views)
    relations.load(documents[:BATCH])
    relations.merge()

    def join() -> int:
        if views:
            materialise_all(relations)
        return queries.evaluate().total()

    started = time.process_time()
    matches = within(scale.patience, relations.database, join)
    speed = number(BATCH / (time.process_time() - started))
    if matches is None:
        return way, BATCH, f"< {speed}", None
    if matches != expected:
        raise AssertionError(f"{way} finds {matches} matches, XSCL {expected}")
    return way, BATCH, speed, matches
