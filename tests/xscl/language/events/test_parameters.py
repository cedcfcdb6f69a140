"""Parameters in event queries, and event queries that are the same up to constants: parsed once."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.shared import SHARED, needs
from tests.xscl.language.test_alike import mutated, without_places
from xscl.language import parse, parse_from
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.parameters import Prepared, bind, parameters
from xscl.language.read import read_from
from xscl.language.same_query import normal_form

TEXT = (
    "SELECT x, y - :a AS z FROM WINDOW{:w min}(FILTER{matches(y, :p) AND DUR <= :d}"
    "((SELECT *, :b AS k FROM S//item->x[k = :k]) FOLD{, $2.x < :c, $.n + :e AS n} T)) GROUP BY x"
)
XSCL = "(SELECT x FROM S//a->x JOIN {x = y, 5 h} T//b->y)"
VALUES = {"a": 1, "w": 2, "p": "^a", "d": 3.5, "b": "u", "k": "v", "c": 2, "e": 7}


def test_parameters_are_allowed_where_constants_are() -> None:
    text = TEXT
    [query], errors = parse(text)
    assert not errors
    assert list(parameters(query)) == ["a", "w", "p", "d", "b", "k", "c", "e"]
    bound, errors = bind(query, VALUES)
    assert not errors
    for name, value in VALUES.items():
        text = text.replace(f":{name}", repr(value) if isinstance(value, str) else str(value))
    [written], errors = parse(text)
    assert not errors
    assert normal_form(written) == normal_form(bound)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [("w", -1, "negative"), ("d", "1", "found a string"), ("p", "(", "RE2"), ("p", 1, "string")],
)
def test_values_that_are_not_allowed_there(name: str, value: object, problem: str) -> None:
    [query], _ = parse(TEXT)
    _, [error] = bind(query, {**VALUES, name: value})
    assert problem in str(error)


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        ("FILTER{x = 1}(S)", "FILTER{x = 2.5}(S) -- again", True),
        ("S NEXT{$1.x = 'a'} T", "S NEXT{$1.x = 'it''s'} T", True),
        ("SELECT 'a' AS n FROM S", "SELECT 'b' AS n FROM S", True),
        ("S FOLD{, , $.c + 1 AS c} T", "S FOLD{, , $.c + 2 AS c} T", True),
        ("S NEXT{DUR <= 5 min} T", "S NEXT{DUR <= 7.5 min} T", True),
        ("S NEXT{DUR <= 5 min} T", "S NEXT{DUR <= 5 s} T", False),
        ("S NEXT{DUR <= 5 min} T", "S NEXT{DUR <= 0.1234567890123456 min} T", False),
        (f"SELECT a FROM {XSCL} NEXT T", f"SELECT a FROM {XSCL.replace('5', '6')} NEXT T", True),
        ("FILTER{x = 1}(S)", "FILTER{x = '1'}(S)", False),
        ("FILTER{$1.x = 1}(S)", "FILTER{$2.x = 1}(S)", False),
        ("FILTER{x = 1}(S)", "FILTER{y = 1}(S)", False),
        ("FILTER{$.'x' = 1}(S)", "FILTER{$.'y' = 1}(S)", False),
        ("FILTER{x < 1}('S')", "FILTER{x < 1}('T')", False),
        ("SELECT a FROM S", "SELECT b FROM S", False),
        ("SELECT a FROM S", "DECLARE STREAM S (a); SELECT a FROM S", False),
    ],
)
def test_similar_queries_are_parsed_once(one: str, other: str, similar: bool) -> None:
    statements = AlikeStatements()
    read_from(one, 1, statements)
    (first, second), errors, _ = read_from(f"{one}; {other}", 1, statements)
    assert not errors
    prepared: list[Prepared | None] = [
        query.prepared if isinstance(query, Instance) else None for query in (first, second)
    ]
    assert (prepared[0] is prepared[1] is not None) is similar


def test_a_declaration_of_another_text_is_another_one() -> None:
    statements = AlikeStatements()
    names = []
    for declared in ("", "DECLARE STREAM S (a, b);", "DECLARE STREAM S (b, a);"):
        (query,), errors, _ = read_from(f"{declared} A NEXT S", 1, statements)
        assert not errors
        assert isinstance(query, Instance)
        whole: Any = query.prepared.query
        names.append([one.names for one in whole.source.declared])
    assert names == [[], [("a", "b")], [("b", "a")]]


@needs("conformance")
def test_an_instance_is_what_parsing_in_full_gives() -> None:
    with (SHARED / "conformance" / "pattern-cel.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % 8 == 0:
                agree(json.loads(line)["queries"])


def agree(text: str) -> None:
    dice, similar = random.Random(text), AlikeStatements()
    for again in (text, text, *(mutated(text, dice) for _ in range(3))):
        expected, errors, _ = parse_from(again, 1)
        found, found_errors, _ = read_from(again, 1, similar)
        assert [str(error) for error in found_errors] == [str(error) for error in errors]
        for one, whole in zip(found, expected, strict=True):
            assert one.name == whole.name
            if isinstance(one, Instance):
                assert one.query == whole
                bound, wrong = one.prepared.bind(one.values, one.name)
                assert not wrong
                assert without_places(bound) == without_places(whole)
