"""Event queries as text: what the thesis and the shared cases print is read, spellings are one
query, and each level of parentheses is in one language."""

from __future__ import annotations

import json

import pytest

from tests.shared import SHARED, needs
from xscl.language import parse
from xscl.language.same_query import normal_form
from xscl.language.syntax import (
    Block,
    Element,
    EventPattern,
    Events,
    Item,
    Join,
    JSONObject,
    Name,
    Named,
    Query,
    Selected,
    SubQuery,
)
from xscl.language.walk import operands, selected_values


def good(text: str) -> Query:
    [query], errors = parse(text)
    assert not errors, errors[0]
    return query


def events(text: str) -> Events:
    source = good(text).source
    assert isinstance(source, Events), source
    return source


@needs("conformance")
def test_the_shared_cases_are_read() -> None:
    with (SHARED / "conformance" / "pattern-cel.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            queries, errors = parse(case["queries"])
            assert not errors, f"{case['case']}: {errors[0]}"
            for query in queries:
                # Example 11 is `SELECT * FROM Stock PUBLISH MyStock`, as ever.
                joined = case["case"] == "cel-example-11-select-all"
                assert isinstance(query.source, Events) is not joined


PLAIN = (
    "SELECT Name, a + 1 AS b FROM FILTER{NOT (x != 1) AND (y <= 2 OR DUR >= 90 s)}(S) "
    "FOLD{$2.x = $.x, $2.y > $.y} (T UNION WINDOW{60 s}(U)) NEXT{TRUE} V GROUP BY a, b "
    "CONSISTENCY weak PUBLISH p"
)
SPELLINGS = [
    PLAIN.replace("!=", "≠").replace("<=", "≤").replace(">=", "≥").replace(" = ", "=="),
    PLAIN.replace("!=", "<>").replace("AND", "and").replace(" OR", "∨").replace("90 s", "1.5min"),
    PLAIN.replace("SELECT", "select").replace("FROM", "From").replace("NEXT{TRUE}", "next{ true }"),
    PLAIN.replace("$.y}", "$.y, }").replace("60 s", "60").replace("(S)", "((S))"),
    PLAIN.replace("UNION", "(: and :) union").replace("FILTER", "filter").replace("'", '"'),
    PLAIN.replace("60 s", "1 min").replace("a + 1", "((a)+1)").replace("GROUP BY", "group  by"),
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_are_one_query(text: str) -> None:
    assert normal_form(good(text)) == normal_form(good(PLAIN))


def test_names_end_before_a_hyphen_and_a_point() -> None:
    text = "SELECT a-b.c AS d FROM S"
    assert "found `.`" in str(parse(text)[1][0])
    left = good("SELECT Price_1-Price AS d, $.'a-b' AS e FROM S")
    values = [one.value for one in selected_values(left.select)]
    assert isinstance(values[1], Named)
    assert (values[1].deco, values[1].name, values[1].quoted) == ("$", "a-b", True)
    assert events("my-stream NEXT S.b").expression is not None


@pytest.mark.parametrize(
    "name", ["NEXT", "fold", "Union", "FILTER", "window", "GROUP", "TRUE", "not", "AVG", "min"]
)
def test_keywords_are_names_where_only_a_name_is_allowed(name: str) -> None:
    query = good(f"SELECT {name}, {name} AS x FROM FILTER{{{name} = 1 AND $1.{name} < 2}}(S)")
    assert [one.value.name for one in selected_values(query.select)] == [name] * 2  # type: ignore[union-attr]
    block = events(f"{name} NEXT {name}").expression
    assert [one.stream.text for one in operands(events(f"{name} NEXT {name}"))] == [name] * 2  # type: ignore[union-attr]
    assert not isinstance(block, Block)


XSCL = "S//a->x JOIN {x = y} T//b->y"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT a FROM S", Events),
        ("SELECT a FROM 'my stream' NEXT S", Events),
        ("SELECT a AS from FROM S", Events),
        ("SELECT x AS from FROM S//a->x", Block),
        ("SELECT * FROM S", Block),
        ("DECLARE STREAM S (a); SELECT * FROM S", Events),
        ("DECLARE STREAM S (a); SELECT * FROM S//a", Block),
        ("S", Block),
        ("SELECT x FROM S//a->x", Block),
        ("SELECT COUNT(*) AS n FROM S//a->x", Events),
        ("SELECT x FROM S//a->x GROUP BY x", Events),
        ("SELECT <a>{x}</a> FROM S//a->x", Block),
        ("SELECT x/@k[count(.) = 1] FROM S//a->x", Block),
        ("SELECT (1 + SUM(x)) / 2 AS n FROM S//a->x", Events),
        ("SELECT <a>{COUNT(*)}</a> FROM S", Events),
        ('SELECT {"n": SUM(x)} FROM S', Events),
        ("FILTER//a->x", Block),
        ("NEXT//a->x JOIN {x = y} UNION//b->y", Join),
        ("(A NEXT B)", Events),
        ("SELECT * FROM ((A NEXT B))", Events),
        ("SELECT <a/> FROM (A NEXT B) PUBLISH p", Events),
        ("(A NEXT B)//c->x", SubQuery),
        ("(A NEXT B)//c->x JOIN {x = y} C//d->y", Join),
        (f"({XSCL})", Join),
        (f"SELECT x FROM ({XSCL})", Join),
        (f"SELECT a FROM (SELECT x FROM {XSCL})", Events),
        (f"SELECT * FROM (SELECT x FROM {XSCL})", SubQuery),
        ("SELECT a FROM (SELECT x FROM S//a->x)", Events),
        ("SELECT a.x FROM EVENT A a", EventPattern),
        ("SELECT x FROM (EVENT A a)", Events),
        ("SELECT x FROM (SELECT a.x FROM EVENT A a)", Events),
        (f"({XSCL}) NEXT A", Events),
    ],
)
def test_what_is_an_event_query(text: str, kind: type) -> None:
    assert isinstance(good(text).source, kind)


def languages(query: Query) -> str:
    """The languages of a query and its sub-queries, in brackets."""
    kinds = {Events: "C", EventPattern: "S"}
    inner = [languages(one.query) for one in operands(query.source) if isinstance(one, SubQuery)]
    return kinds.get(type(query.source), "X") + (f"[{' '.join(inner)}]" if inner else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(SELECT x FROM S//a[. > 1]->x) NEXT T".replace("[. > 1]->x", "->x[. > 1]"), "C[C]"),
        ("(SELECT * FROM S) NEXT T", "C[C]"),
        ("(SELECT * FROM S//a) NEXT T", "C[X]"),
        ("(SELECT x FROM ((S//a->x))) NEXT T", "C[C]"),
        ("(S//a->x) NEXT T", "C"),
        (f"({XSCL}) UNION (EVENT A a) UNION (SELECT a.b AS c FROM EVENT A a)", "C[X S S]"),
        ("A NEXT (SELECT <a>{x}</a> FROM S//a->x)", "C[X]"),
        ("((A NEXT (EVENT B b))//c->x JOIN {x = y} (D)//e->y) NEXT F", "C[X[C[S] X]]"),
        ("(SELECT a FROM (SELECT b FROM (EVENT A a) NEXT C) PUBLISH p) NEXT T", "C[C[C[S]]]"),
        ("A FOLD (SELECT x FROM (SELECT * FROM B UNION C)//a->x PUBLISH p)", "C[X[C]]"),
    ],
)
def test_sub_queries_have_their_own_languages(text: str, expected: str) -> None:
    assert languages(good(text)) == expected


def test_constructors_insert_what_is_computed() -> None:
    element = good("SELECT <hit by='{Name}'>{Price * 2} {string(x)}</hit> FROM A NEXT B").select
    assert isinstance(element, Element)
    obj = good('SELECT {"n": Name, "p": [Price - 1, 3, :p]} FROM A NEXT B').select
    assert isinstance(obj, JSONObject)
    assert [len([*selected_values(one)]) for one in (element, obj)] == [3, 2]


def test_a_list_says_what_is_in_it() -> None:
    query = good("SELECT *, 'max' AS kind FROM A NEXT B")
    assert isinstance(query.select, tuple)
    star, kind = query.select
    assert isinstance(star.path, Selected)
    assert (star.alias, kind.alias) == (None, Name("kind", 19))
    assert isinstance(kind, Item)


def test_declarations_hold_for_what_follows_and_reads_without_a_path() -> None:
    text = "A NEXT B; DECLARE STREAM A (x, 'a-b'); -- name: two\nA NEXT A//c NEXT (SELECT y FROM A)"
    (one, two), errors = parse(text)
    assert not errors
    assert isinstance(one.source, Events)
    assert isinstance(two.source, Events)
    assert one.source.declared == ()
    assert [(one.stream.text, one.names) for one in two.source.declared] == [("A", ("x", "a-b"))]
    inner = [part.query.source for part in operands(two.source) if isinstance(part, SubQuery)]
    assert [part.declared for part in inner if isinstance(part, Events)] == [two.source.declared]
    assert two.name == "two"
    assert not parse("DECLARE STREAM A (x); DECLARE STREAM A (x); A NEXT A")[1]


def test_a_chain_is_as_long_as_it_likes() -> None:
    assert events(" NEXT ".join(["S"] * 250)).expression is not None
    condition = " AND ".join(["x = 1"] * 1_000)
    assert events(f"FILTER{{{condition}}}(S)").expression is not None
