"""Every case, fed in every way: the same matches, as multisets, with results as canonical XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.runner import FEEDINGS, Case, matches_of, read_cases
from tests.oracle.canonical import differences

OWN = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
SHARED = Path(__file__).parents[2].parent / "shared" / "conformance" / "core.jsonl"


def parameters(*paths: Path) -> list[object]:
    return [pytest.param(case, id=case["case"]) for path in paths for case in read_cases(path)]


def check(case: Case) -> None:
    """All ways of feeding in one test, so that a failure names the case and its first bad way."""
    for how, feed in FEEDINGS.items():
        difference = differences(case["expected"], matches_of(case, feed))
        assert not difference, f"{case['case']}, fed {how}: {difference}"


@pytest.mark.parametrize("case", parameters(*OWN))
def test_own_cases(case: Case) -> None:
    check(case)


@pytest.mark.skipif(not SHARED.exists(), reason=f"the shared cases are not at {SHARED}")
@pytest.mark.parametrize("case", parameters(SHARED) if SHARED.exists() else [])
def test_shared_cases(case: Case) -> None:
    check(case)
