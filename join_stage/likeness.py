"""Joins by likeness: which texts are as alike as a query asks, found by the prefixes of their
tokens (Bayardo et al., WWW 2007; PPJoin: Xiao et al., WWW 2008).

If two sets of tokens share so many that their likeness reaches a threshold, and both are sorted in
one order, then their first few tokens have one in common.  So a text is looked up by its first
tokens only.  Tokens that have come later come first: words that many texts share come early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Protocol

__all__ = ["AlikeTexts", "Measures", "Tokens", "alike_pairs"]

_WHOLE = 1_000_000
_CACHED = 200_000
"""The maximal number of texts whose tokens are cached, and of pairs that are."""


class Measures(Protocol):
    """Tokens of a text, and the likeness of two sets of tokens in millionths, by the name of a
    measure."""

    def tokens(self, measure: str, text: str, /) -> frozenset[str]: ...

    def likeness(self, measure: str, one: Set[str], other: Set[str], /) -> int: ...


class Tokens:
    """The tokens of strings by number, split once; `text` returns a string's text, None for one
    that equals nothing."""

    def __init__(self, measures: Measures, text: Callable[[int], str | None]) -> None:
        self.measures = measures
        self._text = text
        self._of: dict[tuple[str, int], frozenset[str]] = {}

    def of(self, measure: str, string: int) -> frozenset[str]:
        """The tokens of a string."""
        found = self._of.get((measure, string))
        if found is None:
            if len(self._of) >= _CACHED:
                self._of.clear()
            text = self._text(string)
            found = frozenset[str]() if text is None else self.measures.tokens(measure, text)
            self._of[measure, string] = found
        return found

    def likeness(self, measure: str, one: int, other: int) -> int:
        """The likeness of two strings in millionths."""
        return self.measures.likeness(measure, self.of(measure, one), self.of(measure, other))


class AlikeTexts:
    """Texts, to be found by one that is like them: by a measure, to at least `least` millionths."""

    def __init__(self, measures: Measures, measure: str, least: int) -> None:
        self._measures = measures
        self._measure = measure
        self._least = least
        self._containment = measure == "containment"
        self._tokens: dict[int, frozenset[str]] = {}
        self._holders: dict[int, int] = {}
        # The order of tokens, and how many texts have each.
        self._places: dict[str, int] = {}
        self._uses: dict[str, int] = {}
        self._next = 0
        # The texts by their first tokens; for containment, also by all.
        self._first: dict[str, dict[int, None]] = {}
        self._all: dict[str, dict[int, None]] = {}
        # What was found for a text, and what has come since; some of it may be gone.
        self._found: dict[int, list[tuple[int, int]]] = {}
        self._pairs = 0

    def add(self, text: int, tokens: Callable[[], frozenset[str]]) -> None:
        """Adds a text, with its tokens where it is new; it stays until it is removed as often."""
        holders = self._holders.get(text, 0)
        self._holders[text] = holders + 1
        if not holders:
            self._add(text, tokens())

    def _add(self, text: int, tokens: frozenset[str]) -> None:
        for token in tokens:
            if token not in self._places:
                self._places[token] = self._next
                self._next += 1
            self._uses[token] = self._uses.get(token, 0) + 1
        for other, degree in self._search(tokens):
            if (found := self._found.get(other)) is not None:
                found.append((text, degree))
                self._pairs += 1
        self._tokens[text] = tokens
        for token in self._prefix(tokens):
            self._first.setdefault(token, {})[text] = None
        if self._containment:
            for token in tokens:
                self._all.setdefault(token, {})[text] = None

    def remove(self, text: int) -> None:
        """Removes a text that is there, once."""
        self._holders[text] -= 1
        if self._holders[text]:
            return
        del self._holders[text]
        tokens = self._tokens.pop(text)
        self._pairs -= len(self._found.pop(text, ()))
        for places, some in ((self._first, self._prefix(tokens)), (self._all, tokens)):
            for token in some:
                if (there := places.get(token)) is not None:
                    del there[text]
                    if not there:
                        del places[token]
        for token in tokens:
            self._uses[token] -= 1
            if not self._uses[token]:
                del self._uses[token], self._places[token]

    def alike(self, text: int) -> Iterator[tuple[int, int]]:
        """The texts that are like one that is there, each with its likeness; itself among them."""
        found = self._found.get(text)
        if found is None:
            if self._pairs > _CACHED:
                self._found.clear()
                self._pairs = 0
            found = self._found[text] = [*self._search(self._tokens[text])]
            self._pairs += len(found)
        return (one for one in found if one[0] in self._tokens)

    def _prefix(self, tokens: Iterable[str]) -> list[str]:
        """The first tokens, of which one must be shared."""
        some = sorted(tokens, key=self._places.__getitem__, reverse=True)
        needed = -(-self._least * len(some) // _WHOLE)
        return some[: len(some) - needed + 1]

    def _search(self, tokens: frozenset[str]) -> Iterator[tuple[int, int]]:
        candidates: set[int] = set()
        prefix = self._prefix(tokens)
        for token in prefix:
            candidates.update((self._all if self._containment else self._first).get(token, ()))
        if self._containment:
            for token in tokens:
                candidates.update(self._first.get(token, ()))
        size, least, known = len(tokens), self._least, self._tokens
        fewest, most = -(-least * size // _WHOLE), size * _WHOLE // least
        likeness, measure = self._measures.likeness, self._measure
        for other in candidates:
            its = known[other]
            if self._containment or fewest <= len(its) <= most:
                degree = likeness(measure, tokens, its)
                if degree >= least:
                    yield other, degree


def alike_pairs(
    measures: Measures,
    measure: str,
    least: int,
    lefts: Mapping[int, frozenset[str]],
    rights: Mapping[int, frozenset[str]],
) -> Iterator[tuple[int, int, int]]:
    """The texts on the left and on the right that are alike, each pair with its likeness."""
    index = AlikeTexts(measures, measure, least)
    for text, tokens in {**lefts, **rights}.items():
        index.add(text, lambda tokens=tokens: tokens)  # type: ignore[misc]
    for text in lefts:
        for other, degree in index.alike(text):
            if other in rights:
                yield text, other, degree
