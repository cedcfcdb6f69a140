"""Parameters in patterns, and patterns that are the same up to constants: the text is parsed
once."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.parameters import Prepared, bind, parameters
from xscl.language.read import read_from
from xscl.patterns.compile import compile_pattern

TEXT = "EVENT SEQ(A a, S//item[k = :k] b) WHERE [x = :x] AND a.p > 2 * :p WITHIN :w min"


def test_parameters_are_allowed_where_constants_are() -> None:
    [query], _ = parse(TEXT)
    assert list(parameters(query)) == ["k", "x", "p", "w"]
    bound, errors = bind(query, {"k": "u", "x": "v", "p": 3, "w": 5})
    assert not errors
    compiled = compile_pattern(bound)
    assert compiled.constants == ("v", 2.0, 3.0)
    assert compiled.pattern.within == 300_000_000
    plain = TEXT.replace(":k", "'u'").replace(":x", "'v'").replace(":p", "3").replace(":w", "5")
    [written], _ = parse(plain)
    assert compile_pattern(written).pattern == compiled.pattern


@pytest.mark.parametrize(
    ("value", "problem"),
    [(0, "longer than 0"), (0.0, "longer than 0"), (-1, "negative"), ("1", "found a string")],
)
def test_windows_that_are_none(value: object, problem: str) -> None:
    [query], _ = parse(TEXT)
    _, [error] = bind(query, {"k": "u", "x": "v", "p": 3, "w": value})
    assert problem in str(error)
    [join], _ = parse("S//a->x JOIN {x = y, :w min} S//b->y")
    assert bool(bind(join, {"w": value})[1]) == (problem != "longer than 0")


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        ("EVENT A a WHERE a.p %3 = 50%*2", "EVENT A a WHERE a.p %4 = 60%*.5", True),
        ("EVENT A a WHERE a.'x y' = 5", "EVENT A a WHERE a.'x y' = 6 -- six", True),
        ("EVENT A a WHERE [x = 'a']", "EVENT A a WHERE [x = 'it''s']", True),
        ("EVENT A a WHERE a.p = 5", "EVENT A a WHERE a.p = '5'", False),
        ("EVENT A a WHERE a.'x y' = 5", "EVENT A a WHERE a.'x z' = 5", False),
        ("EVENT 'A' a WHERE a.x = 5", "EVENT 'B' a WHERE a.x = 5", False),
        ("EVENT A a WHERE a.x = 1 WITHIN 5", "EVENT A a WHERE a.x = 1 WITHIN 5 h", False),
        ("PATTERN A+ a WHERE a[1].x = 1", "PATTERN A+ a WHERE a[i].x = 1", False),
        ("EVENT A a WHERE a.p = 5", "EVENT A a WHERE a.q = 5", False),
        ("EVENT A a WHERE a.p = 5", "EVENT A b WHERE b.p = 5", False),
    ],
)
def test_statements_that_are_the_same_up_to_constants(one: str, other: str, similar: bool) -> None:
    read, errors, _ = read_from(f"{one};\n{other}", 1, AlikeStatements())
    assert not errors
    second = read[1]
    assert isinstance(second, Instance) is similar
    if isinstance(second, Instance):
        bound, errors = second.prepared.bind(second.values)
        [written], _ = parse(other)
        assert not errors
        made, expected = compile_pattern(bound), compile_pattern(written)
        assert (made.pattern, made.constants) == (expected.pattern, expected.constants)


def test_rows_of_a_table_are_bound_without_parsing() -> None:
    [query], _ = parse("EVENT SEQ(A a, B b) WHERE a.p > :p AND b.q = :q")
    prepared = Prepared(query)
    assert prepared.constants == {"p": 1, "q": 1}
    made = [compile_pattern(prepared.bind({"p": at, "q": str(at)})[0]) for at in range(3)]
    assert [one.constants for one in made] == [(float(at), str(at)) for at in range(3)]
    assert len({one.pattern for one in made}) == 1
