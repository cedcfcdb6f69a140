"""Every case, fed in every way: the same matches, as multisets, with results as canonical XML.

Of the shared cases those queries are left out that use what comes with a later issue: three or
more blocks, groups, sub-queries, PUBLISH.  The engine refuses them one by one; here it is
checked that it refuses nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.conformance.runner import (
    FEEDINGS,
    MORE_FEEDINGS,
    Case,
    Feeding,
    good_and_bad,
    matches_of,
    read_cases,
)
from tests.oracle.canonical import differences

OWN = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
SHARED = Path(__file__).parents[2].parent / "shared" / "conformance"
LATER = {
    # `next`, `last` and `other` read what `pairs` and `next` publish.
    "wide-publish": "its queries read published streams",
}
MOST_REFUSED = {"core": 0, "full": 64, "json": 30, "wide": 15}


def parameters(*paths: Path) -> list[object]:
    return [
        pytest.param(
            case,
            id=case["case"],
            marks=pytest.mark.skip(LATER[case["case"]]) if case["case"] in LATER else (),
        )
        for path in paths
        if path.exists()
        for case in read_cases(path)
    ]


def check(case: Case, feedings: dict[str, Feeding], *, results: bool = True) -> None:
    """All ways of feeding in one test, so that a failure names the case and its first bad way."""
    names, _ = good_and_bad(case)
    expected = [match for match in case["expected"] if match["query"] in names]
    for how, feed in feedings.items():
        found = matches_of(case, feed)
        if not results:
            expected, found = without_results(expected), without_results(found)
        difference = differences(expected, found)
        assert not difference, f"{case['case']}, fed {how}: {difference}"


def without_results(matches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [match | {"result": None} for match in matches]


def beyond_the_scope(error: xscl.QueryError, case: Case) -> bool:
    """Whether a query is refused at the second operator, at PUBLISH or at a parenthesis in place
    of a block."""
    lines = case["queries"].splitlines(keepends=True)
    at = sum(map(len, lines[: error.line - 1])) + error.column - 1
    before, here = case["queries"][:at].rstrip(), case["queries"][at:]
    word = re.match(r"PUBLISH\b|FOLLOWED\s+BY\b|JOIN\b|\(", here, re.IGNORECASE)
    if not isinstance(error, xscl.QuerySyntaxError) or word is None:
        return False
    return word[0] != "(" or before.upper().endswith(("}", "FROM", ";")) or "-- name" in before


@pytest.mark.parametrize("case", parameters(*OWN))
def test_own_cases(case: Case) -> None:
    assert not good_and_bad(case)[1]
    check(case, MORE_FEEDINGS)


@pytest.mark.skipif(not SHARED.exists(), reason=f"the shared cases are not at {SHARED}")
@pytest.mark.parametrize("case", parameters(*(SHARED / f"{n}.jsonl" for n in MOST_REFUSED)))
def test_shared_cases(case: Case) -> None:
    # Results of JSON documents are section 7's, which the cases of json.jsonl leave open.
    check(case, FEEDINGS, results=not case["case"].startswith("json-"))


@pytest.mark.skipif(not SHARED.exists(), reason=f"the shared cases are not at {SHARED}")
@pytest.mark.parametrize("name", MOST_REFUSED)
def test_only_what_comes_later_is_refused(name: str) -> None:
    refused = 0
    for case in read_cases(SHARED / f"{name}.jsonl"):
        good, errors = good_and_bad(case)
        for error in errors:
            assert beyond_the_scope(error, case), f"{case['case']}: {error}"
            assert error.query not in good
        refused += len(errors)
    assert refused <= MOST_REFUSED[name]
