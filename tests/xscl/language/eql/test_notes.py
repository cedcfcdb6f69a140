"""What `check` says of EQL that its writer may not have meant."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.eql.notes import notes
from xscl.language.syntax import Composition

KILLS = "alone kills nothing: no time lies inside of one event without a `start`"
GROWS = "what begins with it is kept for good, so that state only grows"
BRANCH = "is of one branch of `|`: it skips there, as in FILTER"
FIRST = "a FILTER over it and what stands before takes all up to the first that passes"
NEGATED = "makes a comparison true, and NOT of it false; turn the comparison around"
TIMED = "(A, C) OCCURS WITHIN 1 s"


def notes_on(text: str) -> list[str]:
    [query], errors = parse(text)
    assert not errors, errors[0]
    assert isinstance(query.source, Composition)
    return notes(query.source)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM (t S1; t S2; t L) WHERE FILTER(S1.x = S2.x), (S1, L) OCCURS WITHIN 12 hours",
        "t A | u B",
        "t A | u A WHERE A.v = 1",
        "t A",
        "(t T+) WHERE (T, T) OCCURS WITHIN 3 s AND PREV(T.v) < T.v",
        f"(A; T+; C) WHERE FILTER(T.v > A.v), {TIMED}",
        f"(A; B \\ X; C) WHERE X.v = A.v, {TIMED}",
        f"((A; B) \\ X; C) WHERE {TIMED} AND ALL(B.v) > 1",
        f"((t A; t B)+; C) WHERE {TIMED} AND PREV(B.v) < A.v",
        f"((SELECT * FROM t//x->y)/p A \\ X; C) WHERE {TIMED}",
        f"(A | B; C) WHERE FILTER(A.v = 1), A.v = C.v, {TIMED}, (B, C) OCCURS WITHIN 1 s",
        f"(A; (B; D) | C) WHERE D.v = 1, {TIMED} AND (B, D) OCCURS WITHIN 1 s",
        f"(A; C) WHERE PREV(A.v) < C.v, {TIMED}",
    ],
)
def test_nothing_is_said(text: str) -> None:
    assert notes_on(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t A \\ b B", [f"`\\ B` behind `A` {KILLS}"]),
        (f"((A \\ X); C) WHERE {TIMED}", [f"`\\ X` behind `A` {KILLS}"]),
        (f"((A | B \\ X | Y)+; C) WHERE {TIMED}", [f"`\\ X | Y` behind `A | B` {KILLS}"]),
        ("(A; B) WHERE A.x = B.x", [f"no OCCURS WITHIN with `A`: {GROWS}"]),
        ("t T+", [f"no OCCURS WITHIN with `T+`: {GROWS}"]),
        ("(A; B; C) WHERE (B, C) OCCURS WITHIN 1 s", [f"no OCCURS WITHIN with `A`: {GROWS}"]),
        (f"(A; C) WHERE NOT {TIMED}", [f"no OCCURS WITHIN with `A`: {GROWS}"]),
        (f"(A | B; C) WHERE {TIMED}", [f"no OCCURS WITHIN with `A | B`: {GROWS}"]),
        (f"(A; C \\ (X; Y)) WHERE {TIMED}", [f"no OCCURS WITHIN with `X`: {GROWS}"]),
        (f"(A; C+) WHERE {TIMED}", [f"`C+` behind `;` finds what `C` finds; {FIRST}"]),
        (
            f"(A; C+) WHERE {TIMED}, FILTER(C.v > 3), C.v > A.v",
            [f"`C+` behind `;` finds what `C` finds; {FIRST}"],
        ),
        (
            f"(A; C) WHERE PREV(C.v) > 9, {TIMED}",
            ["`PREV(C.v) > 9` always holds: `C` has no event before this one"],
        ),
        (
            "t A WHERE PREV(A.v) CONTAINS 'x'",
            ["`PREV(A.v) CONTAINS 'x'` always holds: `A` has no event before this one"],
        ),
        (
            f"(A; B \\ X; C) WHERE PREV(X.v) = A.v, {TIMED}",
            ["`PREV(X.v) = A.v` always holds: `X` has no event before this one"],
        ),
        (
            "t T+ WHERE NOT (PREV(T.v) = T.v OR ALL(T.v) = 1), (T, T) OCCURS WITHIN 3 s",
            [
                f"`NOT PREV(T.v) = T.v`: over no event PREV {NEGATED}",
                f"`NOT ALL(T.v) = 1`: over no event ALL {NEGATED}",
            ],
        ),
        ("t A | u B WHERE A.v = 1, FILTER(B.v = 1)", [f"`A.v = 1` {BRANCH}"]),
    ],
)
def test_what_is_said(text: str, expected: list[str]) -> None:
    assert notes_on(text) == expected
