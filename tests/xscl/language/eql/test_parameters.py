"""Parameters in EQL, and EQL queries that are the same up to constants: parsed once."""

from __future__ import annotations

import json

import pytest

from tests.drawn import seeded, times
from tests.shared import SHARED, needs
from tests.xscl.language.test_alike import mutated, without_places
from xscl.language import parse, parse_from
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.parameters import bind, parameters
from xscl.language.read import read_from
from xscl.language.same_query import normal_form

TEXT = (
    "SELECT A.x, :b + A.y AS z FROM (t//item[x = :k] A; "
    "(SELECT * FROM (t A; u B) WHERE A.y > :c)/r B+ \\ u C) "
    "WHERE A.x CONTAINS :p AND NOT A.z = :z, FILTER(PREV(B.x) > :a * 2), "
    "(A, B) OCCURS WITHIN :w min CONSISTENCY middle( :m s)"
)
VALUES = {"b": 1, "k": "v", "c": 2, "p": "it's", "z": 3.5, "a": 4, "w": 5, "m": 6}


def test_parameters_are_allowed_where_constants_are() -> None:
    text = TEXT
    [query], errors = parse(text)
    assert not errors
    assert list(parameters(query)) == [*VALUES]
    bound, errors = bind(query, VALUES)
    assert not errors
    for name, value in VALUES.items():
        written = "'it''s'" if name == "p" else f"'{value}'" if name == "k" else str(value)
        text = text.replace(f":{name}", written)
    [whole], errors = parse(text)
    assert not errors
    assert normal_form(whole) == normal_form(bound)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [("w", -1, "negative"), ("w", "1", "found a string"), ("p", 1, "takes a string")],
)
def test_values_that_are_not_allowed_there(name: str, value: object, problem: str) -> None:
    [query], _ = parse(TEXT)
    _, [error] = bind(query, {**VALUES, name: value})
    assert problem in str(error)


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        ("(t A; u B) WHERE A.x = 1", "(t A; u B) WHERE A.x = 2.5 -- again", True),
        ("t A WHERE A.x CONTAINS 'a'", "t A WHERE A.x CONTAINS 'it''s'", True),
        ("(A; B) WHERE A.x = 1", "(A; C) WHERE A.x = 1", False),
        ("(A; B) WHERE A.x = 1", "(A; B) WHERE A.x = '1'", False),
        ("(A | B) WHERE A.x = 1", "(A \\ B) WHERE A.x = 1", False),
        ("(t A; u B)", "(t A; u A)", False),
        ("(t A; u B)", "(t A-b; u B)", False),
        ("t A WHERE A.x = 1", "t A-b WHERE A.x = 1", False),
        ("(A; B) WHERE (A, B) OCCURS WITHIN 5 s", "(A; B) WHERE (A, B) OCCURS WITHIN 6 s", False),
        ("SELECT A.x FROM t A", "SELECT A.x AS x FROM t A", False),
    ],
)
def test_what_is_the_same_up_to_constants(one: str, other: str, similar: bool) -> None:
    alike = AlikeStatements()
    read_from(one, 1, alike)
    expected, errors, _ = parse_from(other, 1)
    found, found_errors, _ = read_from(other, 1, alike)
    assert [str(error) for error in found_errors] == [str(error) for error in errors]
    [query], whole = found or [None], expected[0] if expected else None
    assert (isinstance(query, Instance) and "0" in query.values) is similar
    if isinstance(query, Instance):
        assert query.query == whole


@needs("conformance")
@pytest.mark.drawn
def test_an_instance_is_what_parsing_in_full_gives() -> None:
    dice = seeded("eql instances")
    with (SHARED / "conformance" / "pattern-eql.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            similar = AlikeStatements()
            text = json.loads(line)["queries"]
            for again in (text, *(mutated(text, dice) for _ in range(times(4)))):
                expected, errors, _ = parse_from(again, 1)
                found, found_errors, _ = read_from(again, 1, similar)
                assert [str(error) for error in found_errors] == [str(error) for error in errors]
                for one, whole in zip(found, expected, strict=True):
                    if isinstance(one, Instance):
                        assert one.query == whole
                        bound, wrong = one.prepared.bind(one.values, one.name)
                        assert not wrong
                        assert without_places(bound) == without_places(whole)
                    else:
                        assert one == whole
