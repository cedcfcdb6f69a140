"""Where the tokens of a text are: those that are cut out of it are its tokens, and no others."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from xscl.xpath_stage.texts.likeness import MEASURES, folded, tokens
from xscl.xpath_stage.texts.shared_tokens import excerpt, stretches

PIECES = [
    *("Apple", "can’t", "3.5", "Ｘray", "naïve", "nai\u0308ve", "STRASSE", "ß"),
    *("İ", "ﬁn", "½", "ΣΑΣ"),
    *("東京都", "ﾀﾞｶﾞ", "タワー", "新", "ไทย", "ก็", "한국", "\u1112\u1161\u11ab"),
    *("ខ្មែរ", "हिन्दी", "👩‍💻"),
    *(" ", "  ", "\n", "\u00a0", "\x1c", "-", ": ", "…", "\u200d", "\u0301"),
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)


@pytest.mark.parametrize("measure", MEASURES)
@drawn(300)
@given(text=TEXTS, data=st.data())
def test_what_is_cut_out_has_the_token(measure: str, text: str, data: st.DataObject) -> None:
    every = tokens(measure, text)
    if not every:
        assert stretches(measure, text, {"a"}) == []
        return
    token = data.draw(st.sampled_from(sorted(every)))
    found = stretches(measure, text, {token})
    assert found or not text.isascii()
    # A text whose folded form is not made of its clusters' has none.
    if found:
        assert all(0 <= start < end <= len(text) for start, end in found)
        assert all(one[1] < other[0] for one, other in pairwise(found))
        for start, end in found:
            assert token in " ".join(f".{folded(text[start:end])}.".split())
    rest = stretches(measure, text, every)
    covered = {at for start, end in rest for at in range(start, end)}
    assert {at for start, end in found for at in range(start, end)} <= covered
    assert bool(found) == bool(rest)


@pytest.mark.parametrize(
    ("measure", "text", "tokens", "shown"),
    [
        ("words", "Apple unveils new M3 chips", {"apple", "unveils", "m3"}, "Apple unveils … M3"),
        ("words", "Apple: apple", {"apple"}, "Apple … apple"),
        ("words", "Die STRASSE, ﬁnn", {"strasse", "finn"}, "STRASSE … ﬁnn"),
        ("words", "nai\u0308ve x", {"naïve"}, "nai\u0308ve"),
        ("words", "東京都へ", {"東京", "京都"}, "東京都"),
        ("words", "a東京", {"東京", "b"}, "東京"),
        ("words", "한국 \u1112\u1161\u11ab국", {"한국"}, "한국 \u1112\u1161\u11ab국"),
        ("containment", "one two", {"two"}, "two"),
        ("trigrams", " Fyodor \n Dostoyevsky", {"r d", "evs"}, "r \n D … evs"),
        ("trigrams", "ab", {"ab"}, "ab"),
        ("words", "", {"x"}, ""),
        ("trigrams", " ", {" "}, ""),
    ],
)
def test_excerpts(measure: str, text: str, tokens: set[str], shown: str) -> None:
    assert excerpt(measure, text, tokens) == shown
