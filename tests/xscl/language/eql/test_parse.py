"""EQL as text: what the paper prints is read, spellings are one query, and each level of
parentheses is in one language (docs/semantics.md#reading-eql, #the-language-of-a-text)."""

from __future__ import annotations

import json
from typing import cast

import pytest

from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.eql.unparse import condition, structure_text
from xscl.language.eql.walk import name_of
from xscl.language.same_query import bare, normal_form
from xscl.language.syntax import (
    Block,
    Composition,
    Element,
    EventOf,
    JSONObject,
    Name,
    Query,
    Repeated,
    Selected,
    Sequenced,
    SubQuery,
)
from xscl.language.syntax.languages import (
    AUTOMATA,
    EQL,
    EVENT_QUERIES,
    JOINS,
    PATTERNS,
    Language,
)
from xscl.language.walk import operands


def good(text: str) -> Query:
    [query], errors = parse(text)
    assert not errors, errors[0]
    return query


def composition(text: str) -> Composition:
    source = good(text).source
    assert isinstance(source, Composition), source
    return source


def variables(text: str) -> str:
    """The pattern of a query by its variables, with the parentheses that its tree has."""
    return structure_text(composition(text).pattern, lambda one: cast(str, name_of(one)))


def asked(text: str) -> list[tuple[str, bool]]:
    """The qualifications of a query, and which are in FILTER."""
    return [(condition(one.condition), one.filters) for one in composition(text).qualifications]


@needs("conformance")
def test_the_shared_cases_are_read() -> None:
    with (SHARED / "conformance" / "pattern-eql.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            queries, errors = parse(case["queries"])
            assert not errors, f"{case['case']}: {errors[0]}"
            assert all(isinstance(query.source, Composition) for query in queries)


# Schultz-Møller, Migliavacca, Pietzuch: sections 1.1, 3.4 and 3.5.

FRAUD = """SELECT * FROM ( t S1 ; t S2 ; t L )
WHERE FILTER(S1.acc = S2.acc), FILTER(S2.acc = L.acc),
      S1.amount < 100 AND S2.amount < 100 AND
      L.amount > 250 AND (S1, L) OCCURS WITHIN 12 hours
"""
LARGE = """SELECT * FROM ( t T1; t T2; t T3 )
WHERE FILTER(T1.acc = T2.acc), FILTER(T2.acc = T3.acc),
      T1.amount > 1000 AND T2.amount > 1000
      AND T3.amount > 1000
"""
CURRENCIES = "SELECT * FROM (t T1+; t T2)\nWHERE ALL(T1.currency) <> T2.currency\n"


def test_the_queries_of_credit_cards() -> None:
    assert variables(FRAUD) == "S1; S2; L"
    assert asked(FRAUD) == [
        ("S1.acc = S2.acc", True),
        ("S2.acc = L.acc", True),
        (
            "S1.amount < 100 AND S2.amount < 100 AND L.amount > 250 AND (S1, L) OCCURS WITHIN 12 h",
            False,
        ),
    ]
    assert variables(LARGE) == "T1; T2; T3"
    assert len(asked(LARGE)) == 3
    assert {cast(Block, one).stream.text for one in operands(good(LARGE).source)} == {"t"}


def test_the_query_of_currencies_wants_parentheses() -> None:
    assert variables(CURRENCIES) == "T1+; T2"
    assert asked(CURRENCIES) == [("ALL(T1.currency) != T2.currency", False)]
    queries, [error] = parse(CURRENCIES.replace("(t T1+; t T2)", "t T1+; t T2"))
    assert [query.name for query in queries] == ["q1"]
    assert "FROM ( … ; … )" in str(error)


@pytest.mark.parametrize(
    "pattern",
    ["E1; (E2; E3)", "E1 | (E4 | (E2 | E3))", "E1; (E2 \\ E3)", "E1; E2; E3; E4; E5"],
)
def test_the_patterns_of_the_text(pattern: str) -> None:
    assert variables(f"SELECT * FROM ({pattern})") == pattern.replace("(E2 \\ E3)", "E2 \\ E3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(A; B|C \\ X|Y; D)", "A; B | C \\ X | Y; D"),
        ("(A; ((B|C) \\ (X|Y)); D)", "A; B | C \\ X | Y; D"),
        ("(A; B)", "A; B"),
        ("((((A; B))))", "A; B"),
        ("((A; B); C)", "(A; B); C"),
        ("A \\ B \\ C", "A \\ B \\ C"),
        ("A \\ (B \\ C)", "A \\ (B \\ C)"),
        ("(A | B) | C", "(A | B) | C"),
        ("A | B+ | (C; D)+", "A | B+ | (C; D)+"),
        ("(A+)+", "(A+)+"),
        ("A+ \\ B+", "A+ \\ B+"),
        ("((A \\ B)+ | C; D)", "(A \\ B)+ | C; D"),
        ("(A | (B \\ C); D)", "A | (B \\ C); D"),
    ],
)
def test_what_binds_closer(text: str, expected: str) -> None:
    assert variables(text) == expected


def test_an_exception_stands_below_a_sequence() -> None:
    assert bare(composition("(A; B|C \\ X|Y; D)")) == bare(composition("(A; ((B|C) \\ (X|Y)); D)"))


PLAIN = (
    "SELECT A.x, A.y + 1 AS b FROM (t A; u//item[a = 'b'] B+ \\ 'my stream' C) "
    "WHERE NOT (A.x != 1) AND (B.y <= 2 OR PREV(B.y) >= A.z), "
    "FILTER(B.n CONTAINS 'it''s'), (A, B) OCCURS WITHIN 90 s CONSISTENCY weak PUBLISH p"
)
SPELLINGS = [
    PLAIN.replace("!=", "≠").replace("<=", "≤").replace(">=", "≥").replace("A.x,", "$A . x ,"),
    PLAIN.replace("!=", "<>").replace("AND", "and").replace(" OR", "∨").replace("90 s", "1.5min"),
    PLAIN.replace("SELECT", "select").replace("FROM", "From").replace("WHERE", "where"),
    PLAIN.replace("FILTER", "filter ").replace("PREV", "prev ").replace("CONTAINS", "contains"),
    PLAIN.replace("90 s", "90000 msec").replace("t A", "t AS A").replace("] B", "] as B"),
    PLAIN.replace("(t A", "( -- ; (\n t A").replace("WHERE", "(: WHERE; :) WHERE"),
    PLAIN.replace("OCCURS", "occurs").replace("WITHIN 90 s", "within 90").replace("'", '"'),
    PLAIN.replace("(A.x != 1)", "((A.x) != 1)").replace("u//", "(u//").replace("] B+", "] B)+"),
    PLAIN.replace("NOT", "¬").replace("AND", "∧"),
]  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_are_one_query(text: str) -> None:
    text = text.replace('it""s', "it's")
    assert normal_form(good(text)) == normal_form(good(PLAIN))


def test_a_stream_alone_is_its_own_variable() -> None:
    first, second = composition("(t; u B) WHERE t.x = B.x").pattern.parts  # type: ignore[union-attr]
    assert isinstance(first, EventOf)
    assert first.variable is None
    assert name_of(first) == "t"
    assert name_of(second) == "B"
    assert asked("('my stream'; u B) WHERE B.x = 1") == [("B.x = 1", False)]


def test_as_behind_a_path_is_the_variable() -> None:
    pattern = composition("(t//item[./author->who] AS A; u B) WHERE A.who = B.who").pattern
    assert isinstance(pattern, Sequenced)
    event = pattern.parts[0]
    assert isinstance(event, EventOf)
    assert isinstance(event.block, Block)
    assert event.block.steps[-1].variable is None
    assert name_of(event) == "A"


def test_branches_share_a_variable() -> None:
    assert variables("((visa T | master T); gate G) WHERE FILTER(T.acc = G.acc)") == "T | T; G"


def test_a_slash_steps_where_it_touches() -> None:
    values = ["A.x/y", "A.x / y.z", "A.x /3", "A.x/'y z'/@z", "A.x/2", "A.a-b", "A.a - y.b", "A.@x"]
    shown = [asked(f"(A; y) WHERE {one} = 1")[0][0] for one in values]
    assert shown == [
        *("A.x/y = 1", "A.x / y.z = 1", "A.x / 3 = 1", "A.x/'y z'/@z = 1", "A.x / 2 = 1"),
        *("A.a-b = 1", "A.a - y.b = 1", "A.@x = 1"),
    ]


def test_keywords_are_names_where_names_are() -> None:
    text = (
        "SELECT select.from, all.prev FROM (from all; select; t contains; filter occurs) "
        "WHERE all.where = select.and, filter(occurs.not = 1), contains.contains CONTAINS 'in'"
    )
    assert variables(text) == "all; select; contains; occurs"
    assert len(asked(text)) == 3


# Which language.


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("(A; B)", EQL),
        ("SELECT * FROM (A; B)", EQL),
        ("SELECT <a>{A}</a> FROM A \\ B", EQL),
        ("A | B", EQL),
        ("A+", EQL),
        ("S//a A", EQL),
        ("S A", EQL),
        ("S AS A", EQL),
        ("S//a AS A", JOINS),
        ("S//a AS A+", EQL),
        ("S//a A PUBLISH p", EQL),
        ("S//a A CONSISTENCY strong", EQL),
        ("S WHERE S.x = 1", EQL),
        ("((S A))", EQL),
        ("(S)", JOINS),
        ("S", JOINS),
        ("SELECT * FROM S", JOINS),
        ("SELECT a FROM S", EVENT_QUERIES),
        ("SELECT a FROM S//x->a", JOINS),
        ("SELECT A.x FROM S A", EQL),
        ("DECLARE STREAM S (a); SELECT * FROM S", EVENT_QUERIES),
        ("DECLARE STREAM S (a); SELECT * FROM S A", EQL),
        ("S//a->x[b + c][. = '; \\ |']", JOINS),
        ("S//a->x JOIN {x = y AND x > 1} T//b->y", JOINS),
        ("S//a->x JOIN {} (A; B)", JOINS),
        ("(A; B)/result->x JOIN {x = y} T//b->y", JOINS),
        ("EVENT SEQ(A a, B b) WHERE a.x + 1 = b.x", PATTERNS),
        ("PATTERN A+ a[]", PATTERNS),
        ("(EVENT A a)/result R", EQL),
        ("(PATTERN A+ a[])", PATTERNS),
        ("A NEXT B", EVENT_QUERIES),
        ("(A; B) NEXT C", EVENT_QUERIES),
        ("FILTER{x > 1}(S)", EVENT_QUERIES),
        ("(SELECT a, b FROM A NEXT B)/e E", EQL),
        ("SELECT x FROM (SELECT A.x AS x FROM (A; B))", EVENT_QUERIES),
        ("SELECT R.x FROM (SELECT A.x AS x FROM (A; B))/result R", EQL),
        ('AUTOMATON {"name": "n", "events": {"A": "S"}, "states": []}', AUTOMATA),
        ("select followed by {} declare", JOINS),
        ("where", JOINS),
        ("next publish p", JOINS),
    ],
)
def test_the_language_of_a_text(text: str, language: Language) -> None:
    queries, errors = parse(text)
    if language is not AUTOMATA:
        assert not errors, errors[0]
        assert queries[-1].language is language


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("(A; (SELECT <p>{B}</p> FROM (t B; t C))/p P)", EQL),
        ("(A | (B; C)/result R)", EQL),
        ("(A \\ (EVENT SEQ(B b, C c))/result R; D)", PATTERNS),
        ('(A; (SELECT {"a": x} FROM S//a->x JOIN {x = y} T//b->y)//a R)', JOINS),
        ("(A; (S NEXT T)/e E)", EVENT_QUERIES),
        ("(A; (SELECT x, COUNT(*) AS n FROM WINDOW{60 s}(S) GROUP BY x)/e E)", EVENT_QUERIES),
        ("S//a->x JOIN {x = y} ((A; B) WHERE A.x = 1)/result->y", EQL),
        ("S JOIN {} (SELECT A.x FROM (A; B))//x->y", EQL),
        ("S NEXT (A; B)", EQL),
        ("S UNION (SELECT A.x AS x FROM (A; B))", EQL),
        ("SELECT x FROM (SELECT A.x AS x FROM A | B)", EQL),
        ("(A; (S PUBLISH p)/a B)", JOINS),
    ],
)
def test_sub_queries_in_another_language(text: str, inner: Language) -> None:
    query = good(text)
    [nested] = [one for one in operands(query.source) if isinstance(one, SubQuery)]
    assert nested.query.language is inner
    assert nested.query.name == query.name


def test_constructors() -> None:
    pair = "SELECT <pair at='{A.x}'>{A}{PREV(B.y)}</pair> FROM (t A; t B+)"
    nested = good(f"SELECT P FROM (({pair})/pair P; u Q)")
    source = nested.source
    assert isinstance(source, Composition)
    first = next(operands(source))
    assert isinstance(first, SubQuery)
    assert isinstance(first.query.select, Element)
    json_object = good('SELECT {"a": A.x, "b": [A, A.x/2], "c": {"d": null}} FROM t A').select
    assert isinstance(json_object, JSONObject)
    assert isinstance(json_object.members[0][1], Selected)


def test_a_list() -> None:
    select = good("SELECT A, A.x AS y, -A.x * 2 AS dc:n FROM (t A; u B)").select
    assert isinstance(select, tuple)
    aliases = [None if one.alias is None else one.alias.text for one in select]
    assert aliases == [None, "y", "{http://purl.org/dc/elements/1.1/}n"]
    assert good("SELECT * FROM (t A; u B)").select is None


def test_what_is_published() -> None:
    query = good(
        "SELECT A FROM (t A; u B) WHERE A.publish = B.x CONSISTENCY middle(5 s) PUBLISH out"
    )
    assert query.publish is not None
    assert query.publish.text == "out"
    source = query.source
    assert isinstance(source, Composition)
    assert source.consistency is not None
    assert source.consistency.level == "middle"


def test_a_semicolon_ends_a_statement_outside_parentheses() -> None:
    queries, errors = parse("t A; (t A; u B); ; u+;\n-- name: last\n(v; w); x | y")
    assert not errors
    assert [query.name for query in queries] == ["q1", "q2", "q3", "last", "q5"]
    assert all(query.language is EQL for query in queries)
    assert isinstance(composition("u+").pattern, Repeated)


@pytest.mark.parametrize("depth", [99, 100, 101, 3_000])
def test_deep_parentheses(depth: int) -> None:
    queries, errors = parse("(" * depth + "A; B" + ")" * depth)
    assert bool(errors) is (depth > 100)
    assert len(queries) == (depth <= 100)
    queries, errors = parse("(A; B) WHERE " + "NOT " * depth + "A.x = 1")
    assert bool(errors) is (depth > 99)


def test_names_with_places() -> None:
    text = "(t A; u B) WHERE A.x = B.y"
    event = cast(Sequenced, composition(text).pattern).parts[1]
    assert isinstance(event, EventOf)
    assert event.variable == Name("B", text.index("B"))
