"""JSON documents as trees, against another way to say what they are; names; numbers."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.drawn import drawn
from xscl.xpath_stage import (
    MalformedDocument,
    decode_name,
    encode_name,
    json_tree,
    json_value,
    json_values,
    number_text,
    string_value,
)
from xscl.xpath_stage.parsing.json_shapes import are_flat, read_exactly

# The oracle: a tree is (name, text, children, value); of names and numbers only simple ones.

Tree = tuple[str, str, list[Any], Any]


def tree_of(name: str, value: Any) -> Tree:
    children: list[Tree] = []
    text = ""
    if isinstance(value, dict):
        for key, member in value.items():
            members = member if isinstance(member, list) else [member]
            children += [tree_of(key, one) for one in members]
    elif isinstance(value, list):
        children = [tree_of("item", one) for one in value]
    elif isinstance(value, str):
        text = value
    elif value is not None:
        text = json.dumps(value)
    return name, text, children, value


def in_order(tree: Tree) -> Iterator[Tree]:
    yield tree
    for child in tree[2]:
        yield from in_order(child)


def tree_from(element: etree._Element, values: Iterator[object]) -> Tree:
    """What an element says, with the original values in document order."""
    value = next(values)
    key = decode_name(element.tag)
    children = [tree_from(child, values) for child in element]
    return element.tag if key is None else key, element.text or "", children, value


KEYS = ["a", "b", "item", "json", "dc creator", "1st", "", "a:b", "{u}a", "@k", "*", "é", "\x7f"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.sampled_from([0.5, -2.25, 1e-3])
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES)
@example([])
@example({"a": []})
@example({"a": [[], [[1]], {"a": None}]})
@example({"a": "\r\n\t x "})
def test_a_value_is_a_tree(value: Any) -> None:
    root = json_tree(value)
    values = iter(json_values(value))
    assert tree_from(root, values) == tree_of("json", value)
    assert next(values, "no more") == "no more"


@given(VALUES)
def test_values_keep_their_types(value: Any) -> None:
    """True is not 1, and 1.0 is not 1."""
    wanted = [tree[3] for tree in in_order(tree_of("json", value))]
    assert [repr(found) for found in json_values(value)] == [repr(one) for one in wanted]


def is_text_of_xml(key: str) -> bool:
    """Whether an XML document can hold a text, as lxml judges it."""
    try:
        etree.Element("a").text = key
    except ValueError:
        return False
    return True


@given(st.text(st.characters(), max_size=3) | st.characters(max_codepoint=0x20))
@example("\ud800")
@example("\uffff")
@example("a\x1f")
def test_a_key_is_a_text_of_xml(key: str) -> None:
    if is_text_of_xml(key):
        assert len(json_tree({key: 1})) == 1
    else:
        with pytest.raises(MalformedDocument, match=r"a key holds U\+"):
            json_tree([{key: 1}])


@given(st.text().filter(is_text_of_xml))
def test_every_key_comes_back(key: str) -> None:
    tag = encode_name(key)
    assert etree.Element(tag).tag == tag
    assert (tag if decode_name(tag) is None else decode_name(tag)) == key


@given(st.text(st.sampled_from("ab1-._:é \u0300{}@*'"), max_size=3))
def test_keys_that_are_names_are_their_own_tags(key: str) -> None:
    """libxml2 judges what is a name; a colon would be a prefix."""
    try:
        named = etree.fromstring(f"<{key}/>".encode()).tag == key and ":" not in key
    except etree.XMLSyntaxError:
        named = False
    assert (encode_name(key) == key) == named


@given(st.lists(st.text(max_size=3).filter(is_text_of_xml), min_size=2, max_size=6, unique=True))
def test_different_keys_have_different_tags(keys: list[str]) -> None:
    assert len({encode_name(key) for key in keys}) == len(keys)


JAVASCRIPT = [
    (0.0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (-1.0, "-1"),
    (1.5, "1.5"),
    (100.0, "100"),
    (1e2, "100"),
    (0.1, "0.1"),
    (0.1 + 0.2, "0.30000000000000004"),
    (-0.5, "-0.5"),
    (123456789.125, "123456789.125"),
    (1e15, "1000000000000000"),
    (1e16, "10000000000000000"),
    (1.2e20, "120000000000000000000"),
    (123456789012345680000.0, "123456789012345680000"),
    (999999999999999900000.0, "999999999999999900000"),
    (1e21, "1e+21"),
    (-1e21, "-1e+21"),
    (1.5e21, "1.5e+21"),
    (1.2345e25, "1.2345e+25"),
    (1e100, "1e+100"),
    (1e-6, "0.000001"),
    (1.5e-6, "0.0000015"),
    (1e-7, "1e-7"),
    (-1e-7, "-1e-7"),
    (1.23e-7, "1.23e-7"),
    (9.99e-7, "9.99e-7"),
    (0.000001234, "0.000001234"),
    (1e-10, "1e-10"),
    (5e-324, "5e-324"),
    (2.2250738585072014e-308, "2.2250738585072014e-308"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (9007199254740992.0, "9007199254740992"),
    (9007199254740994.0, "9007199254740994"),
    (4.35, "4.35"),
    (1 / 3, "0.3333333333333333"),
    (2 / 3, "0.6666666666666666"),
    (1e23, "1e+23"),
    (float("inf"), "Infinity"),
    (float("-inf"), "-Infinity"),
    (float("nan"), "NaN"),
]


@pytest.mark.parametrize(("number", "text"), JAVASCRIPT)
def test_numbers_as_javascript_prints_them(number: float, text: str) -> None:
    """What `String(x)` says in JavaScript."""
    assert number_text(number) == text


@given(st.floats())
def test_printed_numbers_are_the_same_numbers(number: float) -> None:
    text = number_text(number)
    found = float(text)
    assert found == number or (math.isnan(found) and math.isnan(number))
    assert len(text.lstrip("-")) <= 25


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (None, ""),
        ("", ""),
        (" x\n", " x\n"),
        (9007199254740993, "9007199254740993"),
        (-(10**40), "-1" + "0" * 40),
        (json.loads("1.50"), "1.5"),
        (json.loads("1e2"), "100"),
        (json.loads("10.0"), "10"),
        (json.loads("-0.0"), "0"),
    ],
)
def test_scalars_are_text(value: object, text: str) -> None:
    assert string_value(json_tree({"a": value})) == text
    assert string_value(json_tree(value)) == text
    assert string_value(json_tree(["x", value])) == f"x{text}"


def nested(levels: int, *, array: bool) -> object:
    """A value whose tree has so many levels."""
    value: object = "x"
    for _ in range(levels - 1):
        value = [value] if array else {"a": value}
    return value


@pytest.mark.parametrize("array", [True, False])
def test_as_deep_as_it_may_be(array: bool) -> None:
    assert string_value(json_tree(nested(256, array=array))) == "x"
    for levels in (257, 5000):
        with pytest.raises(MalformedDocument, match=r"it is deeper than 256 elements$"):
            json_tree(nested(levels, array=array))


def test_an_array_as_a_member_is_no_level() -> None:
    value: object = "x"
    for _ in range(255):
        value = {"a": [value]}
    assert string_value(json_tree(value)) == "x"
    with pytest.raises(MalformedDocument, match="deeper than 256"):
        json_tree({"a": [value]})


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("\x00", id="a zero character"),
        pytest.param({"a": "\x1b[0m"}, id="a control character"),
        pytest.param(["\ufffe"], id="no character"),
        pytest.param({"a": ["\ud800"]}, id="a lone surrogate"),
        pytest.param(object(), id="no JSON"),
        pytest.param({"a": {1, 2}}, id="a set"),
        pytest.param({"a": b"x"}, id="bytes"),
    ],
)
def test_what_is_no_document(value: object) -> None:
    with pytest.raises(MalformedDocument):
        json_tree(value)


@given(VALUES)
@example({"a": 1, "b": "x", "c": None, "d": True, "e": 1.5})
@example({"a": float("nan")})
@example({"a": "\0"})
@example({"a": "\ufffe"})
@example({1: "a"})
@example({"a": datetime.date(2026, 1, 1)})
@drawn(100)
def test_what_is_flat_has_a_tree(value: Any) -> None:
    if are_flat([{}, value, {"x": 1e308, "y": 1e308}]):
        assert len(json_tree(value)) == len(value)
    elif isinstance(value, dict) and not any(
        isinstance(one, dict | list) for one in value.values()
    ):
        with pytest.raises(MalformedDocument):
            json_tree(value)


@pytest.mark.parametrize(
    "text", [b'{"a": 123456789012345678901}', b'[1.5, {"b": 2}]', b'"\\ud800"']
)
def test_a_text_says_what_pythons_own_reader_says(text: bytes) -> None:
    assert repr(json_value(text)) == repr(json.loads(text))


@given(
    st.recursive(
        st.integers() | st.integers(-(2**65), 2**65) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@example([{"a": [2**64]}])
@example({"a": -(2**63) - 1})
@example(1234567890123456789.5)
@example("12345678901234567890")
@drawn(60)
def test_what_is_read_fast_is_read_exactly(value: Any) -> None:
    text = json.dumps(value).encode()
    try:
        read = read_exactly(text)
    except ValueError:
        return
    assert repr(read) == repr(json.loads(text))
