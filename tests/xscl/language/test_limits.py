"""Queries at the bounds of their size, and just beyond."""

from __future__ import annotations

import pytest

from xscl.language import parse, parse_from

STEPS = "".join(f"[./b->x{i}]" for i in range(2_001))
AND = " AND ".join(["x = y"] * 33)
AND32 = " AND ".join(["x = x"] * 32)
EITHER = "x = 'a' OR x = 'b'"


@pytest.mark.parametrize(
    "text",
    [
        "S" + "/a" * 256,
        "S" + "/a" * 255 + "/@k",
        "S/b[" + "a/" * 254 + "a->x]",
        "S//a" + "[b = 'x']" * 2_000,
        "SELECT " + ", ".join(["x"] * 2_000) + " FROM S//a->x",
        "S//a[b = '" + "x" * (1_000_000 - 12) + "']",
        "S//a" + STEPS[: STEPS.index("[./b->x999]")],
        f"S//a->x JOIN {{{AND[: -len(' AND x = y')]}}} S//b->y",
        "S//a->x JOIN {" + " OR ".join(["x = y"] * 256) + "} S//b->y",
        "S" + " JOIN {} S" * 255,
        "S JOIN {} (" * 100 + "S" + ")" * 100,
        "(SELECT * FROM " * 100 + "S" + ")/a" * 100,
        "S//a->x" + f" JOIN {{{EITHER}}} S" * 8,
        "S//a->x" + " JOIN {x = x} S" * 32,
        f"(S//a->x JOIN {{{AND32}}} S)//a->x JOIN {{{AND32}}} (S//a->x JOIN {{{AND32}}} S)/a",
    ],
)
def test_at_the_bound(text: str) -> None:
    assert parse(text)[1] == []


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("S" + "/a" * 257, 515, "can only match 257 levels deep or more; documents have at most"),
        ("S/b[" + "a/" * 255 + "a->x]", 515, "can only match 257 levels deep"),
        ("S//a" + STEPS, None, "at most 2,000 steps that bind or lead to what is bound"),
        (f"S//a->x JOIN {{{AND}}} S//b->y", 15, "more than 32 comparisons are joined by AND"),
        (
            f"S//a->x JOIN {{x = y OR ({AND})}} S//b->y",
            15,
            "more than 32 comparisons are joined by AND",
        ),
        ("S//a->x JOIN {" + " OR ".join(["x = y"] * 257) + "} S//b->y", 15, "256 disjuncts"),
        ("S" + " JOIN {} S" * 256, 2561, "at most 256 blocks, its sub-queries' included"),
        ("S" + " JOIN {} (S)/a" * 200, 1790, "at most 256 blocks"),
        ("S" + " JOIN {} S" * 20_000, 2561, "at most 256 blocks"),
        ("(" * 101 + "S" + ")" * 101, 101, "parentheses are nested more than 100 deep"),
        ("S JOIN {} (" * 20_000, None, "found the end of the text"),
        ("S JOIN {} (" * 100_000, 1_000_001, "at most 1,000,000 characters"),
        ("SELECT " + ", ".join(["x"] * 2_001) + " FROM S//a->x", 6_008, "at most 2,000 paths"),
        ("S//a" + "[b = 'x']" * 2_001, 18_006, "a query has at most 2,000 filters"),
        ("S//a[count(b" + "[. = 'x']" * 2_000 + ") = 1]", 18_005, "at most 2,000 filters"),
        ("(SELECT * FROM " * 10_000 + "S" + ")" * 10_000, 1501, "nested more than 100 deep"),
        ("S//a->x" + f" JOIN {{{EITHER}}} S" * 9, 239, "to its left, this predicate splits into"),
        (f"S//a->x JOIN {{{AND32}}} S JOIN {{x = x}} S", 340, "and those to its left"),
    ],
)
def test_beyond_the_bound(text: str, column: int | None, reason: str) -> None:
    queries, errors = parse(text)
    assert queries == []
    assert reason in errors[0].problem
    assert column in (None, errors[0].column)


@pytest.mark.parametrize("letter", ["x", "é", "-", "x."])
def test_a_long_word_in_a_wrong_query_is_reported_immediately(letter: str) -> None:
    _, (error,), _ = parse_from(f"S//a[. = '{letter * 50_000}']->b", 1)
    assert "`->`" in str(error)
