"""How large an EQL query may be, and texts that are none (docs/language-reference.md#limits)."""

from __future__ import annotations

import pytest

from tests.drawn import seeded, times
from xscl.language import parse
from xscl.language.eql.notes import notes
from xscl.language.syntax import Composition

PIECES = r"""
    A B t u//item t//a->x A. .x A.x B.y 'my t' ' ; ; | \ + + ( ( ) ) (A (B [ ] [. > 1] AS as $A
    SELECT * , FROM WHERE FILTER( PREV( ALL( PREV(A.x) CONTAINS 'a' OCCURS WITHIN 5 s (A, B) = <> ≤
    AND OR NOT ¬ - / * 3 :p CONSISTENCY strong middle(3 s) PUBLISH p (SELECT )/r /r NEXT JOIN {x=y}
    EVENT SEQ( UNION (A;B) (t A; u B) A|B A\B A+ WHERE A.x=1 A.x/y A.x-y A.@z timestamp -- (: :) {{
"""


EXCEPTIONS = " \\ ".join(f"t A{i}" for i in range(256))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"({'; '.join(f't A{i}' for i in range(257))})", "at most 256 blocks"),
        (" \\ ".join(["A"] * 20_000), "at most 256 blocks"),
        (f"t A WHERE {' AND '.join(['A.x = 1'] * 1_001)}", "at most 1,000 comparisons"),
        (f"t A WHERE {', '.join(['A.x = 1'] * 1_001)}", "at most 1,000 comparisons"),
        (f"SELECT {', '.join(['A.x'] * 2_001)} FROM t A", "at most 2,000 items"),
        ("t A WHERE A.x = " + "(" * 200 + "- " * 200 + "1" + ")" * 200, "100 deep"),
        ("t" + "/b" * 300 + " A", "257 levels deep"),
        ("(" * 8 + "(t A)+" + ")+" * 8, "`+` is in more than 8 others"),
    ],
)
def test_what_is_too_large(text: str, problem: str) -> None:
    _, errors = parse(text)
    assert problem in str(errors[0])


def test_iterations_are_in_at_most_8_others() -> None:
    """Those of chains, too; what is within the bound is a query."""
    for count in (8, 9, 10, 12):
        text = "(" * count + "A" + "".join(f"; B{n})+" for n in range(count))
        _, errors = parse(text)
        assert [one.problem for one in errors if "more than 8 others" in one.problem] == (
            [] if count <= 8 else [one.problem for one in errors]
        )


def test_what_is_large() -> None:
    blocks = "; ".join(f"t A{i}" for i in range(256))
    queries, errors = parse(
        f"({blocks}) WHERE {', '.join(f'A{i}.x = 1' for i in range(256))};"
        f"{' | '.join(['t A'] * 256)};"
        f"{EXCEPTIONS};"
        f"t A WHERE {' OR '.join(['A.x = 1'] * 1_000)}"
    )
    assert not errors
    assert len(queries) == 4


@pytest.mark.drawn
def test_no_text_causes_a_traceback() -> None:
    dice = seeded("eql texts")
    pieces = PIECES.split()
    for _ in range(times(3_000)):
        text = dice.choice(["", " "]).join(dice.choices(pieces, k=dice.randrange(2, 20)))
        queries, errors = parse(text)
        for error in errors:
            assert error.problem
            str(error).encode()
        for query in queries:
            if isinstance(query.source, Composition):
                notes(query.source)
