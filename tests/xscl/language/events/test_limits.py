"""Event queries at the bounds of their size, just beyond, and far beyond."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.syntax import Events

ITEMS = ", ".join(f"a AS x{number}" for number in range(2_000))


@pytest.mark.parametrize(
    "text",
    [
        "S" + " NEXT S" * 255,
        "S" + " UNION S FOLD S" * 127,
        "FILTER{TRUE}(" * 100 + "S" + ")" * 100,
        "(SELECT a FROM " * 100 + "S" + ")" * 100 + " NEXT S",
        "FILTER{" + " AND ".join(["a = 1"] * 1_000) + "}(S)",
        "FILTER{" + "NOT (" * 98 + "a = 1" + ")" * 98 + "}(S)",
        "FILTER{a = " + "(" * 99 + "1" + ")" * 99 + "}(S)",
        "FILTER{a = " + " + ".join(["1"] * 90) + "}(S)",
        f"SELECT {ITEMS} FROM S NEXT S",
        f"S FOLD{{, , {ITEMS}}} S",
    ],
)
def test_at_the_bound(text: str) -> None:
    [query], errors = parse(text)
    assert errors == []
    assert isinstance(query.source, Events)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("S" + " NEXT S" * 256, "at most 256 blocks"),
        ("FILTER{TRUE}(" * 101 + "S" + ")" * 101, "nested more than 100 deep"),
        ("(SELECT a FROM " * 101 + "S" + ")" * 101, "nested more than 100 deep"),
        ("FILTER{" + " AND ".join(["a = 1"] * 1_001) + "}(S)", "at most 1,000 comparisons"),
        ("FILTER{" + "NOT (" * 100 + "a = 1" + ")" * 100 + "}(S)", "nested more than 100 deep"),
        ("FILTER{a = " + "(1 + " * 100 + "1" + ")" * 100 + "}(S)", "nested more than 100 deep"),
        ("FILTER{a = " + "- " * 101 + "1}(S)", "nested more than 100 deep"),
        ("FILTER{a = " + " + ".join(["1"] * 200) + "}(S)", "nested more than 100 deep"),
        ("FILTER{a = " + "abs(" * 101 + "1" + ")" * 101 + "}(S)", "nested more than 100 deep"),
        (f"SELECT {ITEMS}, a FROM S NEXT S", "at most 2,000 items"),
        (f"S FOLD{{, , {ITEMS}, 1 AS a}} S", "at most 2,000 aggregates"),
        # Were the time not linear, these would not end.
        ("S NEXT (" * 5_000, "nested more than 100 deep"),
        ("S NEXT S " * 5_000, "found `S`"),
        ("S" + " NEXT S" * 5_000, "at most 256 blocks"),
        ("FILTER{" * 5_000, "found `{`"),
        ("FILTER{" + "NOT " * 5_000 + "a = 1}(S)", "nested more than 100 deep"),
        ("FILTER{a = " + "(" * 5_000, "found the end"),
        ("S FOLD{" + "," * 5_000, "found `,`"),
        ("S NEXT{" + "]" * 5_000, "found `]`"),
        ("S NEXT (" + "[" * 5_000, "found the end"),
        ("SELECT " + "COUNT(" * 5_000, "expected"),
        ("FILTER{$1." + "a" * 50_000 + "-}(S)", "found `}`"),
    ],
)
def test_beyond_the_bound(text: str, reason: str) -> None:
    queries, errors = parse(text)
    assert queries == []
    assert reason in errors[0].problem, errors[0].problem[:300]
