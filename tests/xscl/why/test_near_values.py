"""Values that are all but equal: which difference is named, and that there is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl.why.near_values import Near, keys, near_equal

VALUES = st.text("aAeéE\u0301 1.0\t/:", max_size=6) | st.sampled_from(
    ["http://x.org/", "https://www.x.org", "https://x.org#a", "1", "1.0", " 1", "1e0"]
)


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("Danny Ayers", "danny ayers", "case"),
        ("RSS and Atom", "RSS and  Atom\n", "white space"),
        ("a\u00a0b", "a b", "white space"),
        ("café", "cafe\u0301", "the Unicode form"),
        ("10", "10.0", "the form of the number"),
        ("1e3", "1000", "the form of the number"),
        ("http://x.org/a", "https://x.org/a", "the form of the URL"),
        ("https://x.org/a", "https://www.x.org:443/a/#top", "the form of the URL"),
        ("https://x.org/?id=1", "https://x.org/?id=1&utm_source=rss", "the form of the URL"),
        ("https://x.org/A ", "https://x.org/a/", "white space, case and the form of the URL"),
        (" Joe", "joe", "white space and case"),
    ],
)
def test_the_difference_is_named(left: str, right: str, words: str) -> None:
    near = near_equal([([left], ["other", right])])
    assert near is not None
    assert (near.words, near.left, near.right) == (f"but for {words}", left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://x.org/?id=1", "https://x.org/?id=2"),
        ("https://x.org/a", "https://y.org/a"),
        ("http://[", "https://["),
        ("http://x.org/a", "x.org/a"),
        ("seven", "NaN"),
        ("10", "9"),
        ("", "a"),
    ],
)
def test_what_is_different_is_not_near(left: str, right: str) -> None:
    assert near_equal([([left], [right])]) is None


@pytest.mark.parametrize(
    ("written", "value"), [("orderd", "Ordered"), ("item 7b", "itm 7b"), ("colour", "color")]
)
def test_what_is_written_may_be_misspelt(written: str, value: str) -> None:
    some = ["sent", value, "1"]
    assert near_equal([(some, [written])], written=1) == Near("but for spelling", value, written)
    assert near_equal([([written], some)], written=0) == Near("but for spelling", written, value)
    assert near_equal([([written], some)]) is None


@pytest.mark.parametrize(
    ("written", "value"),
    [("user-17", "user-18"), ("2024", "2025"), ("ab", "abc"), ("x" * 99, "x" * 98), ("on", "no")],
)
def test_another_value_is_not_misspelt(written: str, value: str) -> None:
    assert near_equal([([value], [written])], written=1) is None


@given(st.lists(VALUES, max_size=5), st.lists(VALUES, max_size=5))
def test_a_near_pair_is_of_the_sides_differs_and_shares_a_key(
    lefts: list[str], rights: list[str]
) -> None:
    near = near_equal([(lefts, rights)])
    sharing = any(a != b and set(keys(a)) & set(keys(b)) for a in lefts for b in rights)
    assert (near is not None) == sharing
    if near is not None:
        assert near.left in lefts
        assert near.right in rights
        assert near.left != near.right
