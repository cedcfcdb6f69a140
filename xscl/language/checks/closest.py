"""The word that was meant by one that is all but it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["closest"]

_LIKENESS = 0.7


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a word is all but, None if there is none.

    >>> closest("contain", ["contains", "count"]), closest("sum", ["count"])
    ('contains', None)
    """
    some = get_close_matches(word.lower(), known, n=1, cutoff=_LIKENESS)
    return some[0] if some else None
