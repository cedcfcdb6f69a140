"""Where in a text some of its tokens are, as it is written: what two alike texts share, which is
marked in both (docs/likeness.md#measures).

Tokens are those of a text whose case is folded, which may have other characters and more of them.
A folded text is the folded texts of its grapheme clusters; where one is not, nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import accumulate

import regex

from xscl.xpath_stage.texts.likeness import BOUNDARY, COUNTS, UNSPACED, folded

__all__ = ["excerpt", "stretches"]

_CLUSTER = regex.compile(r"\X")


def stretches(measure: str, text: str, tokens: Set[str]) -> list[tuple[int, int]]:
    """The stretches of a text that are of some tokens, in order; those with only white space
    between are one.

    >>> stretches("words", "Apple's new M3: the M3 chips", {"apple's", "new", "m3"})
    [(0, 14), (20, 22)]
    >>> stretches("trigrams", "Dostoyevsky", {"dos", "ost", "evs"}), stretches("words", "x", set())
    ([(0, 4), (6, 9)], [])
    """
    clusters = _CLUSTER.findall(text)
    pieces = [folded(cluster) for cluster in clusters]
    whole = "".join(pieces)
    if whole != folded(text):
        return []
    ats = [0, *accumulate(map(len, clusters))]
    # The clusters of the folded text's characters.
    of = [place for place, piece in enumerate(pieces) for _ in piece]
    found = list[tuple[int, int]]()
    of_tokens = _trigrams(whole) if measure == "trigrams" else _words(whole)
    for start, end in sorted(
        (ats[of[first]], ats[of[end - 1] + 1]) for one, first, end in of_tokens if one in tokens
    ):
        if found and not text[found[-1][1] : start].strip():
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def excerpt(measure: str, text: str, tokens: Set[str]) -> str:
    """The stretches of a text that are of some tokens, with `…` for what is between.

    >>> excerpt("words", "Apple's new M3: the M3 chips", {"apple's", "new", "m3"})
    "Apple's new M3 … M3"
    """
    return " … ".join(text[start:end] for start, end in stretches(measure, text, tokens))


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a folded text, each with its beginning and end."""
    for run in UNSPACED.finditer(text):
        start, end = run.span()
        size = min(2, end - start)
        for at in range(start, end - size + 1):
            yield text[at : at + size], at, at + size
    at = 0
    for piece in BOUNDARY.split(UNSPACED.sub(lambda run: " " * len(run[0]), text)):
        if COUNTS.search(piece):
            yield piece, at, at + len(piece)
        at += len(piece)


def _trigrams(text: str) -> Iterator[tuple[str, int, int]]:
    """The trigrams of a folded text, each with its beginning and end."""
    blank = [one.isspace() for one in text]
    # Of white space in a row the first character, none at the beginning, none at the end.
    ats = [at for at, here in enumerate(blank) if not (here and (at == 0 or blank[at - 1]))]
    if ats and blank[ats[-1]]:
        ats.pop()
    squeezed = "".join([" " if blank[at] else text[at] for at in ats])
    size = min(3, len(ats))
    for at in range(len(ats) - size + 1 if ats else 0):
        yield squeezed[at : at + size], ats[at], ats[at + size - 1] + 1
