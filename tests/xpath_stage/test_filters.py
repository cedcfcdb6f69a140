"""Filters on nodes: what holds is what XPath says of the element or attribute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from tests.xpath_stage.drawing import (
    ATTRIBUTE_POSITIONS,
    CONDITIONS,
    ON_ATTRIBUTES,
    POSITIONS,
    PREFIXES,
    URI,
    documents,
)
from xscl.xpath_stage import Filter, parse
from xscl.xpath_stage.filters import FilterTests, plain
from xscl.xpath_stage.work import Work


@given(documents)
@drawn(60)
def test_conditions_hold_where_xpath_selects(text: str) -> None:
    root = parse(text)
    tests = FilterTests(Work())
    for condition in CONDITIONS:
        holding = root.getroottree().xpath(f"//*[{condition}]", namespaces=dict(PREFIXES))
        for element in root.iter("*"):
            retained = tests.holds(Filter(condition, PREFIXES), element, None)
            assert retained == (element in holding), condition


_VALUES = st.sampled_from(
    [
        "",
        " ",
        "0",
        "1",
        "01",
        "1.0",
        " 1 ",
        "-1",
        "- 1",
        "+1",
        "1e0",
        ".5",
        "1.",
        "x",
        "é",
        "NaN",
        "1 2",
    ]
)


@given(
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(["'1'", "''", "'x'", '"1"', "1", "0.5", "-1", "1.0", "01"]),
    st.lists(_VALUES, max_size=3),
)
@drawn(300)
def test_a_plain_comparison_holds_where_xpath_says_so(
    sign: str, constant: str, values: list[str]
) -> None:
    root = etree.Element("r")
    for value in values:
        etree.SubElement(root, "v").text = value
    compared = plain(Filter(f"v {sign} {constant}"))
    if constant[0] in "'\"" and sign not in ("=", "!="):
        assert compared is None
        return
    assert compared is not None
    assert compared == plain(Filter(f"./v {sign} {constant}"))
    assert compared.holds(values) == root.xpath(f"boolean(v {sign} {constant})")


@pytest.mark.parametrize(
    "condition",
    [
        "@v = '1'",
        "v",
        "p:v = '1'",
        "v = w",
        "v = '1' and w",
        "not(v = '1')",
        "v[1] = '1'",
        "v + 1 = 2",
    ],
)
def test_what_is_more_than_a_plain_comparison(condition: str) -> None:
    assert plain(Filter(condition, PREFIXES)) is None
    assert plain(Filter("v = '1'", positional=True)) is None


@given(documents)
@drawn(60)
def test_conditions_hold_at_attributes(text: str) -> None:
    root = parse(text)
    tests = FilterTests(Work())
    for condition in ON_ATTRIBUTES:
        for element in root.iter("*"):
            holding = {a.attrname for a in element.xpath(f"@*[{condition}]")}
            for name in element.keys():  # noqa: SIM118 - an element is no dict
                assert tests.holds(Filter(condition), element, name) == (name in holding)


@given(documents)
@drawn(60)
def test_positions_count_among_siblings(text: str) -> None:
    root = parse(text)
    tests = FilterTests(Work())
    for step in ("a", "*", "p:a", "b[@k]"):
        for position in POSITIONS:
            expression = f"{step}[{position}]"
            filter = Filter(expression, PREFIXES, positional=True)
            selected = root.getroottree().xpath(f"//{expression}", namespaces=dict(PREFIXES))
            for element in root.iter("*"):
                assert tests.holds(filter, element, None) == (element in selected), expression


@given(documents)
@drawn(60)
def test_positions_count_among_attributes(text: str) -> None:
    root = parse(text)
    tests = FilterTests(Work())
    for position in ATTRIBUTE_POSITIONS:
        expression = f"@*[{position}]"
        filter = Filter(expression, positional=True)
        for element in root.iter("*"):
            selected = {a.attrname for a in element.xpath(expression)}
            for name in element.keys():  # noqa: SIM118 - an element is no dict
                assert tests.holds(filter, element, name) == (name in selected)


def test_prefixes_are_those_of_the_filter_not_of_the_document() -> None:
    root = parse(f'<a xmlns:q="{URI}"><q:a/></a>')
    assert FilterTests(Work()).holds(Filter("p:a", PREFIXES), root, None)
    assert not FilterTests(Work()).holds(Filter("p:a", (("p", "urn:v"),)), root, None)


def test_an_attribute_in_a_namespace() -> None:
    root = parse(f'<a xmlns:q="{URI}" q:k="1" k="2"/>')
    one = Filter(". = '1'")
    assert FilterTests(Work()).holds(one, root, f"{{{URI}}}k")
    assert not FilterTests(Work()).holds(one, root, "k")


def test_the_root_is_the_first_of_the_document() -> None:
    root = parse("<!--x--><a/>")
    for expression, holds in [("a[1]", True), ("*[last()]", True), ("a[2]", False)]:
        filter = Filter(expression, positional=True)
        assert FilterTests(Work()).holds(filter, root, None) == holds


def test_a_filter_that_is_no_xpath_says_so() -> None:
    with pytest.raises(etree.XPathError):
        FilterTests(Work()).holds(Filter("b["), parse("<a/>"), None)
