"""Statements, comments and names of queries (docs/semantics.md#statements-and-names)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.language import scan as module
from xscl.language.checks.names import NamePattern
from xscl.language.scan import scan


def statements(text: str) -> list[str]:
    scanned = scan(text)
    return [scanned.text[s.start : s.end].rstrip() for s in scanned.statements]


@pytest.mark.parametrize(
    "text",
    [
        "S//a -- x ; y\n;(: a (: b ; :) -- c :) T",
        "SELECT <a>;\n<!-- ; -->\n</a> FROM S -- x",
        "\ufeffS//a; -- x",
        "S//é[. = '\U0001f600'] (: \U0001f600 :); T",
    ],
)
def test_blanking_moves_nothing(text: str) -> None:
    cleaned = scan(text).text
    assert len(cleaned) == len(text)
    assert [i for i, c in enumerate(cleaned) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("S;T", ["S", "T"]),
        ("S//a;\n;; ;T;", ["S//a", "T"]),
        ("", []),
        (" -- only a comment\n(: and ; another :)", []),
        ("S//a[. = 'x;y' or . = \"a;'b\"]; T", ["S//a[. = 'x;y' or . = \"a;'b\"]", "T"]),
        ("S//a[. = 'it''s;']; T", ["S//a[. = 'it''s;']", "T"]),
        ("S//a--b->x -- c", ["S//a--b->x"]),
        ("-- c\nS", ["S"]),
        ("S//a->x' ; T//b->y''; U", ["S//a->x'", "T//b->y''", "U"]),
        ("S//a[x='v;']; T", ["S//a[x='v;']", "T"]),
        ("S//a[. = '-- (:']; T", ["S//a[. = '-- (:']", "T"]),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


def test_a_constructor_is_text_to_the_scanner() -> None:
    text = (
        "SELECT <t a=\"-- ;{x[. = '};']}\">-- ; (: {{ <b>';</b> {x} <![CDATA[</t>;]]></t> FROM S; T"
    )
    assert [" ".join(s.split()) for s in statements(text)] == ["SELECT < FROM S", "T"]
    [first, _] = scan(text).statements
    [markup] = first.markups
    assert text[markup.start : markup.end].startswith("<t a=")
    assert text[markup.start : markup.end].endswith("]]></t>")


@pytest.mark.parametrize(
    "text",
    [
        "S//select[select < 5]",
        "S//a[(select < 5) and (((select < b)))]",
        "(S//select[(select < 5)])",
        "S//a->x JOIN {(select < x) AND ((select < x))} (S//select)",
        "S//a[b[(from) and (select < 5)]] JOIN {} (S//a[(select<a)])",
    ],
)
def test_a_less_than_sign_is_no_constructor(text: str) -> None:
    assert statements(f"{text}; T") == [text, "T"]


@pytest.mark.parametrize(
    ("text", "constructors"),
    [
        ("(SELECT <a>;</a> FROM S)/a", ["<a>;</a>"]),
        ("SELECT <a>;</a> FROM ((SELECT <b>;</b> FROM S)/b)/c", ["<a>;</a>", "<b>;</b>"]),
        ('SELECT {";": x} FROM S//a->x[(b)] JOIN {x = ";" } (SELECT {";;": 1} FROM S)',
         ['{";": x}', '{";;": 1}']),
        ("SELECT x FROM S//a->x[b[c]] JOIN {} ((: c :) select (: c :) <a>;</a> from S)",
         ["<a>;</a>"]),
        ('(SELECT * FROM (SELECT {"a": ")"} FROM (SELECT <a>(</a> FROM S)))',
         ['{"a": ")"}', "<a>(</a>"]),
    ],
)  # fmt: skip
def test_sub_queries_have_constructors_too(text: str, constructors: list[str]) -> None:
    [statement, _] = scan(f"{text}; T").statements
    extents = [(markup.start, markup.end) for markup in statement.markups] + [*statement.objects]
    assert [text[start:end] for start, end in sorted(extents)] == constructors


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("(A; B); C", ["(A; B)", "C"]),
        ("(A; B; C", ["(A", "B", "C"]),
        ("(A; B;\n-- name: c\nC); D", ["(A", "B", "C)", "D"]),
        ("((A; B); C; (D", ["((A; B)", "C", "(D"]),
        ("(A [x = ')']; B) C; D", ["(A [x = ')']; B) C", "D"]),
        ("(A; -- )\n B", ["(A", "B"]),
        ("(A; (: ) :) B [b' = ')'])", ["(A; (: ) :) B [b' = ')'])"]),
        ("SELECT <a>(</a> FROM S; T; )", ["SELECT <a>(</a> FROM S", "T", ")"]),
        ("A (; JOIN {x = '('}; B)", ["A (; JOIN {x = '('}; B)"]),
        ("EVENT SEQ(A a; B b); C", ["EVENT SEQ(A a; B b)", "C"]),
        ("(EVENT SEQ(A a; B b); C", ["(EVENT SEQ(A a; B b)", "C"]),
    ],
)
def test_a_semicolon_in_parentheses_that_are_closed_ends_nothing(
    text: str, statements: list[str]
) -> None:
    found = scan(text).statements
    assert [text[one.start : one.end].strip() for one in found] == statements


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("-- name: one\nS; S; --  name : t w o \nS", ["one", None, "t w o"]),
        ("-- name: one\n-- name: two\n(: x :) S", ["two"]),
        ("S -- name: not before the query\n; S", [None, None]),
        ("-- name:\nS", [None]),
        ("-- name: one\n;;S", ["one"]),
        ("-- name: one\r\nS", ["one"]),
        ("(: -- name: no :) S", [None]),
    ],
)
def test_names(text: str, names: list[str | None]) -> None:
    assert [s.name for s in scan(text).statements] == names


def test_a_name_has_a_place() -> None:
    text = "\n -- name:  one\nS"
    [statement] = scan(text).statements
    assert statement.named_at == text.index("one")


@pytest.mark.parametrize(
    "text",
    [
        "S//a;\n" * 100_000,
        "S//a[. = '" + "''" * 400_000,
        "(: " * 300_000,
        "SELECT <a>" + "<b>" * 200_000,
        "SELECT <a>" + "{" * 500_001,
        "SELECT " + "<a>" * 100_000 + "</b>" * 100_000,
        " " * 1_000_000,
        "a-" * 400_000 + ">",
        "-- a\n" * 200_000 + "S//a" * 100_000,
        "(a;" * 20_000,
        "(a;" * 20_000 + ")" * 20_000,
    ],
    ids=[
        *("statements", "quotes", "comments", "tags", "braces", "end tags", "blanks", "hyphens"),
        *("remarks", "opened", "closed"),
    ],
)
def test_the_time_is_linear(text: str) -> None:
    # Were the time not linear, this would not end.
    scan(text)


PIECES = [
    *("a", "b1", "select", "SELECT", "from", "S", "//", "/", "[", "]", "{", "}", "(", ")", "(:"),
    *(":)", "--", "-", "->", "'", '"', "'x'", '"y;"', ";", "<a>", "</a>", "<", "=", "1", ".5", ","),
    *(
        "é",
        "×",
        "x'",
        "a-b",
        "not(",
        "\x01",
        "@",
        "$",
        " ",
        "\n",
        "-- name: n\n",
        "S//a[b='c']->x ",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_tokens_that_change_nothing_are_taken_together(pieces: list[str]) -> None:
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        for together in ("_PLAIN_RUN", "_ORDINARY"):
            patch.setattr(module, together, NamePattern("(?!)"))
        one_by_one = scan(text)
    assert scan(text) == one_by_one
