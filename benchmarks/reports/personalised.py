"""Personalised subscriptions: one query text, constants for each subscriber."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from functools import partial

import xscl
from benchmarks.engine import found, resident
from benchmarks.measure import agree, batches, of, rate
from benchmarks.report import Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import (
    FOLLOWED,
    linked_items,
    links_between,
    matched_subscriptions,
    subscriptions,
)

FEW = 1_000
ITEMS = 30_000
BATCH = 1_000
TEXTS = 10
"""A tenth as many are subscribed as separate texts."""
LONGER = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """Registering: seconds, and bytes for each subscription; then documents and matches."""

    seconds: float
    bytes_each: float
    per_second: float
    documents: int
    matches: int


def run(scale: Scale) -> Report:
    items = list(linked_items(min(ITEMS, scale.items)))
    many = subscriptions(scale.subscriptions)
    all_of_them = subscribed(many, items, scale)
    met = items[: all_of_them.documents]
    few = matched_subscriptions(
        min(FEW, len(many) // 5), all_of_them.matches, links_between(met), many
    )
    one = subscribed(few, met, scale)
    texts = as_texts(many[: scale.subscriptions // TEXTS])
    separate = registered_texts(texts, many[: len(texts)], items[:BATCH])
    full = scale.subscriptions == 1_000_000
    ratio = all_of_them.per_second / one.per_second
    return Report(
        "personalised",
        "Personalised subscriptions",
        f"Posts by authors one follows that link to an item of the feeds one reads: a feed and an "
        f"author for each subscriber, all pairs different, drawn by Zipf. {len(items):,} items in "
        f"batches of {BATCH:,}, none of which begins after {scale.limit * LONGER:g} s. The "
        f"{len(few):,} subscriptions are chosen to have as many matches as the {len(many):,} over "
        "the same items. Separate texts find as many in the first batch as one text with a "
        "table.",
        (
            Table(
                ("subscriptions", "registered in s", "items", "items/s", "matches"),
                tuple(
                    (
                        len(rows),
                        m.seconds,
                        of(m.documents, len(items)),
                        number(m.per_second),
                        m.matches,
                    )
                    for rows, m in ((few, one), (many, all_of_them))
                ),
            ),
            Table(("separate texts", "registered in s"), ((len(texts), separate),)),
        ),
        (),
        (
            Statement(
                "goal, personalised",
                "1,000,000 are registered within 90 s and 1 KB each",
                all_of_them.seconds <= 90 and all_of_them.bytes_each <= 1024 if full else None,
                f"{number(all_of_them.seconds)} s, {number(all_of_them.bytes_each)} bytes each",
            ),
            Statement(
                "goal, personalised",
                "at as many matches a document, at least half of the items/s with 1,000",
                ratio >= 0.5 if full else None,
                f"{number(ratio)} of them with {scale.subscriptions:,}",
            ),
            Statement(
                "goal, personalised",
                "100,000 separate texts are registered within 60 s",
                separate <= 60 if full else None,
                f"{number(separate)} s for {len(texts):,}",
            ),
        ),
    )


def subscribed(
    rows: list[dict[str, str]], items: list[dict[str, object]], scale: Scale
) -> Measured:
    gc.collect()
    before = resident()
    with xscl.Engine() as engine:
        started = time.process_time()
        engine.subscribe_many(FOLLOWED, rows)
        spent = time.process_time() - started
        gc.collect()
        used = (resident() - before) / len(rows)
        # As the command line does once the queries are there.
        xscl.collect_rarely()
        went = rate(batches(items, BATCH), partial(found, engine), scale.limit * LONGER)
    return Measured(spent, used, went.per_second, went.documents, went.matches)


def as_texts(rows: list[dict[str, str]]) -> list[str]:
    """The query once for each row, with the constants in its text."""
    _, _, query = FOLLOWED.strip().partition("\n")
    return [
        query.replace(":feed", f"'{row['feed']}'").replace(":author", f"'{row['author']}'")
        for row in rows
    ]


def registered_texts(
    texts: list[str], rows: list[dict[str, str]], items: list[dict[str, object]]
) -> float:
    """The seconds to register separate texts."""
    with xscl.Engine() as one, xscl.Engine() as other:
        started = time.process_time()
        one.load(";\n".join(texts))
        spent = time.process_time() - started
        other.subscribe_many(FOLLOWED, rows)
        total = {"all": found(other, items)}
        agree("separate texts", {"all": found(one, items)}, total)
    return spent
