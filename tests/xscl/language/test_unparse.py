"""What is printed of a query is the language, and reads as the tree that was printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.as_xscl import xscl_file
from tests.oracle.drawn_documents import NAMESPACES
from tests.oracle.drawn_queries import queries
from tests.oracle.terms import Query
from xscl.language import parse
from xscl.language.syntax import Block, Comparison, Join, Source, VariablePath
from xscl.language.unparse import Wording
from xscl.language.walk import operands

PREFIX = "DECLARE NAMESPACE p = 'urn:p'; "

CONDITIONS = [
    "b = - - 1",
    "b = -(-1)",
    "x - -1",
    "- - - x",
    "-(-(-x)) + - -2",
    "-(a - b)",
    "a - (b - c)",
    "not(- -1)",
    "b[- - 1 = c]",
    "contains( :p, 'a')",
    "( :p + 1) * 2 = b",
    "- :p = b",
    "a or (b or c)",
    "(a or b) or (c or (d and (e and f)))",
    "a and b and c and d and e",
    "b < 1000000000000000000000.5",
    "b > 0.00000000000000000000000001",
    "b = .5 and b != 007.",
    "./'dc creator'[.//'@type'/'*'/'{urn:p}a' = 'it''s']",
    "text() = '--' and . != '(: :)'",
    "or or and and div div mod mod last",
    "a-/b--[c- > 1]",
]
WITH_COMMENTS = ["@ (: a (: b :) :) p:k", "@ -- a remark\n k = *:b/p:c"]


@given(queries("xml") | queries("json"))
@drawn(150, suppress_health_check=list(HealthCheck))
def test_a_block(drawn: Query) -> None:
    text = xscl_file({"q": drawn}, NAMESPACES)
    note(text)
    for block in blocks(source(text)):
        printed = Wording(text).block(block)
        note(printed)
        assert tree(source(PREFIX + printed)) == tree(block)


@pytest.mark.parametrize("condition", [*CONDITIONS, *WITH_COMMENTS])
@pytest.mark.parametrize("around", ["S//a[ {}]", "S//*[a->x][b[not(c[ {}])]]"])
def test_a_filter(around: str, condition: str) -> None:
    assert_printed_block(around.format(condition))


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(
    "around",
    [
        "S//a->v JOIN {{v/c[{}] = w}} S//b->w",
        "S//a->v JOIN {{lower-case(v/c[{}]) = 'b'}} S//b->w",
        "SELECT v/c[{}] AS d FROM S//a->v",
        "SELECT <a>{{v/c[{}]}}</a> FROM S//a->v",
        'SELECT {{"c": v/c[{}]}} FROM S//a->v',
    ],
)
def test_a_path_in_a_predicate_and_in_select(around: str, condition: str) -> None:
    text = PREFIX + around.format(condition)
    (path,) = paths_of(text)
    printed = Wording(text).side(path)
    (again,) = paths_of(f"{PREFIX}SELECT {printed} FROM S//a->v")
    assert tree(again) == tree(path), printed


@pytest.mark.parametrize(
    "comparison",
    [
        "x = -1",
        "-0.5 < x",
        "x = -1000000000000000000000",
        "x = 0.0000001",
        "number( :p) = lower-case(normalize-space( :p))",
        ":p != x//'a b'[1]/@p:k",
        "inf/a = or'",
        "x = '--'",
    ],
)
def test_a_comparison(comparison: str) -> None:
    assert_printed_comparison(comparison)


def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(OPERATORS)
    return st.one_of(
        st.builds("{}{}{}{}{}".format, smaller, BLANKS, operators, BLANKS, smaller),
        st.builds("({}{}{}{}{}{})".format, BLANKS, smaller, BLANKS, operators, BLANKS, smaller),
        st.builds("-{}{}".format, BLANKS, smaller),
        st.builds("-({}{})".format, BLANKS, smaller),
        st.builds("not({}{})".format, BLANKS, smaller),
        st.builds("contains({}{}, {})".format, BLANKS, smaller, smaller),
        st.builds("{}[{}{}]".format, NAMES, BLANKS, smaller),
        st.builds("./'d e'[{}{}]//{}".format, BLANKS, smaller, NAMES),
    )


OPERATORS = ["or", "and", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "div", "mod"]
BLANKS = st.sampled_from([" ", "\n", "  ", " (: a :) ", " -- b\n"])
NAMES = st.sampled_from(["a", "b-", "c--", "or", "div", "x1", "not", "text", "p:a", "*:b", "*"])
STEPS = NAMES | NAMES.map("@{}".format) | st.sampled_from([".", "text()"])
NUMBERS = (
    st.floats(0, allow_nan=False, allow_infinity=False).map("{:.400f}".format)
    | st.integers(0, 10**25).map(str)
    | st.sampled_from([".5", "7.", "0.0"])
)
STRINGS = st.text(st.sampled_from("a'\" -(:)[]{}*;\n"), max_size=6).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
EXPRESSIONS = st.recursive(NUMBERS | STRINGS | STEPS | st.just(":p"), larger, max_leaves=12)
CONSTANTS = NUMBERS | NUMBERS.map("-{}".format) | STRINGS | st.just(":p")


@given(EXPRESSIONS)
@drawn(300)
def test_drawn_filters(condition: str) -> None:
    assert_printed_block(f"S//a[ {condition}]")


@given(EXPRESSIONS, CONSTANTS, CONSTANTS)
@drawn(150)
def test_drawn_comparisons(condition: str, one: str, other: str) -> None:
    assert_printed_comparison(f"x/a[ {condition}] < lower-case( {one})")
    assert_printed_comparison(f"number( {one}) = {other}")


def assert_printed_block(block: str) -> None:
    text = PREFIX + block
    (read,) = blocks(source(text))
    printed = Wording(text).block(read)
    assert tree(source(PREFIX + printed)) == tree(read), printed


def assert_printed_comparison(written: str) -> None:
    around = f"{PREFIX}S//a->x[inf->inf] JOIN {{{{ {{}}}}}} S//b->or'"
    text = around.format(written)
    comparison = predicate(text)
    printed = Wording(text).comparison(comparison)
    assert tree(predicate(around.format(printed))) == tree(comparison), printed


def source(text: str) -> Source:
    (query,), errors = parse(text)
    assert not errors
    return query.source


def predicate(text: str) -> Comparison:
    join = source(text)
    assert isinstance(join, Join)
    assert isinstance(join.predicate, Comparison)
    return join.predicate


def blocks(whole: Source) -> list[Block]:
    return [operand for operand in operands(whole) if isinstance(operand, Block)]


def paths_of(text: str) -> list[VariablePath]:
    """The paths of a query's predicates and its SELECT that have steps."""
    (query,), errors = parse(text)
    assert not errors
    return [node for node in nodes(query) if isinstance(node, VariablePath) and node.steps]


def nodes(node: object) -> Iterator[object]:
    yield node
    for part in parts(node).values():
        yield from nodes(part)


def tree(node: object) -> object:
    """A tree without its places in the text."""
    below = {name: tree(part) for name, part in parts(node).items() if name != "at"}
    return (type(node), below) if below else node


def parts(node: object) -> dict[object, object]:
    if isinstance(node, tuple):
        return dict(enumerate(node))
    if is_dataclass(node):
        return {member.name: getattr(node, member.name) for member in fields(node)}
    return {}
