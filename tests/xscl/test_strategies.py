"""Each strategy switched off alone, and all combinations: the same matches (laws 7, 8 and 10)."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import xscl
from tests.conformance.runner import Case, read_cases

SHARED = Path(__file__).parents[3] / "shared" / "conformance"
OURS = Path(__file__).parents[1] / "conformance" / "cases"

SAMPLE = int(os.environ.get("XSCL_CASES", "12"))
"""So many cases, drawn at random; the machine has other things to do."""

NONE = xscl.Strategies(memory=0, signatures=False, ranges=False)

COMBINATIONS = [
    xscl.Strategies(),
    xscl.Strategies(in_process=2),
    xscl.Strategies(memory=0),
    xscl.Strategies(signatures=False),
    xscl.Strategies(ranges=False),
    NONE,
    replace(NONE, in_process=2),
]
"""Beside all in DuckDB: each alone, some batches in process and others not, none at all."""


def cases() -> list[Case]:
    paths = [path for folder in (SHARED, OURS) for path in sorted(folder.glob("*.jsonl"))]
    every = [case for path in paths for case in read_cases(path)]
    some = [case for case in every if "events" in case and case.get("expected")]
    return random.Random(7).sample(some, min(SAMPLE, len(some)))


def found(case: Case, strategies: xscl.Strategies, *, grouped: bool) -> Counter[str]:
    """The matches of a case, fed in batches of one, two and three."""
    matches: list[xscl.Match] = []
    events = list(case["events"])
    with xscl.Engine(strategies=strategies) as engine:
        engine.load_good(case["queries"])
        size = 1
        while events:
            some, events = events[:size], events[size:]
            size = size % 3 + 1
            if grouped:
                groups = engine.publish_many(some, grouped=True)
                matches += (match for group in groups for match in group.matches())
            else:
                matches += engine.publish_many(some)
    return Counter(match.id for match in matches)


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["case"]))
def test_all_combinations_have_the_same_matches(case: Case) -> None:
    expected = found(case, xscl.Strategies(in_process=0), grouped=False)
    for strategies in COMBINATIONS:
        assert found(case, strategies, grouped=False) == expected, strategies
    for strategies in COMBINATIONS[:2]:
        assert found(case, strategies, grouped=True) == expected, strategies
