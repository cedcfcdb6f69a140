"""The messages to a user: golden texts next to the queries that cause them.

`errors/NAME.xscl` is a text with errors, `errors/NAME.txt` exactly what is printed for it.  With
XSCL_GOLDEN=1 in the environment the texts are written again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.drawn import seeded, times
from xscl.errors import QueryError
from xscl.language import parse

GOLDEN = Path(__file__).parent / "errors"


@pytest.mark.parametrize("case", sorted(GOLDEN.glob("*.xscl")), ids=lambda path: path.stem)
def test_golden(case: Path) -> None:
    _, errors = parse(case.read_text(encoding="utf-8"))
    printed = "\n\n".join(map(str, errors)) + "\n"
    golden = case.with_suffix(".txt")
    if os.environ.get("XSCL_GOLDEN"):
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


def test_every_golden_text_has_a_case() -> None:
    assert {p.stem for p in GOLDEN.glob("*.txt")} == {p.stem for p in GOLDEN.glob("*.xscl")}


def test_the_good_queries_of_a_text_with_errors() -> None:
    queries, errors = parse("S//a; S//b[; -- name: q1\nS//c; -- name: x\nS//d; -- name: x\nS//e")
    assert [q.name for q in queries] == ["q1", "x"]
    assert [e.query for e in errors] == ["q2", "q1", "x"]


def test_a_bad_query_keeps_its_name() -> None:
    queries, errors = parse("-- name: x\nS//a[;\n-- name: x\nS//b")
    assert not queries
    assert [(e.line, e.column) for e in errors] == [(2, 6), (3, 10)]


@pytest.mark.parametrize("opening", ["(", "[a", "not(", "-", "1 + (", "(1 or -1 + (2 * "])
@pytest.mark.parametrize("times", [90, 2_000])
def test_deep_nesting(opening: str, times: int) -> None:
    closing = {"(": ")", "[": "]"}
    closed = "".join(closing.get(c, "") for c in reversed(opening))
    for end in ("", closed * times):
        filters = opening * times + "b" + end
        _, errors = parse("S//a" + (filters if opening[0] == "[" else f"[{filters}]"))
        assert all(isinstance(error, QueryError) for error in errors)


@pytest.mark.parametrize(
    "character", ["\x00", "\ud800", "\ufffe", "\x0c", "\u00a0", "\U0001f600", "\u2028", "'", "`"]
)
def test_odd_characters(character: str) -> None:
    for text in (
        f"S//{character}",
        f"S//a{character}",
        f"S//a[. = '{character}']",
        f"SELECT <a>{character}</a> FROM S",
        f'SELECT {{"{character}": "{character}"}} FROM S',
        f'SELECT {{"a": {character}}} FROM S',
        f"S//a->x JOIN {{x = '{character}' OR {character} = x}} S",
        f"-- name: {character}\nS[",
        f"DECLARE NAMESPACE a = '{character}'; SELECT <a:b/> FROM S",
        f"(: {character} :) S -- {character}",
    ):
        _, errors = parse(text)
        for error in errors:
            str(error).encode()


def test_comments_may_hold_anything() -> None:
    assert not parse("(: \x00 :) S -- \ud800")[1]


PIECES = r"""
    S // / @ * . a x1 $x ' '' " " '' -> AS as [ ] ( ) { } {{ }} , ; < > <a> </a> <a/> <a b="
    SELECT FROM FOLLOWED BY JOIN DECLARE NAMESPACE INF 7 days 1.5h = != <= + - div mod or and
    not( count( text() last() string( dc: dc:a zz:a *:a -- (: :) <!-- --> <![CDATA[ ]]> <? ?>
    &lt; &foo; xmlns=" xmlns:p=" S//a->x [./b->y] OR AND lower-case( number( matches( exists(
    (S (SELECT PUBLISH (S//a->x) )/a :p [:p] , :n ( :x {:n
    {"a": "b": : "c" [x] true null -1 1e5 "\\q" JOIN{ x=y }S//c->y
"""


@pytest.mark.drawn
def test_no_text_causes_a_traceback() -> None:
    odd = [
        "\n",
        " ",
        "-- name: n\n",
        "SELECT <a>{x}</a> FROM ",
        'SELECT {"a": ',
        "\x00",
        "\ud800",
        "\U0001f600",
    ]
    pieces = [*PIECES.split(), *odd]
    chance = seeded("texts")
    for _ in range(times(4_000)):
        text = chance.choice(["", " "]).join(chance.choices(pieces, k=chance.randrange(1, 25)))
        _, errors = parse(text)
        for error in errors:
            assert error.problem
            assert error.line >= 1
            assert error.column >= 1
            str(error).encode()
