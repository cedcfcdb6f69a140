"""The shared conformance cases, as far as a query's text goes.

Left out are the queries with three or more blocks, groups, sub-queries or PUBLISH: those are
told by their text, so that nothing else is.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from xscl.language import parse
from xscl.language.scan import scan

CONFORMANCE = Path(__file__).parents[3].parent / "shared" / "conformance"

pytestmark = pytest.mark.skipif(
    not CONFORMANCE.exists(), reason="the conformance cases are not here"
)

OPERATOR = re.compile(r"\b(?:FOLLOWED\s+BY|JOIN)\s*\{", re.IGNORECASE)
# What PUBLISH names is the last word; a parenthesis stands where a block may.
LATER = re.compile(r"\bPUBLISH\s+[\w.-]+\s*\Z|(?:\A|\bFROM\b|\})\s*\(", re.IGNORECASE)


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CONFORMANCE / name).read_text("utf-8").splitlines()]


def queries_in_scope(text: str) -> set[str]:
    """The names of the queries that use nothing of what comes later."""
    scanned = scan(text)
    names: set[str] = set()
    number = 0
    for statement in scanned.statements:
        written = scanned.text[statement.start : statement.end]
        if re.match(r"DECLARE\s+NAMESPACE\b", written, re.IGNORECASE):
            continue
        number += 1
        if len(OPERATOR.findall(written)) <= 1 and not LATER.search(written):
            names.add(statement.name or f"q{number}")
    return names


@pytest.mark.parametrize("name", ["core.jsonl", "full.jsonl", "json.jsonl", "wide.jsonl"])
def test_good_queries(name: str) -> None:
    read = 0
    for case in cases(name):
        queries, errors = parse(case["queries"])
        bad = [error for error in errors if error.query in queries_in_scope(case["queries"])]
        assert not bad, f"{case['case']}: " + "\n\n".join(map(str, bad))
        assert queries_in_scope(case["queries"]) <= {query.name for query in queries}
        read += len(queries)
    assert read > 50


def test_errors() -> None:
    for case in cases("errors.jsonl"):
        expected = case["error"]
        if expected["query"] not in queries_in_scope(case["queries"]):
            continue
        _, errors = parse(case["queries"])
        place = expected["query"], expected["line"], expected["column"]
        [error] = [e for e in errors if (e.query, e.line, e.column) == place]
        for mention in expected["mentions"]:
            assert mention.lower() in str(error).lower(), case["case"]
