"""Every case of event queries, fed in some ways (`ways`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.runner import Case, read_cases
from tests.conformance.ways import agrees, ways
from tests.oracle.event_algebra.reported import RULES
from tests.oracle.event_algebra.values import canonical
from tests.shared import SHARED, needs

CASES = SHARED / "conformance" / "pattern-cel.jsonl"
WAYS = ways(RULES)


@needs("conformance", "pattern-cel.jsonl")
@pytest.mark.drawn
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["case"]) for case in (read_cases(CASES) if CASES.exists() else ())],
)
def test_event_queries(case: Case, tmp_path: Path) -> None:
    agrees(case, tmp_path, WAYS, said, 1)


def said(match: dict[str, Any]) -> tuple[object, ...]:
    start, time = float(match.get("start", match["time"])), float(match["time"])
    return match["query"], start, time, canonical(match["result"])
