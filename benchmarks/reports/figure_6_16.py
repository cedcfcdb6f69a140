"""Figure 6.16: a stream of feed items under windows without end, the number of queries varies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from benchmarks.baselines.mmqjp import MMQJP
from benchmarks.baselines.relations import Relations
from benchmarks.baselines.sequential import Sequential
from benchmarks.baselines.view_cache import ViewCache
from benchmarks.baselines.views import materialise_all
from benchmarks.engine import found, loaded
from benchmarks.measure import Envelopes, Rate, batches, rate, seconds, within
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from benchmarks.stage_one import PatternSet, evaluate_all
from benchmarks.sweep import between
from datasets import ITEM, LeafJoin, feed_stream, random_joins

BATCH = 1_000
SLICES = 100_000
SAMPLE = 5
"""Sequential's queries are evaluated so many at a time, until the limit is reached."""
WAYS = ("Sequential", "MMQJP", "MMQJP with views", "MMQJP, view cache, one by one", "XSCL")

ITEM_PATTERNS = ["//item", *(f"//item/{path[-1]}" for path in ITEM.leaves)]


def run(scale: Scale) -> Report:
    documents = list(feed_stream(scale.items))
    rates: dict[int, dict[str, float | None]] = {}
    rows: list[tuple[Cell, ...]] = []
    templates = 0
    for queries in scale.queries:
        joins = random_joins(ITEM, queries)
        row, templates = throughputs(joins, documents, scale)
        rates[queries] = row
        distinct = len({frozenset(join.pairs) for join in joins})
        cells = (None if value is None else number(value) for value in row.values())
        rows.append((queries, distinct, *cells))
    lines: dict[str, list[tuple[float, float]]] = {
        way: [(queries, value) for queries, row in rates.items() if (value := row[way])]
        for way in WAYS
    }
    return Report(
        "figure_6_16",
        "Figure 6.16: throughput over feed items",
        f"Items a second of a stream of {scale.items:,} in the shape of section 6.6.3, in batches "
        f"of {BATCH:,}, windows without end. Each way runs for at most {scale.limit:g} s and then "
        "has met the beginning of the stream alone, when little is held: that flatters whatever is "
        "slow. Sequential's figure is for the second batch, from a sample of its SQL queries. The "
        "baselines are timed for the join alone, XSCL from XML text to the number of matches.",
        (Table(("queries", "distinct", *WAYS), tuple(rows)),),
        (Plot("queries", "items a second", lines, log_x=True),),
        statements(rates, templates, documents, scale),
    )


def throughputs(
    joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale
) -> tuple[dict[str, float | None], int]:
    """Documents a second of each way (None: no batch within the limit), and the templates."""
    result: dict[str, float | None] = {"Sequential": sequential(joins, documents, scale)}
    by_way: dict[str, Rate | None] = {}
    templates = 0
    for way, views in (("MMQJP", False), ("MMQJP with views", True)):
        by_way[way], templates = batched(joins, documents, scale, views)
    by_way[WAYS[3]] = cached(joins, documents, scale)
    with loaded(ITEM, joins) as engine:
        parts = list(batches(documents, BATCH))
        by_way["XSCL"] = rate(parts, lambda part: found(engine, part), scale.limit)
    firsts = {
        measured.found[0]
        for way, measured in by_way.items()
        if measured is not None and way != WAYS[3]
    }
    if len(firsts) > 1:
        raise AssertionError(f"different numbers of matches in the first batch: {firsts}")
    result |= {
        way: None if measured is None else measured.per_second for way, measured in by_way.items()
    }
    return result, templates


def sequential(joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale) -> float:
    relations = Relations(ITEM)
    for part in (documents[:BATCH], documents[BATCH : 2 * BATCH]):
        relations.load(part)
        relations.merge()
    queries = Sequential(ITEM, joins, deduplicated=False)
    started = time.perf_counter()
    done = 0
    while done < len(queries) and time.perf_counter() - started < scale.limit:
        queries.evaluate(relations.database, done, SAMPLE)
        done = min(done + SAMPLE, len(queries))
    whole = (time.perf_counter() - started) / done * len(queries)
    return BATCH / whole


def batched(
    joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale, views: bool
) -> tuple[Rate | None, int]:
    """MMQJP a batch at a time; loading and Algorithm 2 are not timed, as in the thesis."""
    relations = Relations(ITEM)
    queries = MMQJP(relations, joins, views=views)
    spent: list[float] = []
    matches = []

    def join() -> int:
        if views:
            materialise_all(relations)
        return queries.evaluate().total()

    for part in batches(documents, BATCH):
        relations.load(part)
        relations.merge()
        started = time.perf_counter()
        results = within(scale.patience, relations.database, join)
        if results is None:
            break
        spent.append(time.perf_counter() - started)
        matches.append(results)
        if sum(spent) > scale.limit:
            break
    done = min(len(documents), BATCH * len(matches))
    return (Rate(done, sum(spent), tuple(matches)) if matches else None), len(queries)


def cached(joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale) -> Rate:
    relations = Relations(ITEM)
    queries = MMQJP(relations, joins, views=True)
    cache = ViewCache(relations, SLICES)

    def process(part: Envelopes) -> int:
        relations.load(part)
        return sum(cache.process(queries).values())

    return rate(batches(documents, 1), process, scale.limit)


def statements(
    rates: dict[int, dict[str, float | None]], templates: int, documents: Envelopes, scale: Scale
) -> tuple[Statement, ...]:
    many = rates[scale.many]
    mmqjp, views, slow = many["MMQJP"], many["MMQJP with views"], many["Sequential"]
    ratio = mmqjp / slow if mmqjp and slow else float("nan")
    gain = views / mmqjp if views and mmqjp else float("nan")
    flat = None
    here = f"measured up to {scale.many:,} queries"
    if 10_000 in rates and scale.many > 10_000:
        before, after = rates[10_000]["MMQJP with views"], views
        if before and after:
            flat = after >= 0.8 * before
            here = f"{number(before)} and {number(after)} items/s at 10,000 and {scale.many:,}"
    some = documents[: 5 * BATCH]
    patterns = PatternSet(ITEM_PATTERNS, valued=ITEM_PATTERNS[1:])
    first_stage = len(some) / seconds(partial(evaluate_all, patterns, some))
    return (
        Statement(
            "6.6.3, figure 6.16",
            "MMQJP has an impressive throughput with many queries",
            between(100, ratio) if scale.full else None,
            f"{number(ratio)} times Sequential's at {scale.many:,} queries",
        ),
        Statement(
            "6.6.3, figure 6.16",
            "view materialisation helps further",
            between(1, gain) if scale.full else None,
            f"{number(gain)} times the throughput at {scale.many:,} queries",
        ),
        Statement(
            "6.6.3, figure 6.16",
            "the throughput stays flat beyond 10,000 queries, since most are duplicates then",
            flat,
            here,
        ),
        Statement("6.6.3", "there are five templates", templates == 5, str(templates)),
        Statement(
            "6.6.3",
            "XPath processing costs significantly less than the join",
            first_stage > 2 * max(value for way, value in many.items() if value and way != "XSCL"),
            f"stage 1 alone: {number(first_stage)} items/s",
        ),
    )
