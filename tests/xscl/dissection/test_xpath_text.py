"""Filters as users write them, against the same conditions asked of libxml2 directly."""

from __future__ import annotations

import elementpath
import pytest
from elementpath.collations import UNICODE_CODEPOINT_COLLATION
from elementpath.xpath3 import XPath3Parser
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from tests.xpath_stage.drawing import URI, documents
from xscl.dissection.xpath_text import filters_of, path_expression
from xscl.language import parse
from xscl.language.conditions import is_number
from xscl.language.syntax import Block, Step
from xscl.xpath_stage import parse as parse_document
from xscl.xpath_stage.filters import FilterTests
from xscl.xpath_stage.work import Work


def step(path: str) -> Step:
    """The last step of a block's path."""
    (query,), errors = parse(f"DECLARE NAMESPACE p = '{URI}'; S{path}")
    assert not errors
    assert isinstance(query.source, Block)
    return query.source.steps[-1]


# Random conditions, written equally in XSCL and in XPath 1.0.

names = st.sampled_from(["a", "b", "c", "p:a", "*"])
attributes = st.sampled_from(["@k", "@m", "@p:k", "@*"])
paths = st.one_of(
    names,
    attributes,
    st.just("."),
    st.builds("./{}".format, names),
    st.builds(".//{}".format, names | attributes),
    st.builds("{}/{}".format, names, names | attributes),
    st.builds("{}[{}]/{}".format, names, st.sampled_from(["1", "@k", "last()", "b"]), names),
)
strings = st.sampled_from(["'1'", "''", '"2"', "'x<'"])
numbers = st.sampled_from(["0", "1", "2", "1.5", ".5"])
texts = st.one_of(
    paths,
    strings,
    st.builds("string({})".format, paths),
    st.builds("normalize-space({})".format, paths),
    st.builds("substring-before({}, {})".format, paths, strings),
)
values = st.deferred(
    lambda: st.one_of(
        paths,
        numbers,
        strings,
        st.builds("count({})".format, paths),
        st.builds("number({})".format, paths),
        st.builds("string-length({})".format, texts),
        st.builds(
            "({} {} {})".format, values, st.sampled_from(["+", "-", "*", "div", "mod"]), values
        ),
        st.builds("{} {} {}".format, numbers, st.sampled_from(["+", "-", "div"]), numbers),
        st.builds("- {}".format, numbers),
    )
)
operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
conditions = st.recursive(
    st.one_of(
        paths,
        st.builds("{} {} {}".format, values, operators, values),
        st.builds("contains({}, {})".format, texts, strings),
        st.builds("starts-with({}, {})".format, texts, texts),
    ),
    lambda inner: st.one_of(
        st.builds("not({})".format, inner),
        st.builds("{} and {}".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
        st.builds("({} or {}) and {}".format, inner, inner, inner),
    ),
    max_leaves=4,
)
filters = st.lists(
    st.one_of(
        conditions, conditions, st.sampled_from(["1", "2", "last()", "last() - 1", "count(b)"])
    ),
    min_size=1,
    max_size=3,
)


@given(st.sampled_from(["a", "*", "b"]), filters, documents)
@drawn(150)
def test_what_a_filter_selects(name: str, asked: list[str], text: str) -> None:
    path = f"//{name}" + "".join(f"[{condition}]" for condition in asked)
    root = parse_document(text)
    expected = root.getroottree().xpath(path, namespaces={"p": URI})
    written = step(path)
    tests = FilterTests(Work())
    selected = [
        element
        for element in root.iter("*" if name == "*" else name)
        if all(
            tests.holds(filter, element, None) for filter in filters_of(written, written.filters)
        )
    ]
    assert selected == expected


# The functions that XPath 1.0 has not, among those that it has: judged by elementpath's XPath 3.1
# in compatibility mode, whose rules for arguments and comparisons are those of XPath 1.0.

later_texts = st.one_of(
    texts,
    st.builds("lower-case({})".format, texts),
    st.builds("upper-case({})".format, texts),
    st.builds("normalize-space(lower-case({}))".format, paths),
    st.builds("substring-after({}, {})".format, texts, strings),
)
patterns = st.sampled_from(["'1'", "'^$'", "'^[0-9]+$'", "'x|1'", "'^.{2,}$'"])
later_conditions = st.recursive(
    st.one_of(
        st.builds("ends-with({}, {})".format, later_texts, later_texts),
        st.builds("matches({}, {})".format, later_texts, patterns),
        st.builds("exists({})".format, paths),
        st.builds("empty({})".format, paths),
        st.builds("{} {} {}".format, later_texts, st.sampled_from(["=", "!="]), later_texts),
        st.builds("string-length({}) {} {}".format, later_texts, operators, numbers),
        st.builds("count({}) {} {}".format, paths, operators, numbers),
        st.builds("contains({}, {})".format, later_texts, strings),
    ),
    lambda inner: st.one_of(
        st.builds("not({})".format, inner),
        st.builds("{} and {}".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("exists(b[{}])".format, inner),
    ),
    max_leaves=3,
)


@given(later_conditions, documents)
@example("ends-with(.//a, .)", "<a><b><a>1</a></b><a/></a>")
@drawn(150)
def test_what_later_functions_say(condition: str, text: str) -> None:
    root = parse_document(text)
    written = step(f"//*[{condition}]")
    (filter,) = filters_of(written, written.filters)
    # elementpath loses the text behind a comment.
    parser = etree.XMLParser(remove_comments=True, remove_pis=True)
    plain = etree.fromstring(text, parser)
    # After `//` it gives nodes in another order than the document's; after these axes it does not.
    axes = condition.replace("//@", "/descendant-or-self::*/@").replace("//", "/descendant::")
    tests = FilterTests(Work())
    for element, same in zip(root.iter("*"), plain.iter("*"), strict=True):
        judged = elementpath.select(
            plain.getroottree(),
            f"boolean({axes})",
            namespaces={"p": URI},
            parser=XPath3Parser,
            default_collation=UNICODE_CODEPOINT_COLLATION,
            compatibility_mode=True,
            item=same,
        )
        assert tests.holds(filter, element, None) == judged, condition


@pytest.mark.parametrize(
    ("condition", "expression"),
    [
        ("b", "b"),
        ("./b", "./b"),
        (".//b/@k", ".//b/@k"),
        ("b='x'", "b = 'x'"),
        ('b = "it\'s"', 'b = "it\'s"'),
        ("b = 'it''s'", 'b = "it\'s"'),
        ("b = 'a''b\"c'", "b = concat('a', \"'\", 'b\"c')"),
        ("a and (b or c)", "a and (b or c)"),
        ("(a and b) or c", "a and b or c"),
        ("a = (b = c)", "a = (b = c)"),
        ("1 - (2 - 3) = 2", "1 - (2 - 3) = 2"),
        ("b > 007.50", "b > 7.5"),
        ("p:b", "n0:b"),
        ("*:b", "*[local-name() = 'b']"),
        ("@*:b", "@*[local-name() = 'b']"),
        ("'dc creator'", "'dc creator'"),
        ("./'dc creator'", "./n0:k64632063726561746f72"),
        ("text() = 'x'", "text() = 'x'"),
    ],
)
def test_conditions_as_xpath(condition: str, expression: str) -> None:
    written = step(f"//a[{condition}]")
    (filter,) = filters_of(written, written.filters)
    assert (filter.expression, filter.positional) == (expression, False)
    etree.XPath(filter.expression, namespaces=dict(filter.namespaces))


def test_equal_conditions_are_one_filter_however_written() -> None:
    one, other = step("//a[b='x'][@k]"), step('//a[ @k ][ b = "x" ]')
    assert filters_of(one, one.filters) == filters_of(other, other.filters)


@pytest.mark.parametrize(
    ("path", "expressions"),
    [
        ("//a[1]", [("a[1]", True)]),
        ("//a[b][2]", [("a[b][2]", True)]),
        ("//a[2][b]", [("a[2]", True), ("b", False)]),
        ("//p:a[last()]", [("n0:a[last()]", True)]),
        ("//*:a[1]", [("*[local-name() = 'a'][1]", True)]),
        ("//a[count(b)]", [("a[count(b)]", True)]),
        ("//a[b = last()]", [("a[b = last()]", True)]),
        ("//a[b[last()]]", [("b[last()]", False)]),
        ("//a[count(b) = 1]", [("count(b) = 1", False)]),
    ],
)
def test_positions_take_the_conditions_before_them_along(
    path: str, expressions: list[tuple[str, bool]]
) -> None:
    written = step(path)
    found = filters_of(written, written.filters)
    assert [(filter.expression, filter.positional) for filter in found] == expressions


@pytest.mark.parametrize(
    ("condition", "number"),
    [("1", True), ("-1", True), ("count(b)", True), ("1 + b", True), ("b", False), ("'1'", False)],
)
def test_what_is_a_position(condition: str, number: bool) -> None:
    assert is_number(step(f"//a[{condition}]").filters[0]) == number


def test_a_path_of_steps() -> None:
    expression, namespaces = path_expression(step("//a[b/p:c//@k]").filters[0].steps)  # type: ignore[union-attr]
    assert (expression, namespaces) == ("b/n0:c//@k", {"n0": URI})
