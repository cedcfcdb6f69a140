"""The index of alike texts against all pairs, as texts come and go, within small limits."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from unittest import mock

import pytest

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
