"""Titles of feeds, of which some are told again in other words: the workload of joins by likeness.

Words are drawn by Zipf's law from a vocabulary, as in natural text: a few are in most titles, most
are in few.  A part of the titles is a recent one with a word changed, added or left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Any

__all__ = ["retold_titles"]

VOCABULARY = 30_000
RETOLD = 0.15
RECENT = 2_000
SHARED = ("breaking", "news", "today", "update", "live", "report", "the", "of", "a", "in")
"""Ten frequent words, for an adversarial stream."""
_SYLLABLES = tuple(a + b for a in "bdfgklmnprst" for b in "aeiou")


def retold_titles(
    documents: int,
    *,
    seconds: float = 30 * 86_400,
    shared: bool = False,
    repeated: int = 0,
    seed: int = 33,
) -> Iterator[dict[str, Any]]:
    """The titles as envelopes of stream `S`, evenly over some seconds.  With `shared` all have ten
    frequent words in common; one title comes `repeated` times first.

    >>> next(retold_titles(1))["xml"][:18]
    '<item><title>Pale '
    """
    random = Random(seed)
    weights = [*accumulate(1 / (place + 10) for place in range(VOCABULARY))]
    places = range(VOCABULARY)
    recent: deque[list[str]] = deque(maxlen=RECENT)
    for number in range(documents):
        if number < repeated:
            title = ["one", "title", "again", "and", "again"]
        elif recent and random.random() < RETOLD:
            title = _retold(random, [*random.choice(recent)])
        else:
            drawn = random.choices(places, cum_weights=weights, k=random.randrange(5, 13))
            title = [_word(place) for place in drawn]
            if shared:
                title += SHARED
        recent.append(title)
        text = " ".join(title).capitalize()
        yield {
            "stream": "S",
            "id": f"t{number}",
            "timestamp": number * seconds / documents,
            "xml": f"<item><title>{text}</title><feed>feed {number % 50}</feed></item>",
        }


def _retold(random: Random, title: list[str]) -> list[str]:
    """A title in other words."""
    change = random.random()
    if change < 0.7:
        title[random.randrange(len(title))] = _word(random.randrange(VOCABULARY))
    if change < 0.3:
        title.append(_word(random.randrange(VOCABULARY)))
    elif change > 0.8 and len(title) > 4:
        del title[random.randrange(len(title))]
    return title


def _word(place: int) -> str:
    """The word of a place in the vocabulary: each another one."""
    word = ""
    place += len(_SYLLABLES)
    while place:
        place, syllable = divmod(place, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
    return word
