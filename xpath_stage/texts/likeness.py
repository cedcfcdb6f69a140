"""How alike two texts are: the share of their tokens that they have in common (docs/likeness.md).

A text is taken as the set of its words, or of its trigrams.  The likeness of two sets is a number
of millionths, rounded down; a threshold has at most six decimals, so that the comparison of the two
is exact.  A text without tokens is like nothing, not even itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

__all__ = [
    "BOUNDARY",
    "COUNTS",
    "MEASURES",
    "UNSPACED",
    "WHOLE",
    "Alike",
    "alike_of",
    "degree",
    "folded",
    "kind",
    "likeness",
    "share",
    "tokens",
]

MEASURES = ("words", "containment", "trigrams")
"""Jaccard's index of the words; the part of the fewer words that are among the others; Jaccard's
index of the trigrams of characters."""

WHOLE = 1_000_000
"""The likeness of equal sets."""

_OPERATOR = regex.compile(rf"similar\(({'|'.join(MEASURES)})\) >= (1|0\.[0-9]{{1,6}})")
UNSPACED = regex.compile(
    r"(?V1)[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]"
    r"&&[\p{L}\p{M}\p{N}]]+"
)
"""A run of a script that is written without spaces."""

BOUNDARY = regex.compile(r"(?wV1)\b")
"""A boundary of words (UAX #29)."""

COUNTS = regex.compile(r"[\p{L}\p{N}]")
"""What is in a word."""


class Alike(NamedTuple):
    """What a predicate asks of two texts: a likeness by a measure, of at least so many
    millionths."""

    measure: str
    threshold: int

    def __str__(self) -> str:
        number = f"{self.threshold / WHOLE:.6f}".rstrip("0").rstrip(".")
        return f"similar({self.measure}) >= {number}"

    def holds(self, one: str, other: str) -> bool:
        """Whether two texts are as alike as that."""
        sets = _tokens(self.measure, one), _tokens(self.measure, other)
        return likeness(self.measure, *sets) >= self.threshold


@lru_cache(maxsize=10_000)
def alike_of(operator: str) -> Alike | None:
    """What an operator asks, None for one that compares by value.

    >>> alike_of("similar(words) >= 0.6"), alike_of("<=")
    (Alike(measure='words', threshold=600000), None)
    """
    found = _OPERATOR.fullmatch(operator)
    if found is None:
        return None
    whole, _, decimals = found[2].partition(".")
    return Alike(found[1], int(whole) * WHOLE + int(decimals.ljust(6, "0")))


def folded(text: str) -> str:
    """A text as it is compared.

    >>> folded("ＸＹ STRASSE"), folded("straße")
    ('xy strasse', 'strasse')
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def tokens(measure: str, text: str) -> frozenset[str]:
    """The tokens of a text, by a measure.

    >>> sorted(tokens("words", "Apple's M3: the M3 chip")), sorted(tokens("words", "東京都へ"))
    (["apple's", 'chip', 'm3', 'the'], ['京都', '東京', '都へ'])
    >>> sorted(tokens("trigrams", "J. Doe")), tokens("words", "…")
    ([' do', '. d', 'doe', 'j. '], frozenset())
    """
    text = folded(text)
    if measure == "trigrams":
        text = " ".join(text.split())
        return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2))) - {""}
    if text.isascii():
        runs: list[str] = []
    else:
        runs = UNSPACED.findall(text)
        text = UNSPACED.sub(" ", text)
    words = {word for word in BOUNDARY.split(text) if COUNTS.search(word)}
    for run in runs:
        words.update(map("".join, pairwise(run)) if len(run) > 1 else run)
    return frozenset(words)


_SHORT, _LONG = 500, 20_000
"""Characters of the texts whose tokens are cached: their number bounds what these take."""
_of_short = lru_cache(maxsize=50_000)(tokens)
_of_long = lru_cache(maxsize=1_000)(tokens)


def _tokens(measure: str, text: str) -> frozenset[str]:
    if len(text) <= _SHORT:
        return _of_short(measure, text)
    return _of_long(measure, text) if len(text) <= _LONG else tokens(measure, text)


def kind(measure: str) -> str:
    """The kind of tokens that a measure compares: measures of one kind have the same.

    >>> {kind("words"), kind("containment")}, kind("trigrams")
    ({'words'}, 'trigrams')
    """
    return measure if measure == "trigrams" else "words"


def share(one: str, other: str, measure: str = "words") -> float:
    """The likeness of two texts as a number from 0 to 1, of six decimals.

    >>> share("Apple unveils M3", "apple unveils the M3"), share("", "")
    (0.75, 0.0)
    """
    return likeness(measure, _tokens(measure, one), _tokens(measure, other)) / WHOLE


def likeness(measure: str, one: Set[str], other: Set[str]) -> int:
    """The likeness of two sets of tokens in millionths, rounded down.

    >>> likeness("words", {"a", "b"}, {"b", "c"}), likeness("containment", {"b"}, {"b", "c"})
    (333333, 1000000)
    """
    return degree(measure, len(one & other), len(one), len(other))


def degree(measure: str, shared: int, one: int, other: int) -> int:
    """The likeness of two sets of these sizes that share so many tokens, in millionths, rounded
    down.

    >>> degree("words", 2, 3, 4), degree("words", 0, 0, 0)
    (400000, 0)
    """
    if not shared:
        return 0
    return shared * WHOLE // (min(one, other) if measure == "containment" else one + other - shared)
