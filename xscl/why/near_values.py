"""Values that are all but equal: equal once some difference that people overlook is set aside."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from itertools import combinations, islice, product
from urllib.parse import parse_qsl, urlencode, urlsplit

from xscl.xpath_stage import double_of, number_text

__all__ = ["SPELLING", "Group", "Near", "but_for", "keys", "near_equal", "near_text"]

_MOST_VALUES = 10_000
_MOST_GROUPS = 1_000
_PORTS = {"http": ":80", "https": ":443"}
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_SCHEME = re.compile("https?://", re.IGNORECASE)
SPELLING = "but for spelling"
_LIKENESS = 0.75
_LONGEST = 60
_DIGITS = re.compile(r"\d+")
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Near:
    """Two values and what keeps them from being equal: `but for case and white space`."""

    words: str
    left: str
    right: str


Group = tuple[Sequence[str | None], Sequence[str | None]]
"""The values of two sides that were compared with each other."""


def near_equal(groups: Sequence[Group], *, written: int | None = None) -> Near | None:
    """A pair of values, of any group, with the fewest differences that people overlook.  Values on
    the side (0 or 1) that is `written` in a query may be misspelt.

    >>> near_equal([(["Joe"], ["Ann", "joe "])])
    Near(words='but for white space and case', left='Joe', right='joe ')
    >>> near_equal([(["ordered", "paid"], ["orderd"])], written=1)
    Near(words='but for spelling', left='ordered', right='orderd')
    """
    some = [(_some(lefts), _some(rights)) for lefts, rights in groups[:_MOST_GROUPS]]
    for words, key in _differences():
        for lefts, rights in some:
            index: dict[str | None, list[str]] = {}
            for value in rights:
                index.setdefault(key(value), []).append(value)
            index.pop(None, None)
            for value in lefts:
                for other in index.get(key(value), ()):
                    if other != value:
                        return Near(words, value, other)
    if written is not None:
        for sides in some:
            for value in sides[written]:
                if (meant := _meant(value, sides[1 - written])) is not None:
                    return Near(SPELLING, *((value, meant) if written == 0 else (meant, value)))
    return None


def near_text(groups: Sequence[Group], holds: Callable[[str, str], bool]) -> Near | None:
    """As `near_equal`, for another relation of two texts: that one contains the other, say."""
    some = [(_some(lefts)[:100], _some(rights)[:100]) for lefts, rights in groups[:_MOST_GROUPS]]
    for words, key in _differences(texts=True):
        for lefts, rights in some:
            for value, other in product(lefts, rights):
                # White space at the ends of what is looked for counts.
                part = key(f"\0{other}\0") or ""
                if holds(key(value) or "", part[1:-1]):
                    return Near(words, value, other)
    return None


def keys(value: str) -> set[str]:
    """What values that are all but equal share one of."""
    number = _number(value)
    return {_folded(_FOLDS, value), *([] if number is None else [f"number {number}"])}


def but_for(differences: Sequence[str]) -> str:
    """Differences in words.

    >>> but_for(["case", "white space", "spelling"])
    'but for case, white space and spelling'
    """
    *first, last = differences
    return f"but for {' and '.join(filter(None, (', '.join(first), last)))}"


def _meant(written: str, values: Iterable[str]) -> str | None:
    """The value that one was perhaps meant to be: of nearly the same letters, and of the same
    numbers, since `user-17` is no misspelt `user-18`."""
    if not 3 <= len(written) <= _LONGEST or _number(written) is not None:
        return None
    numbers = _DIGITS.findall(written)
    some = {
        value.casefold(): value
        for value in values
        if len(value) <= _LONGEST and value != written and _DIGITS.findall(value) == numbers
    }
    found = get_close_matches(written.casefold(), some, n=1, cutoff=_LIKENESS)
    return some[found[0]] if found else None


def _some(values: Iterable[str | None]) -> list[str]:
    return list(islice((value for value in values if value is not None), _MOST_VALUES))


def _url(value: str) -> str:
    """A URL without what rarely sets two pages apart; any other text as it is.

    >>> _url("http://www.example.org:80/a/?utm_source=feed#top")
    'https://example.org/a'
    """
    if not _URL.fullmatch(value):
        return value
    try:
        parts = urlsplit(value if _SCHEME.match(value) else f"http://{value}")
    except ValueError:
        return value
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme]).removeprefix("www.")
    kept = [
        (name, text)
        for name, text in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name)
    ]
    query = f"?{urlencode(kept)}" if kept else ""
    return f"https://{host}{parts.path.rstrip('/')}{query}"


def _number(value: str) -> str | None:
    double = double_of(value)
    return None if double is None or double != double else number_text(double)


_FOLDS: dict[str, Callable[[str], str]] = {
    "white space": lambda value: " ".join(value.split()),
    "case": str.casefold,
    "the Unicode form": lambda value: unicodedata.normalize("NFC", value),
    "the form of the URL": _url,
}


def _folded(names: Iterable[str], value: str) -> str:
    for name in names:
        value = _FOLDS[name](value)
    return value


@cache
def _differences(*, texts: bool = False) -> list[tuple[str, Callable[[str], str | None]]]:
    """The differences, alone first, then together; a number's form is one of its own."""
    found: list[tuple[str, Callable[[str], str | None]]] = []
    folds = [*_FOLDS][: 3 if texts else None]
    for size in range(1, len(folds) + 1):
        for some in combinations(folds, size):
            found.append((but_for(some), partial(_folded, some)))
        if size == 1 and not texts:
            found.append((but_for(["the form of the number"]), _number))
    return found
