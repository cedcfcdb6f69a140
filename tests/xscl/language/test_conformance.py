"""The shared conformance cases, as far as a query's text goes.

The one error that is not in a query by itself, a cycle of several, is found by the engine.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared import SHARED, needs
from xscl.language import parse

CONFORMANCE = SHARED / "conformance"

pytestmark = needs("conformance")


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CONFORMANCE / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", ["core.jsonl", "full.jsonl", "json.jsonl", "wide.jsonl"])
def test_good_queries(name: str) -> None:
    read = 0
    for case in cases(name):
        queries, errors = parse(case["queries"])
        assert not errors, f"{case['case']}: " + "\n\n".join(map(str, errors))
        read += len(queries)
    assert read > 50


def test_errors() -> None:
    for case in cases("errors.jsonl"):
        if case["case"] == "error-cycle-of-three":
            continue
        expected = case["error"]
        _, errors = parse(case["queries"])
        place = expected["query"], expected["line"], expected["column"]
        [error] = [e for e in errors if (e.query, e.line, e.column) == place]
        for mention in expected["mentions"]:
            assert mention.lower() in str(error).lower(), case["case"]
