"""Stage 1 over documents of a vocabulary like a DTD's: very many patterns."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from benchmarks.baselines.compiled_xpath import CompiledXPath
from benchmarks.measure import floor, in_turn, seconds
from benchmarks.report import Cell, Report, Statement, Table, number
from benchmarks.scale import Scale
from benchmarks.stage_one import PatternSet, evaluate_all
from datasets import random_documents, random_patterns, vocabulary

DOCUMENTS = 300
FEW = 10
SAMPLE = 20
COMPILED = 1_000
TIMES = 1.3
VALUED = ", with string values"


def run(scale: Scale) -> Report:
    words = vocabulary()
    documents = [{"xml": text} for text in random_documents(words, DOCUMENTS)]
    patterns = random_patterns(words, scale.patterns)
    compiled = CompiledXPath(patterns[:COMPILED])
    compiled.check(PatternSet(patterns[:COMPILED]), documents[:SAMPLE])
    per_pattern = seconds(lambda: compiled.run(documents[:SAMPLE])) / SAMPLE / COMPILED

    ways: dict[str, Callable[[], object]] = {"floor": lambda: floor(documents)}
    registering: dict[str, float] = {}
    cold: dict[str, float] = {}
    for count in (FEW, scale.patterns):
        for values in (False, True):
            name = f"{count:,} patterns" + (VALUED if values else "")
            started = time.perf_counter()
            some = patterns[:count]
            shared = PatternSet(some, valued=frozenset(some) if values else ())
            registering[name] = time.perf_counter() - started
            evaluate = partial(evaluate_all, shared, documents)
            cold[name] = seconds(evaluate)
            ways[name] = evaluate
    taken = in_turn(ways, scale.rounds)
    few, many = f"{FEW:,} patterns", f"{scale.patterns:,} patterns"
    ratio = taken[many] / taken[few]
    valued = taken[many + VALUED] / taken[few + VALUED]
    at_first = cold[many] / cold[few]
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            number(spent / DOCUMENTS * 1e6),
            spent / taken["floor"],
            number(cold[name] / DOCUMENTS * 1e6) if name in cold else None,
            number(registering[name]) if name in registering else None,
        )
        for name, spent in taken.items()
    ]
    for count in (FEW, scale.patterns):
        spent = per_pattern * count
        name = f"compiled XPath, {count:,} patterns (scaled from {COMPILED:,})"
        rows.append((name, number(spent * 1e6), spent * DOCUMENTS / taken["floor"], None, None))
    return Report(
        "stage_one_patterns",
        "Stage 1: very many patterns",
        f"{DOCUMENTS:,} documents of some 40 elements over a vocabulary of 30 names; patterns of "
        "depth 6 to 10, `*` and `//` each with probability 0.2. Cold: the structure of a document "
        "is new; warm: it is known. Medians of "
        f"{scale.rounds} runs, in turns. Compiled XPath finds the same witnesses of "
        f"{COMPILED:,} patterns in the first {SAMPLE}.",
        (
            Table(
                ("way", "µs a document, warm", "times the floor", "cold", "registering, s"),
                tuple(rows),
            ),
        ),
        (),
        (
            Statement(
                "goal, stage 1",
                f"100,000 patterns take, warm, at most {TIMES} times the time of {FEW}",
                ratio <= TIMES if scale.patterns == 100_000 else None,
                f"{number(ratio)} times with {scale.patterns:,}; {number(valued)} times with the "
                f"string values, {number(at_first)} times cold",
            ),
        ),
    )
