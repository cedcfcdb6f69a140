"""Completes the hits of pairs of documents: the rest of each signature, with the leaves of both.

The rest of a hit that needs no strings is the same for all documents of the same structures, any
other for those that have the same strings, too; the leaves of a document are bound once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from xscl.join_stage.evaluator import Binding, Relation, Relations
from xscl.join_stage.in_process.signatures import Hit, LeafPosition
from xscl.join_stage.in_process.view_cache import DocumentLeaves
from xscl.join_stage.registry import Trie

__all__ = ["Completions", "Key"]

Key = tuple[object, ...]
"""A hit, and the positions of the leaves of either document, by identity; their strings."""

_NO_RELATIONS = Relations()

_BOUND = 10_000
"""The maximal number of documents whose leaves are bound together, and of structures whose hits are
completed together."""


class Completions:
    """Completes hits for pairs of documents with some leaves."""

    def __init__(
        self,
        leaves: Mapping[int, DocumentLeaves],
        relations: Callable[[Relation, Relation], Relations],
        bound: Callable[[Iterable[tuple[LeafPosition, int | None]]], Relation],
    ) -> None:
        self._leaves = leaves
        self._relations = relations
        self._bind = bound
        self._bound: dict[int, Relation] = {}
        self._before: dict[Key, list[tuple[Trie, set[Binding]]]] = {}

    def key(self, hit: Hit, left: int, right: int) -> Key | None:
        """Pairs of one key have the same rows and heads; those without a key have none.  They refer
        to the hits, and the leaves to the positions: no identity is used again meanwhile."""
        program = hit.program
        if not program.rest and None not in program.sides:
            return (id(hit),)
        one, other = self._leaves.get(left), self._leaves.get(right)
        if one is None or other is None:
            # No query reaches any row of it any more, though it is retained for another.
            return None
        key = id(hit), id(one.positions), id(other.positions)
        return key if program.structural else (*key, tuple(one.strings), tuple(other.strings))

    def of(self, key: Key, hit: Hit, left: int, right: int) -> list[tuple[Trie, set[Binding]]]:
        """The rows of R_T that hold for a pair with a key, and the heads for which they do."""
        found = self._before.get(key)
        if found is None:
            if len(self._before) >= _BOUND:
                self._before.clear()
            found = self._before[key] = self._complete(hit, left, right)
        return found

    def _complete(self, hit: Hit, left: int, right: int) -> list[tuple[Trie, set[Binding]]]:
        bindings: Iterable[Binding] = hit.bindings
        if None in hit.program.sides:
            bindings = _with_strings(hit, self._leaves[left])
        relations = _NO_RELATIONS
        if hit.program.rest:
            relations = self._relations(self._relation(left), self._relation(right))
        return list(hit.program.complete(hit.at, bindings, relations))

    def _relation(self, document: int) -> Relation:
        found = self._bound.get(document)
        if found is None:
            if len(self._bound) >= _BOUND:
                self._bound.clear()
            found = self._bound[document] = self._bind(_leaves(self._leaves[document]))
        return found


def _leaves(document: DocumentLeaves) -> Iterator[tuple[LeafPosition, int | None]]:
    return zip(document.positions, document.strings, strict=True)


def _with_strings(hit: Hit, left: DocumentLeaves) -> Iterable[Binding]:
    """The bindings of a hit, with the left document's strings instead of their positions.

    A slice may still have a leaf whose row was dropped, since no query reaches it any more: it is
    in no match.
    """
    string_at = dict(_leaves(left))
    return [
        tuple([string_at[one] if isinstance(one, LeafPosition) else one for one in binding])
        for binding in hit.bindings
        if all(one in string_at for one in binding if isinstance(one, LeafPosition))
    ]
