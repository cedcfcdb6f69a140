"""The functions of filters that XPath 1.0 has not, judged by elementpath's XPath 3.1."""

from __future__ import annotations

import elementpath
import pytest
from elementpath.collations import UNICODE_CODEPOINT_COLLATION
from elementpath.xpath3 import XPath3Parser
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.oracle.nested_loops import compare_strings
from xscl.xpath_stage import Filter, compared
from xscl.xpath_stage.filters import FilterTests
from xscl.xpath_stage.work import Work

LETTERS = "abAB1 .éÉß"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=4)


def document(texts: list[str], attribute: str) -> etree._Element:
    root = etree.Element("r", k=attribute)
    for text in texts:
        etree.SubElement(root, "b").text = text
    return root


DOCUMENTS = st.builds(document, st.lists(TEXTS, max_size=2), TEXTS)
# What a function takes, and the same where no first node is taken unasked.
ARGUMENTS = st.sampled_from(
    [
        ("b", "string(b[1])"),
        (".", "string(.)"),
        ("@k", "string(@k)"),
        ("c", "''"),
        ("b[2]", "string(b[2])"),
        (".//b", "string((.//b)[1])"),
    ]
)


def literal(text: str) -> str:
    return f"'{text}'"


def agree(root: etree._Element, condition: str, expected: str) -> None:
    retained = FilterTests(Work()).holds(Filter(condition), root, None)
    judged = elementpath.select(
        root,
        f"boolean({expected})",
        parser=XPath3Parser,
        default_collation=UNICODE_CODEPOINT_COLLATION,
    )
    assert retained == judged, (condition, etree.tostring(root))


@given(DOCUMENTS, ARGUMENTS, TEXTS | st.sampled_from(["", "a", "b"]))
def test_ends_with(root: etree._Element, argument: tuple[str, str], end: str) -> None:
    ours, theirs = argument
    agree(root, f"ends-with({ours}, {literal(end)})", f"ends-with({theirs}, {literal(end)})")


@given(DOCUMENTS, ARGUMENTS, ARGUMENTS)
def test_ends_with_a_path(
    root: etree._Element, argument: tuple[str, str], end: tuple[str, str]
) -> None:
    agree(root, f"ends-with({argument[0]}, {end[0]})", f"ends-with({argument[1]}, {end[1]})")


@given(DOCUMENTS, ARGUMENTS, st.sampled_from(["lower-case", "upper-case"]))
def test_cases(root: etree._Element, argument: tuple[str, str], function: str) -> None:
    ours, theirs = (f"{function}({one})" for one in argument)
    said = elementpath.select(
        root, theirs, parser=XPath3Parser, default_collation=UNICODE_CODEPOINT_COLLATION
    )
    agree(root, f"{ours} = {literal(said)}", f"{theirs} = {literal(said)}")
    agree(root, f"{ours} = string(.)", f"{theirs} = string(.)")
    agree(root, f"string-length({ours}) > 2", f"string-length({theirs}) > 2")
    agree(root, f"contains({ours}, 'A')", f"contains({theirs}, 'A')")


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "A", "1", ".", "[ab]", "[^a]", "[a-c1]", r"\.", r"\d", "é", "x?"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("({})*".format, inner),
        st.builds("({})+".format, inner),
        st.builds("({}){{1,2}}".format, inner),
        st.builds("^{}".format, inner),
        st.builds("{}$".format, inner),
        st.builds("^{}$".format, inner),
    ),
    max_leaves=4,
)


@given(DOCUMENTS, ARGUMENTS, PATTERNS)
@settings(deadline=None)
def test_matches(root: etree._Element, argument: tuple[str, str], pattern: str) -> None:
    ours, theirs = argument
    try:
        elementpath.select(
            root,
            f"matches('', {literal(pattern)})",
            parser=XPath3Parser,
            default_collation=UNICODE_CODEPOINT_COLLATION,
        )
    except elementpath.ElementPathError:
        assume(False)
    agree(root, f"matches({ours}, {literal(pattern)})", f"matches({theirs}, {literal(pattern)})")


def test_patterns_take_linear_time() -> None:
    root = document(["a" * 5000 + "!"], "")
    retained = FilterTests(Work()).holds(Filter("matches(b, '^(a|a)*(a*)*$')"), root, None)
    assert not retained


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("ends-with(1.50, '.5')", True),
        ("ends-with(1 = 1, 'true')", True),
        ("lower-case(1 = 2) = 'false'", True),
        ("ends-with(1 div 0, 'Infinity')", True),
        ("ends-with(number('x'), 'NaN')", True),
        ("lower-case(100000) = '100000'", True),
        ("matches(12, '^12$')", True),
        ("ends-with(b, '')", True),
        ("matches(c, '^$')", True),
        ("upper-case(b) = 'ÉSS'", True),
    ],
)
def test_what_is_no_string_is_made_one(condition: str, holds: bool) -> None:
    root = document(["éß"], "")
    assert FilterTests(Work()).holds(Filter(condition), root, None) == holds


# `compare`: a join's comparison with a constant.

VALUES = st.sampled_from(
    ["", "1", "01", "1.0", "9", "10", "9a", " 9 ", "NaN", "INF", "-INF", "1e1", "x", "X", "é"]
)
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@given(VALUES, OPERATORS, VALUES)
def test_comparisons_are_those_of_joins(left: str, operator: str, right: str) -> None:
    expected = compare_strings(left, operator, right)
    assert compared(left, operator, right) == expected
    root = document([left], "")
    condition = f"compare(b, '', '{operator}', '{right}')"
    assert FilterTests(Work()).holds(Filter(condition), root, None) == expected


@given(OPERATORS, VALUES | st.none())
def test_nan_equals_nothing_and_is_in_no_order(operator: str, other: str | None) -> None:
    assert compared(None, operator, other) == (operator == "!=")
    assert compared(other, operator, None) == (operator == "!=")
