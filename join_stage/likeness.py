"""Joins by likeness: which texts are as alike as a query asks, found by the prefixes of their
tokens (Bayardo et al., WWW 2007; PPJoin: Xiao et al., WWW 2008).

If two sets of tokens share so many that their likeness reaches a threshold, and both are sorted in
one order, then their first few tokens have one in common.  So a text is looked up by its first
tokens only, and the order has rare tokens first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping

from xscl.join_stage.tokens import Measures, TokenNumbers

__all__ = ["AlikeTexts", "alike_pairs"]

_WHOLE = 1_000_000
_CACHED = 200_000
"""The maximal number of pairs that are cached."""
_FEWEST = 1_000
"""The least number of new texts after which tokens are ordered again."""
_UNKNOWN = float("-inf")


class AlikeTexts:
    """Texts, to be found by one that is like them: by a measure, to at least `least` millionths.

    Tokens are in order of how many texts have them, the rarest first, so that few texts have one of
    the first; the order is made again when as many texts have come as there are.
    """

    def __init__(self, measures: Measures, measure: str, least: int) -> None:
        self._measures = measures
        self._measure = measure
        self._least = least
        self._containment = measure == "containment"
        self._tokens: dict[int, TokenNumbers] = {}
        self._holders: dict[int, int] = {}
        # The places of tokens in their order, and how many texts have each.
        self._places: dict[int, int] = {}
        self._uses: dict[int, int] = {}
        self._first_place = 0
        self._added = 0
        # The texts by their first tokens; for containment, also by all.
        self._first: dict[int, set[int]] = {}
        self._all: dict[int, set[int]] = {}
        self._prefixes: dict[int, list[int]] = {}
        # How many tokens two sets must share, by the sizes of both.
        self._needed: dict[int, dict[int, int]] = {}
        # What was found for a text that is there, and what has come since; some of it may be gone.
        self._found: dict[int, list[tuple[int, int]]] = {}
        self._pairs = 0
        # What was found last for texts that are not there; the next change of the index ends it.
        self._looked_up: dict[int, list[tuple[int, int]]] = {}

    def add(self, text: int, tokens: Callable[[], TokenNumbers]) -> None:
        """Adds a text, with its tokens where it is new; it stays until it is removed as often."""
        holders = self._holders.get(text, 0)
        self._holders[text] = holders + 1
        if not holders:
            self._add(text, tokens())

    def remove(self, text: int) -> None:
        """Removes a text that is there, once."""
        self._holders[text] -= 1
        if self._holders[text]:
            return
        del self._holders[text]
        self._looked_up.clear()
        tokens = self._tokens.pop(text)
        self._pairs -= len(self._found.pop(text, ()))
        for places, some in ((self._first, self._prefixes.pop(text)), (self._all, tokens)):
            for token in some:
                if (there := places.get(token)) is not None:
                    there.discard(text)
                    if not there:
                        del places[token]
        for token in tokens:
            self._uses[token] -= 1
            if not self._uses[token]:
                del self._uses[token], self._places[token]

    def alike(self, text: int, tokens: Callable[[], TokenNumbers]) -> Iterable[tuple[int, int]]:
        """The texts that are like one, each with its likeness; itself among them if it is there."""
        if text in self._tokens:
            found = self._found.get(text)
            if found is None:
                found = self._found[text] = self._search(self._tokens[text])
                self._count(len(found))
            return [one for one in found if one[0] in self._tokens]
        found = self._looked_up.get(text)
        if found is None:
            found = self._looked_up[text] = self._search(tokens())
        return found

    def _add(self, text: int, tokens: TokenNumbers) -> None:
        found = self._looked_up.get(text)
        if found is None:
            found = self._search(tokens)
        self._looked_up.clear()
        for other, degree in found:
            if (its := self._found.get(other)) is not None:
                its.append((text, degree))
                self._pairs += 1
        if tokens:
            # It is as like itself as can be: none of its tokens is in one set alone.
            own = self._measures.degree(self._measure, len(tokens), len(tokens), len(tokens))
            found = [*found, (text, own)]
        self._found[text] = found
        self._count(len(found))
        for token in tokens:
            if token not in self._places:
                self._first_place -= 1
                self._places[token] = self._first_place
            self._uses[token] = self._uses.get(token, 0) + 1
        self._tokens[text] = tokens
        self._enter(text, tokens)
        if self._containment:
            for token in tokens:
                self._all.setdefault(token, set()).add(text)
        self._added += 1
        if self._added > max(_FEWEST, len(self._tokens)):
            self._order()

    def _enter(self, text: int, tokens: TokenNumbers) -> None:
        prefix = self._prefixes[text] = self._prefix(tokens)
        for token in prefix:
            self._first.setdefault(token, set()).add(text)

    def _order(self) -> None:
        """Orders the tokens again, by how many texts have them now, and all texts by that."""
        self._added = self._first_place = 0
        order = sorted(self._uses, key=self._uses.__getitem__)
        self._places = {token: place for place, token in enumerate(order)}
        self._first.clear()
        for text, tokens in self._tokens.items():
            self._enter(text, tokens)

    def _count(self, pairs: int) -> None:
        """Counts pairs that are cached; of too many all are dropped."""
        self._pairs += pairs
        if self._pairs > _CACHED:
            self._found.clear()
            self._pairs = 0

    def _prefix(self, tokens: TokenNumbers) -> list[int]:
        """The first tokens, of which one must be shared; a token that no text has comes first."""
        places = self._places
        some = sorted(tokens, key=lambda token: places.get(token, _UNKNOWN))
        needed = -(-self._least * len(some) // _WHOLE)
        return some[: len(some) - needed + 1]

    def _search(self, tokens: TokenNumbers) -> list[tuple[int, int]]:
        """The texts that are like a set of tokens: candidates by a first token, of a fitting size,
        which share as many tokens as they must."""
        prefix = self._prefix(tokens)
        by_first, by_any = self._first, self._all if self._containment else self._first
        candidates: set[int] = set()
        for token in prefix:
            if (some := by_any.get(token)) is not None:
                candidates |= some
        if self._containment:
            for token in tokens:
                if (some := by_first.get(token)) is not None:
                    candidates |= some
        size, known, own = len(tokens), self._tokens, frozenset(tokens)
        needed = self._needed.get(size)
        if needed is None:
            needed = self._needed[size] = {}
        found = []
        for other in candidates:
            its = known[other]
            of = len(its)
            enough = needed.get(of)
            if enough is None:
                enough = needed[of] = self._enough(size, of)
            shared = len(own.intersection(its))
            if shared >= enough:
                found.append((other, self._measures.degree(self._measure, shared, size, of)))
        return found

    def _enough(self, size: int, of: int) -> int:
        """How many tokens sets of these sizes must share, which are the more alike the more they
        share; more than there are where none are enough."""
        degree, measure = self._measures.degree, self._measure
        some = range(1, min(size, of) + 1)
        return 1 + bisect_left(some, self._least, key=lambda n: degree(measure, n, size, of))


def alike_pairs(
    measures: Measures,
    measure: str,
    least: int,
    lefts: Mapping[int, TokenNumbers],
    rights: Mapping[int, TokenNumbers],
) -> Iterator[tuple[int, int, int]]:
    """The texts on the left and on the right that are alike, each pair with its likeness."""
    index = AlikeTexts(measures, measure, least)
    for text, tokens in {**lefts, **rights}.items():
        index.add(text, lambda tokens=tokens: tokens)  # type: ignore[misc]
    for text, tokens in lefts.items():
        for other, degree in index.alike(text, lambda tokens=tokens: tokens):  # type: ignore[misc]
            if other in rights:
                yield text, other, degree
