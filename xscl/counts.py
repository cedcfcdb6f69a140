"""A number with its noun, as every message writes it: `1 query`, `2,000 queries`."""

from __future__ import annotations

import re

__all__ = ["counted"]

_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)\Z")
_CONSONANT_Y = re.compile(r"(?<![aeiou])y\Z")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun; `plural` where that is not the English rule of the last letters.

    >>> counted(1, "query"), counted(2000, "query"), counted(0, "match"), counted(2, "day")
    ('1 query', '2,000 queries', '0 matches', '2 days')
    >>> counted(3, "file of bodies", "files of bodies")
    '3 files of bodies'
    """
    if number == 1:
        return f"1 {noun}"
    if plural is None and _SIBILANT.search(noun):
        plural = f"{noun}es"
    return f"{number:,} {plural or _CONSONANT_Y.sub('ie', noun) + 's'}"
