"""The brute force over event queries, on every case and on the laws that it must keep."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.runner import Case, read_cases
from tests.oracle.event_algebra.model import evaluate
from tests.oracle.event_algebra.reading import read
from tests.oracle.event_algebra.values import canonical
from tests.shared import SHARED, needs

CASES = SHARED / "conformance" / "pattern-cel.jsonl"


@needs("conformance", "pattern-cel.jsonl")
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["case"]) for case in (read_cases(CASES) if CASES.exists() else ())],
)
def test_the_cases(case: Case) -> None:
    found = evaluate(read(case["queries"]), case["events"])
    assert Counter((one.query, one.start, one.time, one.result) for one in found) == Counter(
        (one["query"], one["start"] * 10**6, one["time"] * 10**6, canonical(one["result"]))
        for one in case["expected"]
    )
