"""Queries at the bounds of their size, and just beyond."""

from __future__ import annotations

import pytest

from xscl.language import parse

STEPS = "".join(f"[./b->x{i}]" for i in range(2_001))
AND = " AND ".join(["x = y"] * 33)


@pytest.mark.parametrize(
    "text",
    [
        "S" + "/a" * 256,
        "S" + "/a" * 255 + "/@k",
        "S/b[" + "a/" * 254 + "a->x]",
        "S//a" + STEPS[: STEPS.index("[./b->x999]")],
        f"S//a->x JOIN {{{AND[: -len(' AND x = y')]}}} S//b->y",
        "S//a->x JOIN {" + " OR ".join(["x = y"] * 256) + "} S//b->y",
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
    ],
)
def test_beyond_the_bound(text: str, column: int | None, reason: str) -> None:
    queries, errors = parse(text)
    assert queries == []
    assert reason in errors[0].problem
    assert column in (None, errors[0].column)
