"""What the pattern stage gets of a pattern's text: components, conjuncts, tests, constants."""

from __future__ import annotations

import pytest

from xscl.language import parse
from xscl.pattern_stage import pattern as stage
from xscl.pattern_stage.pattern import Component, Strategy
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Attribute,
    Comparison,
    Constant,
    Index,
    Length,
    Negative,
    Read,
    Term,
)
from xscl.patterns.compile import CompiledPattern, compile_pattern


def compiled(text: str) -> CompiledPattern:
    [query], errors = parse(text)
    assert not errors, errors[0]
    return compile_pattern(query)


def test_components_have_names_and_distinct_types() -> None:
    made = compiled("PATTERN SEQ(A, ! ANY('B', B, B//x[y = 1]) z, C+ c) WITHIN 2 s OUTPUT ALL")
    assert made.pattern.components == (
        Component("_1"),
        Component("z", types=2, negated=True, any=True),
        Component("c", kleene=True),
    )
    assert [[one.stream.text for one in some] for some in made.blocks] == [["A"], ["B", "B"], ["C"]]
    assert made.pattern.within == 2_000_000
    assert not made.pattern.non_overlapping
    assert made.level is None


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("EVENT A a", Strategy.SKIP_TILL_ANY_MATCH),
        ("PATTERN A a", Strategy.SKIP_TILL_NEXT_MATCH),
        ("PATTERN A a WHERE strict-contiguity", Strategy.STRICT_CONTIGUITY),
        ("PATTERN A a WHERE partition_contiguity {[x]}", Strategy.PARTITION_CONTIGUITY),
    ],
)
def test_strategies(text: str, strategy: Strategy) -> None:
    assert compiled(text).pattern.strategy is strategy


X, Y = Attribute(("x",)), Attribute(("y",))


@pytest.mark.parametrize(
    ("value", "term", "constants"),
    [
        ("a.x", Read(0, X), ()),
        ("a", Read(0, Attribute()), ()),
        ("a.x/y/@z", Read(0, Attribute(("x", "y"), "z")), ()),
        ("a.@z", Read(0, Attribute((), "z")), ()),
        ("a.timestamp", Read(0, Attribute(own="timestamp")), ()),
        ("a.'timestamp'", Read(0, Attribute(("timestamp",))), ()),
        ("a.timestamp/x", Read(0, Attribute(("timestamp", "x"))), ()),
        ("a.document", Read(0, Attribute(own="document")), ()),
        ("b[1].x", Read(1, X, Index.FIRST), ()),
        ("b[ i ].x", Read(1, X, Index.EACH), ()),
        ("b[i - 1].x", Read(1, X, Index.PREVIOUS), ()),
        ("b[b.len].x", Read(1, X, Index.LAST), ()),
        ("b.Len", Length(1), ()),
        ("avg(b[].x)", Aggregate("avg", 1, X), ()),
        ("COUNT(b[..i-1])", Aggregate("count", 1, None, previous=True), ()),
        ("min(b[i-1].x)", Aggregate("min", 1, X, previous=True), ()),
        ("- 3", Negative(Constant(0, number=True)), (3.0,)),
        ("80%", Constant(0, number=True), (0.8,)),
        ("'80'", Constant(0, number=False), ("80",)),
    ],
)
def test_values(value: str, term: Term, constants: tuple[str | float, ...]) -> None:
    made = compiled(f"PATTERN SEQ(A a, B+ b[]) WHERE a.y < {value}")
    assert made.pattern.conjuncts == ((Comparison.of("<", Read(0, Y), term),),)
    assert made.constants == constants


def test_per_cent_and_the_remainder() -> None:
    made = compiled("EVENT A a WHERE 7%2*a.x = 80%*a.x AND a.x %5 = 1 AND a.x% 5 = 2")
    assert made.constants == (7.0, 2.0, 0.8, 5.0, 1.0, 5.0, 2.0)
    assert repr(made.pattern).count("operator='%'") == 3


def test_a_bare_attribute_is_of_the_only_component() -> None:
    [[one]] = compiled("EVENT A WHERE price-1 > @k/2").pattern.conjuncts
    assert one.left == Read(0, Attribute(("price-1",)))
    [[one]] = compiled("EVENT A WHERE b/c = @k").pattern.conjuncts
    assert (one.left, one.right) == (
        Read(0, Attribute(("b", "c"))),
        Read(0, Attribute((), "k")),
    )


def test_the_condition_is_brought_into_conjunctive_normal_form() -> None:
    made = compiled(
        "EVENT SEQ(A a, B b) WHERE [x, y = 'c'] AND "
        "((a.p = 1 AND a.q = 2) OR (b.p = 3 AND b.q = 4)) AND a.x = b.x"
    )
    assert made.pattern.tests == (stage.Test(X), stage.Test(Y, Constant(0, number=False)))
    read = [
        [(one.left.component, one.left.attribute.steps[0]) for one in some]  # type: ignore[union-attr]
        for some in made.pattern.conjuncts
    ]
    assert read == [
        [(0, "p"), (1, "p")],
        [(0, "p"), (1, "q")],
        [(0, "q"), (1, "p")],
        [(0, "q"), (1, "q")],
        [(0, "x")],
    ]


def test_too_many_conjuncts_are_refused() -> None:
    some = " OR ".join(["(a.x = 1 AND a.y = 2)"] * 10)
    _, [error] = parse(f"EVENT A a WHERE {some}")
    assert "1,000 conjuncts" in str(error)
