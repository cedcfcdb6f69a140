"""Functions on string values: casts to `xs:double`, and what may wrap a side of a comparison."""

from __future__ import annotations

import math
import string

import elementpath
import pytest
from elementpath.collations import UNICODE_CODEPOINT_COLLATION
from elementpath.xpath3 import XPath3Parser
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from xscl.xpath_stage import apply, double_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("-7", -7.0),
        ("+7", 7.0),
        ("007", 7.0),
        ("7.", 7.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("7.50", 7.5),
        ("1e3", 1000.0),
        ("1E3", 1000.0),
        ("1.5e-3", 0.0015),
        ("1e+3", 1000.0),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("1e-400", 0.0),
        ("INF", math.inf),
        ("+INF", math.inf),
        ("-INF", -math.inf),
        ("NaN", math.nan),
        (" 7 ", 7.0),
        ("\t\r\n7\n", 7.0),
        ("9007199254740993", 9007199254740992.0),
        ("", None),
        (" ", None),
        ("+", None),
        (".", None),
        ("e3", None),
        ("1e", None),
        ("1e1.5", None),
        ("1 2", None),
        ("1,5", None),
        ("1_000", None),
        ("- 7", None),
        ("--7", None),
        ("0x1F", None),
        ("inf", None),
        ("Infinity", None),
        ("nan", None),
        ("NAN", None),
        ("-NaN", None),
        ("+NaN", None),
        ("7 days", None),
        ("7d", None),
        ("true", None),
        ("\u00a07", None),
        ("７", None),
        ("٣", None),
        ("½", None),
        ("²", None),
        ("1\x00", None),
    ],
)
def test_casts_to_double(text: str, value: float | None) -> None:
    """The lexical forms of `xs:double`, white space around them collapsed."""
    found = double_of(text)
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert math.isnan(found) if math.isnan(value) else found == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_cast_as_it_is_written(number: float) -> None:
    assert double_of(repr(number)) == number


# Spaces of Unicode that are no white space of XML, letters whose cases are longer.
TEXTS = st.text(
    st.sampled_from(string.ascii_letters + " \t\r\n\xa0\u2003éÉßİıΣσ0.-+eIN"), max_size=8
)


def by_xpath(expression: str, text: str) -> object:
    root = etree.Element("a")
    root.text = text
    return elementpath.select(
        root, expression, parser=XPath3Parser, default_collation=UNICODE_CODEPOINT_COLLATION
    )


@given(TEXTS)
def test_spaces_are_normalised_as_libxml2_does(text: str) -> None:
    """elementpath takes the spaces of Unicode for white space, which they are not in XML."""
    root = etree.Element("a")
    root.text = text
    assert apply(["normalize-space"], text) == root.xpath("normalize-space(.)")


@given(st.text(st.sampled_from(string.ascii_letters + " éÉßΣσ7"), max_size=8))
def test_cases_are_lowered_as_xpath_does(text: str) -> None:
    assert apply(["lower-case"], text) == by_xpath("lower-case(.)", text)


@given(TEXTS | st.floats().map(repr) | st.integers().map(str) | st.decimals(places=3).map(str))
def test_numbers_are_those_that_are_castable(text: str) -> None:
    """What comes out is the same number, in one form; NaN equals nothing."""
    wanted = double_of(text)
    found = apply(["number"], text)
    if wanted is None or math.isnan(wanted):
        assert found is None
        assert not by_xpath("number(.) = number(.)", text) or wanted is None
    else:
        assert found is not None
        assert double_of(found) == wanted
        assert apply(["number"], found) == found


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_casts_of_xpath(number: float) -> None:
    assert by_xpath("number(.)", repr(number)) == double_of(repr(number))


@pytest.mark.parametrize(
    ("functions", "value", "result"),
    [
        ([], " X ", " X "),
        ([], "NaN", "NaN"),
        (["number"], "7.0", "7"),
        (["number"], " +07.50e0 ", "7.5"),
        (["number"], "-0", "0"),
        (["number"], "1e21", "1e+21"),
        (["number"], "1e400", "INF"),
        (["number"], "-INF", "-INF"),
        (["number"], "NaN", None),
        (["number"], "seven", None),
        (["number"], "", None),
        (["lower-case"], "NaN", "nan"),
        (["lower-case", "number"], "INF", None),
        (["number", "lower-case"], "INF", "inf"),
        (["normalize-space", "lower-case"], " A\n B ", "a b"),
        (["number", "number"], "7.0", "7"),
        (["number", "number"], "x", None),
    ],
)
def test_functions_in_order(functions: list[str], value: str, result: str | None) -> None:
    """The innermost function comes first."""
    assert apply(functions, value) == result
