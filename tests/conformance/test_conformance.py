"""Every case, fed in some ways: the same matches, as multisets, with results as canonical XML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.runner import (
    FEEDINGS,
    MORE_FEEDINGS,
    Case,
    Feeding,
    errors_of,
    matches_of,
    read_cases,
)
from tests.drawn import seeded, times
from tests.oracle.canonical import differences
from tests.shared import SHARED, needs

OWN = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
CASES = SHARED / "conformance"
SHARED_CASES = [CASES / f"{name}.jsonl" for name in ("core", "full", "json", "wide")]


def parameters(*paths: Path) -> list[object]:
    return [
        pytest.param(case, id=case["case"])
        for path in paths
        if path.exists()
        for case in read_cases(path)
    ]


def check(case: Case, feedings: dict[str, Feeding], *, results: bool = True) -> None:
    """All ways of feeding in one test, so that a failure names the case and its first bad way."""
    expected = case["expected"]
    for how, feed in feedings.items():
        found = matches_of(case, feed)
        if not results:
            expected, found = without_results(expected), without_results(found)
        difference = differences(expected, found)
        assert not difference, f"{case['case']}, fed {how}: {difference}"


def without_results(matches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [match | {"result": None} for match in matches]


@pytest.mark.parametrize("case", parameters(*OWN))
def test_own_cases(case: Case) -> None:
    check(case, MORE_FEEDINGS)


@needs("conformance")
@pytest.mark.drawn
@pytest.mark.parametrize("case", parameters(*SHARED_CASES))
def test_shared_cases(case: Case) -> None:
    # Results of JSON documents are those of docs/semantics.md#json-as-a-tree, which the cases of
    # json.jsonl leave open.
    ways = seeded(case["case"]).sample([*FEEDINGS], min(len(FEEDINGS), times(1)))
    check(case, {way: FEEDINGS[way] for way in ways}, results=not case["case"].startswith("json-"))


@needs("conformance")
@pytest.mark.parametrize("case", parameters(CASES / "errors.jsonl"))
def test_shared_errors(case: Case) -> None:
    expected = case["error"]
    place = expected["query"], expected["line"], expected["column"]
    (error,) = [e for e in errors_of(case) if (e.query, e.line, e.column) == place]
    for mention in expected["mentions"]:
        assert mention.lower() in str(error).lower()
