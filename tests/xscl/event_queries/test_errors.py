"""The messages to a user: golden texts next to the queries that cause them.

With XSCL_GOLDEN=1 in the environment the texts are written again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.xscl.event_queries.reading import compiled

GOLDEN = Path(__file__).parent / "errors"


@pytest.mark.parametrize("case", sorted(GOLDEN.glob("*.xscl")), ids=lambda path: path.stem)
def test_golden(case: Path) -> None:
    _, errors = compiled(case.read_text(encoding="utf-8"))
    printed = "\n\n".join(map(str, errors)) + "\n"
    golden = case.with_suffix(".txt")
    if os.environ.get("XSCL_GOLDEN"):
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")
