"""The query for fraud over transactions of 100,000 cards, beside the same in SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain, islice
from time import process_time

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
from benchmarks.report import Report, Statement, Table, number
from benchmarks.scale import Scale

BATCH = 1_000
WANTED = 20_000


def run(scale: Scale) -> Report:
    full, tiny = scale.full, scale.items < 1_000
    count = 3_000_000 if full else 3_000 if tiny else 60_000
    cards = CARDS if not tiny else 500
    lines = [*map(line, transactions(min(count, 200_000), cards))]
    expected = sorted(looking_back(lines))
    found, speed = engine(lines)
    assert found == expected, "EQL and SQL by window functions differ"
    assert expected, "nothing was found"
    batches = _taken(
        lines, scale.limit, lambda some: [*chain.from_iterable(in_batches(some, BATCH))], expected
    )
    whole = _taken(lines, scale.limit, looking_back, expected)
    few = lines[: min(len(lines), 20_000)]
    _, scanned = engine(few, without={"AI"})
    steady, grown, length = long_run(count, cards)
    return Report(
        "next_fraud",
        "NEXT CEP: fraud, beside SQL",
        f"The query of section 1.1 over {RATE:,.0f} transactions a second of {cards:,} cards, "
        f"within {WINDOW // 60} minutes, from JSON text of some 150 bytes a body to matches, in "
        f"batches of {BATCH:,}, in processor time of one core. DuckDB (one thread) reads the same "
        "text: after each batch three joins over the window, or once, at the end, the next two "
        "transactions of each card by window functions. All have found the same "
        f"{len(expected):,} matches in {len(lines):,} transactions. The index of instances by "
        f"card is switched off for the first {len(few):,}.",
        (
            Table(
                ("", "transactions", "transactions/s"),
                (
                    ("XSCL", len(lines), f"{speed:,.0f}"),
                    ("XSCL, the whole stream, counted", length, f"{steady:,.0f}"),
                    ("XSCL, no index by card", len(few), f"{scanned:,.0f}"),
                    (f"DuckDB, joins every {BATCH:,}", batches[0], f"{batches[1]:,.0f}"),
                    ("DuckDB, once at the end", whole[0], f"{whole[1]:,.0f}"),
                ),
            ),
            Table(("transactions", "grown by in the last quarter, MB"), ((length, number(grown)),)),
        ),
        (),
        (
            Statement(
                "goal, patterns",
                f"fraud: at least {WANTED:,} transactions/s from JSON text, {CARDS:,} cards",
                None if tiny else min(speed, steady) >= WANTED,
                f"{min(speed, steady):,.0f} transactions/s",
            ),
            Statement(
                "goal, patterns",
                "fraud: state is flat once the window is full",
                grown <= 50 if full else None,
                f"{number(grown)} MB more after {length:,} than after 3/4 of them",
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


def long_run(count: int, cards: int) -> tuple[float, float, int]:
    """Transactions a second, MB by which the process has grown in the second half, and how many
    there were."""
    stream, taken, before = transactions(count, cards), 0.0, 0
    with xscl.Engine(lateness=0) as made:
        made.subscribe(EQL, rates={"t": RATE})
        xscl.collect_rarely()
        for done in range(0, count, BATCH):
            lines = [*map(line, islice(stream, BATCH))]
            if not before and done >= 0.75 * count:
                before = resident()
            started = process_time()
            made.publish_many([*map(json.loads, lines)], grouped=True)
            taken += process_time() - started
        return count / taken, (resident() - (before or resident())) / 1e6, count


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
