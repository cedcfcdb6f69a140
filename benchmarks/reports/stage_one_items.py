"""Stage 1 over feed items: few patterns, small documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.baselines.compiled_xpath import CompiledXPath
from benchmarks.measure import floor, in_turn
from benchmarks.report import Report, Statement, Table, number
from benchmarks.reports.figure_6_16 import ITEM_PATTERNS
from benchmarks.scale import Scale
from benchmarks.stage_one import PatternSet, evaluate_all
from datasets import feed_stream

MOST_ITEMS = 20_000
TIMES = 2.2


def run(scale: Scale) -> Report:
    documents = list(feed_stream(min(scale.items, MOST_ITEMS)))
    shared, compiled = (
        PatternSet(ITEM_PATTERNS, valued=ITEM_PATTERNS[1:]),
        CompiledXPath(ITEM_PATTERNS),
    )
    compiled.check(shared, documents[:100])

    ways: dict[str, Callable[[], object]] = {
        "floor": lambda: floor(documents),
        "XSCL": partial(evaluate_all, shared, documents),
        "compiled XPath": lambda: compiled.run(documents),
    }
    taken = in_turn(ways, scale.rounds)
    size = sum(len(document["xml"].encode()) for document in documents) / len(documents)
    ratio = taken["XSCL"] / taken["floor"]
    return Report(
        "stage_one_items",
        f"Stage 1: feed items, {len(ITEM_PATTERNS)} patterns",
        f"{len(documents):,} items of {size:,.0f} bytes on average, from XML text to witnesses "
        f"with their string values; medians of {scale.rounds} runs, in turns. Compiled XPath "
        "finds the same witnesses in the first 100.",
        (
            Table(
                ("way", "items/s", "times the floor"),
                tuple(
                    (way, number(len(documents) / spent), spent / taken["floor"])
                    for way, spent in taken.items()
                ),
            ),
        ),
        (),
        (
            Statement(
                "goal, stage 1",
                f"at most {TIMES} times the floor's time",
                ratio <= TIMES,
                f"{number(ratio)} times",
            ),
        ),
    )
