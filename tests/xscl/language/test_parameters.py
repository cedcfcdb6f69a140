"""Parameters and what binding them gives (docs/language-reference.md#parameters)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl
from xscl.language import parse
from xscl.language.parameters import Prepared, bind, parameters
from xscl.language.syntax import Query


def one(text: str) -> Query:
    queries, errors = parse(text)
    assert not errors, "\n\n".join(map(str, errors))
    [query] = queries
    return query


def placeless(query: Query) -> str:
    """What a query says, wherever it was written."""
    shown = repr((query.select, query.source, query.publish))
    return re.sub(r"\bat=\d+", "", shown.replace(repr(query.text), ""))


def bound(text: str, **values: object) -> Query:
    query, errors = bind(one(text), values)
    assert not errors, "\n\n".join(map(str, errors))
    assert parameters(query) == {}
    return query


def problems(text: str, **values: object) -> list[tuple[int, str]]:
    query = one(text)
    unchanged, errors = bind(query, values)
    assert unchanged is query
    return [(error.column, error.problem) for error in errors]


EVERYWHERE = """
    SELECT {{"a": {s}, "b": [{n}, {{"c": {n}}}, x/b[c = {t}]]}}
    FROM S//a->x[b = {t}][contains(c, {t}) or {n} < d/e[f = {n}]][matches(., {t})]
      JOIN {{x = {t} OR lower-case( {t}) = x AND (number(x) < {n} OR x/b[{n}] = x), {n} days}}
      (SELECT <a>{{x/b[. = {t}]}}</a> FROM (T//b->x[c = {n}]) PUBLISH p)//c->y[. = {n}]
      FOLLOWED BY {{{n} h}} S
"""


@pytest.mark.parametrize(
    ("number", "written"), [(7, "7"), (7.0, "7.0"), (0.5, "0.5"), (0, "0"), (1e3, "1000.0")]
)
@pytest.mark.parametrize("string", ["v", "", 'it\'s "x" <&>; -- (: {} :)', "\U0001f600\t\n", ":n"])
def test_a_bound_query_is_the_query_with_constants(
    string: str, number: float, written: str
) -> None:
    quoted = "'" + string.replace("'", "''") + "'"
    as_json = '"' + string.replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n") + '"'
    by_hand = one(EVERYWHERE.format(s=as_json, t=quoted, n=written))
    query = bound(EVERYWHERE.format(s=":s", t=":s", n=":n"), s=string, n=number)
    assert placeless(query) == placeless(by_hand)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_string_is_a_value_and_never_text_of_the_language(value: str) -> None:
    text = "S//a->x[b = :p] JOIN {x = :p} S"
    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", value):
        [(column, problem)] = problems(text, p=value)
        assert column == text.index(":p") + 1
        assert "which is no character of XML" in problem
    else:
        assert repr(value) in placeless(bound(text, p=value))


@given(
    st.integers(0, 10**9)
    | st.floats(0, 1e9, allow_nan=False)
    | st.decimals(0, 10**6, places=3).map(float)
)
def test_a_window_is_as_long_as_its_number_says(number: float) -> None:
    by_hand = one(f"S JOIN {{{Decimal(str(number)):f} min}} S")
    assert placeless(bound("S JOIN {:n min} S", n=number)) == placeless(by_hand)


def test_parameters_are_reported_with_their_first_places() -> None:
    text = "S//a->x[b = :q][c = :p] JOIN {x = :p, :n days} (S//b[c = :q or c = :last])/a"
    assert list(parameters(one(text)).items()) == [
        (name, text.index(f":{name}")) for name in ("q", "p", "n", "last")
    ]
    assert parameters(one("S//a->x JOIN {x = ':p'} S")) == {}


def test_a_query_without_parameters_is_bound_as_it_is() -> None:
    query = one("S//a->x JOIN {x = 'v'} (S)/b")
    assert bind(query, {"p": 1}) == (query, [])


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "found None"),
        (True, "found True"),
        (float("nan"), "found nan"),
        (float("-inf"), "found -inf"),
        (10**400, "found a number beyond 1.8e308"),
        (["v"], "found a value of type list"),
        (b"v", "found a value of type bytes"),
        ("a\x00", "found a string with U+0000, which is no character of XML"),
        ("\ud800", "found a string with U+D800, which is no character of XML"),
    ],
)
def test_a_value_is_a_string_or_a_finite_number(value: object, found: str) -> None:
    text = "S//a[b = :p and c = :p] JOIN {:p} S"
    assert problems(text, p=value) == [
        (10, f"the parameter `:p` takes a string or a finite number, {found}")
    ]


def test_all_that_is_wrong_is_reported() -> None:
    text = "-- name: n\nS//a->x[b = :low or c = :high] JOIN {x = :other, :days days} S"
    query, errors = bind(one(text), {"days": -1, "low": None, "other": 3})
    assert query.name == "n"
    places = [(error.query, error.line, error.column) for error in errors]
    assert places == [("n", 2, 13), ("n", 2, 25), ("n", 2, 50)]
    assert "found None" in str(errors[0])
    assert "`:high` has no value; give it with params={'high': …}" in str(errors[1])
    assert "a window cannot be negative" in str(errors[2])


@pytest.mark.parametrize(
    ("text", "value", "problem"),
    [
        ("S//a[matches(b, :p)]", "a(b", "RE2 refuses this pattern: missing )"),
        ("S//a[not(matches(b, :p ))]", 5, "must be a string"),
        ("S//a->x JOIN {x/b[matches(., :p)] = x} S", "(?=a)", "RE2 refuses this pattern"),
        ("S JOIN {:p} S", "7", "`:p` takes the number of a window, found a string"),
        ("S JOIN {:p} S", -0.5, "a window cannot be negative"),
        ("S JOIN {:p weeks} S", 1e300, "a window of more than 292,000 years"),
        ("S JOIN {:p weeks} S", 10**18, "a window of more than 292,000 years"),
        ("S//a[./b->x][:p]", 1, "a position cannot follow a filter that binds a variable"),
        ("S//a[c[d->x][e][( :p)]]", 1.5, "a position cannot follow a filter that binds"),
        ("(SELECT x FROM S//a[./b->x][:p])/a", 1, "a position cannot follow"),
    ],
)
def test_what_depends_on_the_value_is_checked_with_it(text: str, value: Any, problem: str) -> None:
    [(column, reported)] = problems(text, p=value)
    assert column == text.index(":p") + 1
    assert problem in reported


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("S//a[matches(b, :p)]", "^[[:alpha:]]+$"),
        ("S//a[matches(b, 'c') and contains(b, :p)]", "a(b"),
        ("S//a[./b->x][:p]", "1"),
        ("S//a[:p][./b->x][c = :p]", 1),
        ("S JOIN {:p} S", -0.0),
        ("S JOIN {:p} S", 10**12),
        ("S//a[b = :p]", -5),
    ],
)
def test_values_that_fit(text: str, value: Any) -> None:
    bound(text, p=value)


def test_a_table_of_values() -> None:
    text = "-- name: n\nS//a->x[b = {}] JOIN {{x = {}}} S//c->y"
    prepared = Prepared(one(text.format(":p", ":q")))
    for number in range(1_000):
        query, errors = prepared.bind({"p": f"v{number}", "q": number}, f"n[{number}]")
        assert not errors
        assert query.name == f"n[{number}]"
        assert placeless(query) == placeless(one(text.format(f"'v{number}'", number)))
    _, [error] = prepared.bind({"p": "v"}, "n[7]")
    assert (error.query, error.line) == ("n[7]", 2)


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ('{"n": :k * a.v}', {"n": 15}),
        ('{"n": a.v * :k}', {"n": 15}),
        ('{"n": [:k + a.v, :k]}', {"n": [8, 3]}),
        ('{"n": ( :k + 1) * 2, "k": :k}', {"n": 8, "k": 3}),
    ],
)
@pytest.mark.parametrize("source", ["EVENT SEQ(S a)", "EVENT SEQ(S a) WITHIN 5 s"])
def test_a_parameter_may_begin_what_is_computed(
    select: str, expected: dict[str, object], source: str
) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(f"SELECT {select} FROM {source}", params={"k": 3})
        engine.publish("S", "<a><v>5</v></a>", id="d", timestamp=0)
        engine.subscribe(f"SELECT {select} FROM {source}", name="two", params={"k": 3})
        found = engine.publish("S", "<a><v>5</v></a>", id="e", timestamp=1)
        assert [one.result for one in [*found, *engine.flush()]][-2:] == [expected] * 2
