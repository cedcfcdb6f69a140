"""The index of alike texts against all pairs, as texts come and go, within small limits."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import seeded, times
from xscl.join_stage import likeness as index
from xscl.join_stage.likeness import AlikeTexts, alike_pairs
from xscl.join_stage.tokens import TokenNumbers
from xscl.xpath_stage import likeness


def degree(measure: str, one: TokenNumbers, other: TokenNumbers) -> int:
    return likeness.degree(measure, len({*one} & {*other}), len(one), len(other))


@pytest.mark.drawn
@pytest.mark.parametrize("measure", ["words", "containment"])
def test_what_is_there_is_found(measure: str) -> None:
    """Texts are added several times and removed as often, tokens ordered again and caches full."""
    with mock.patch.multiple(index, _FEWEST=4, _CACHED=12):
        for number in range(times(60)):
            come_and_go(seeded("alike texts", measure, number), measure)


def come_and_go(draw: random.Random, measure: str) -> None:
    least = draw.choice([200_000, 333_333, 500_000, 600_000, 900_000, 1_000_000])
    vocabulary = [*range(draw.choice([4, 12, 40]))]
    of: dict[int, TokenNumbers] = {}
    there = Counter[int]()
    texts = AlikeTexts(likeness, measure, least)
    for text in range(120):
        size = draw.randrange(0, min(7, len(vocabulary)))
        of[text] = tuple(sorted(draw.sample(vocabulary, size)))
        if draw.random() < 0.7:
            one = draw.choice([text, draw.choice([*of])])
            texts.add(one, partial(of.__getitem__, one))
            there[one] += 1
        if there and draw.random() < 0.4:
            gone = draw.choice([*there])
            texts.remove(gone)
            there -= Counter([gone])
        asked = draw.choice([*of])
        assert dict(texts.alike(asked, partial(of.__getitem__, asked))) == {
            other: alike
            for other in there
            if (alike := degree(measure, of[asked], of[other])) >= least
        }


def test_pairs_of_two_sides() -> None:
    lefts = {1: (1, 2, 3), 2: (4,), 3: ()}
    rights = {1: (1, 2, 3), 4: (1, 2), 5: (4, 5, 6)}
    assert set(alike_pairs(likeness, "words", 600_000, lefts, rights)) == {
        (1, 1, 1_000_000),
        (1, 4, 666_666),
    }
    assert set(alike_pairs(likeness, "containment", 1_000_000, lefts, rights)) == {
        (1, 1, 1_000_000),
        (1, 4, 1_000_000),
        (2, 5, 1_000_000),
    }


@pytest.mark.parametrize("measure", ["words", "trigrams", "containment"])
def test_long_texts_are_compared_in_the_time_of_their_tokens(measure: str) -> None:
    """It would take hours to try how many of these tokens must be shared, one after the other."""
    many = 300_000
    found = [
        *alike_pairs(
            likeness, measure, 500_000, {1: tuple(range(many))}, {2: tuple(range(1, many + 1))}
        )
    ]
    assert [(one, other) for one, other, _ in found] == [(1, 2)]


@given(
    st.sampled_from(["words", "trigrams", "containment"]),
    st.integers(1, 1_000_000),
    st.integers(1, 60),
    st.integers(1, 60),
)
def test_how_many_tokens_must_be_shared(measure: str, least: int, size: int, of: int) -> None:
    enough = AlikeTexts(likeness, measure, least)._enough(size, of)
    some = range(1, min(size, of) + 1)
    assert enough == next(
        (n for n in some if likeness.degree(measure, n, size, of) >= least), min(size, of) + 1
    )
