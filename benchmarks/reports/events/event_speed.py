"""The headline of chapter 4: 400,000 subscriptions, what each takes, and how fast events pass."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import xscl
from benchmarks.engine import resident
from benchmarks.events.ways import engine_with, lines_of, published, sized, speed
from benchmarks.report import Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import STEPPED, cayuga_benchmark, cayuga_events, stepped_queries, with_rows

QUERIES = 400_000
EVENTS = 100_000
LONG = 1_000_000
FEW = 1_000
BATCH = 1_000

Row = tuple[float, float, float, int]
"""Seconds of loading, bytes a query, events/s, outputs."""


def run(scale: Scale) -> Report:
    many = sized(scale, QUERIES, 20_000, 3)
    events = sized(scale, EVENTS, 6_000, 60)
    rows = {
        template: in_own_process(scale, headline, template, many, events) for template in STEPPED
    }
    length = sized(scale, LONG, 20_000, 200)
    grown, taken = in_own_process(
        scale, growth, length, sized(scale, FEW, FEW, 2), scale.limit * 10
    )
    speeds = {template: row[2] for template, row in rows.items()}
    bytes_ = {template: row[1] for template, row in rows.items()}
    full = scale.full
    return Report(
        "event_speed",
        "Event queries: 400,000 subscriptions",
        f"The workload of figure 4.13 with {many:,} subscriptions of one template at a time, in a "
        "process of its own, over "
        f"{events:,} events. Queries come as 72 texts with rows of constants (`subscribe_many`). "
        "Loading is from text to an engine that is ready; the bytes are those by which the process "
        "grows, with everything that a subscription needs. Second table: "
        f"{FEW:,} queries of Filter and {FEW:,} of NonDeterministic over a long stream, whose "
        "instances expire after 20 events: what the process grows by after the first tenth of it.",
        (
            Table(
                ("template", "loading, s", "bytes a query", "events/s", "outputs"),
                tuple((name, *row) for name, row in rows.items()),
            ),
            Table(("events", "growth after the first tenth, MB"), ((taken, grown / 1e6),)),
        ),
        (),
        (
            Statement(
                "goal, chapter 4",
                "400,000 subscriptions: at least 3,000 events/s on each template (paper: 1,000)",
                min(speeds.values()) >= 3_000 if full else None,
                each(speeds),
            ),
            Statement(
                "goal, chapter 4",
                "a subscription takes at most 1,024 bytes",
                max(bytes_.values()) <= 1_024 if full else None,
                each(bytes_),
            ),
            Statement(
                "goal, chapter 4",
                "instances are evicted when DUR has passed: at most 20 MB of growth over "
                "1,000,000 events",
                grown <= 20e6 if full and taken >= LONG else None,
                f"{number(grown / 1e6)} MB more after {taken:,} events than after a tenth",
            ),
        ),
    )


def each(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {number(figure)}" for name, figure in figures.items())


def in_own_process(scale: Scale, work: Any, *arguments: Any) -> Any:
    """Runs work in a process of its own, for separate memory; a test's sizes need none."""
    if sized(scale, 0, 0, 1):
        return work(*arguments)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def headline(template: Any, count: int, events: int) -> Row:
    """What so many queries of a template take."""
    drawn = stepped_queries(count)
    lines = lines_of(cayuga_events(events))
    # The engine's imports are not what a query takes.
    with xscl.Engine() as small:
        small.subscribe_many(*next(iter(cayuga_benchmark(template, 1))))
    gc.collect()
    before, started = resident(), time.process_time()
    with engine_with(with_rows(template, drawn)) as engine:
        loading = time.process_time() - started
        gc.collect()
        each = (resident() - before) / count
        went = speed(lambda part: published(engine, part), lines, 3_600, BATCH)
        return loading, each, went.per_second, went.outputs


def growth(length: int, count: int, limit: float) -> tuple[int, int]:
    """The bytes by which the process grows from a tenth of a stream on, and how long it was."""
    queries = [*cayuga_benchmark("Filter", count), *cayuga_benchmark("NonDeterministic", count)]
    with engine_with(queries) as engine:
        done, before, started = 0, 0, time.perf_counter()
        part: list[str] = []
        for event in cayuga_events(length):
            part += lines_of([event])
            if len(part) < BATCH and done + len(part) < length:
                continue
            published(engine, part)
            done += len(part)
            part.clear()
            if not before and done * 10 >= length:
                gc.collect()
                before = resident()
            if time.perf_counter() - started > limit:
                break
        gc.collect()
        return resident() - (before or resident()), done
