"""Every pattern case, fed in some ways (`ways`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.runner import Case, read_cases
from tests.conformance.ways import agrees, ways
from tests.shared import SHARED, needs
from xscl.pattern_stage.switches import SWITCHES

CASES = SHARED / "conformance" / "pattern-sase.jsonl"
MEMBERS = ("query", "documents", "variables", "start", "time")
WAYS = ways(SWITCHES)


@needs("conformance", "pattern-sase.jsonl")
@pytest.mark.drawn
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["case"]) for case in (read_cases(CASES) if CASES.exists() else ())],
)
def test_patterns(case: Case, tmp_path: Path) -> None:
    agrees(case, tmp_path, WAYS, said, 3)


def said(match: dict[str, Any]) -> str:
    times = {member: float(match[member]) for member in ("start", "time")}
    return str({member: match[member] for member in MEMBERS} | times)
