"""The query for fraud over transactions of 100,000 cards, alongside the same in SQL."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, islice
from time import process_time
from typing import NamedTuple

import xscl
from benchmarks.compositions.fraud import (
    CARDS,
    EQL,
    RATE,
    WINDOW,
    in_batches,
    line,
    looking_back,
    transactions,
)
from benchmarks.engine import resident
from benchmarks.report import Cell, Report, Statement, Table, number
from benchmarks.scale import Scale

BATCH = 1_000
WANTED = 20_000


def run(scale: Scale) -> Report:
    full, tiny = scale.full, scale.items < 1_000
    count = 3_000_000 if full else 3_000 if tiny else 60_000
    cards = CARDS if not tiny else 500
    size = min(count, 200_000)
    lines = [*map(line, transactions(size, cards))]
    expected = sorted(looking_back(lines))
    found, speed = engine(lines)
    assert found == expected, "EQL and SQL by window functions differ"
    assert expected, "nothing was found"
    batches = _taken(
        lines, scale.limit, lambda some: [*chain.from_iterable(in_batches(some, BATCH))], expected
    )
    whole = _taken(lines, scale.limit, looking_back, expected)
    few = min(size, 20_000)
    _, scanned = engine(lines[:few], without={"AI"})
    del lines
    long = long_run(count, cards)
    held = min(count, round(RATE * WINDOW))
    joined, joins = with_window(held, cards)
    third = sum(max(0, n - 2) for n in Counter(x.card for x in transactions(size, cards)).values())

    def row(way: str, timed: int, most: int, speed: float) -> tuple[Cell, ...]:
        return way, timed, f"{'up to ' * (timed >= most)}{most:,}", f"{speed:,.0f}"

    return Report(
        "next_fraud",
        "NEXT CEP: fraud, alongside SQL",
        f"Section 1.1's query over {RATE:,.0f} transactions a second of {cards:,} cards, within "
        f"{WINDOW // 60} minutes, from JSON text of some 150 bytes a body to matches, in batches "
        f"of {BATCH:,}. DuckDB (one thread) reads the same text: three joins over the window after "
        "each batch, or once, at the end, the next two of each card by window functions. All find "
        f"the same. The joins scan the window: over the first {batches[0]:,} transactions they are "
        f"{number(batches[1] / speed)} times as fast as XSCL, with {held:,} in the window "
        f"{number(joins / long.last)} times. XSCL slows down as cards fill: of the first {size:,} "
        f"transactions {100 * third / size:.0f} % have two of their card before them, later nearly "
        "all.",
        (
            Table(
                ("way", "transactions", "in the window", "transactions/s"),
                (
                    row("XSCL", size, size, speed),
                    row("XSCL, counted", count, held, long.all),
                    row("XSCL, counted, last quarter", long.rest, held, long.last),
                    row("XSCL, no index by card", few, few, scanned),
                    row(f"DuckDB, joins every {BATCH:,}", batches[0], batches[0], batches[1]),
                    row(f"DuckDB, joins every {BATCH:,}", joined, held, joins),
                    row("DuckDB, once at the end", whole[0], whole[0], whole[1]),
                ),
            ),
        ),
        (),
        (
            Statement(
                "goal, NEXT CEP",
                f"fraud: at least {WANTED:,} transactions/s from JSON text, {CARDS:,} cards",
                None if tiny else min(speed, long.last) >= WANTED,
                f"{speed:,.0f} transactions/s over {size:,}, {long.all:,.0f} over {count:,}, "
                f"{long.last:,.0f} over the last quarter of these",
            ),
            Statement(
                "goal, NEXT CEP",
                "fraud: memory is flat once the window is full (at most 50 MB more)",
                long.grown <= 50 if full else None,
                f"{number(long.grown)} MB more after {count:,} transactions than after 3/4 of them",
            ),
        ),
    )


def engine(lines: Sequence[str], **options: set[str]) -> tuple[list[tuple[int, ...]], float]:
    """The matches, and how many transactions a second."""
    found = list[tuple[int, ...]]()
    with xscl.Engine(lateness=0, **options) as made:
        made.subscribe(EQL, rates={"t": RATE})
        xscl.collect_rarely()
        started = process_time()
        for first in range(0, len(lines), BATCH):
            matches = made.publish_many([*map(json.loads, lines[first : first + BATCH])])
            found += [tuple(map(int, one.documents)) for one in matches]
        found += [tuple(map(int, one.documents)) for one in made.flush()]
        taken = process_time() - started
    return sorted(found), len(lines) / taken


class Long(NamedTuple):
    """Transactions a second, of all and of the `rest` after three quarters, in which the process
    has grown by so many MB."""

    all: float
    last: float
    rest: int
    grown: float


def long_run(count: int, cards: int) -> Long:
    """Matches are counted only; the window is full for the last quarter at full size."""
    stream, taken, then, before, rest = transactions(count, cards), 0.0, 0.0, 0, count
    with xscl.Engine(lateness=0) as made:
        made.subscribe(EQL, rates={"t": RATE})
        xscl.collect_rarely()
        for done in range(0, count, BATCH):
            lines = [*map(line, islice(stream, BATCH))]
            if not before and done >= 0.75 * count:
                before, then, rest = resident(), taken, count - done
            started = process_time()
            made.publish_many([*map(json.loads, lines)], grouped=True)
            taken += process_time() - started
        grown = resident() - (before or resident())
        return Long(count / taken, rest / (taken - then), rest, grown / 1e6)


def with_window(window: int, cards: int) -> tuple[int, float]:
    """Of how many transactions, and how many a second, joins take with so many transactions in the
    window; the first batch is not timed."""
    many = min(20, window // BATCH) * BATCH
    lines = [*map(line, transactions(window + BATCH + many, cards))]
    batches = in_batches(lines[window:], BATCH, lines[:window])
    found = next(batches)
    started = process_time()
    found += chain.from_iterable(batches)
    taken = process_time() - started
    expected = [one for one in looking_back(lines) if one[-1] >= window]
    assert sorted(found) == sorted(expected), "SQL differs"
    return many, many / taken


def _taken(
    lines: Sequence[str],
    limit: float,
    find: Callable[[Sequence[str]], list[tuple[int, int, int]]],
    expected: Sequence[tuple[int, ...]],
) -> tuple[int, float]:
    """Of how many transactions, and how many a second: as many as take some time."""
    count = min(len(lines), 4 * BATCH)
    while True:
        started = process_time()
        found = find(lines[:count])
        taken = process_time() - started
        assert sorted(found) == [one for one in expected if one[-1] < count], "SQL differs"
        if count == len(lines) or taken > limit / 4:
            return count, count / taken
        count = min(len(lines), 2 * count)
