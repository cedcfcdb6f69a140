"""The values that a match's documents have in common: what its equalities and its likenesses hold
for, at its nodes.

A match says which documents, and the nodes that its query puts out and selects; the joined
variables need not be among these.  The blocks are judged on the documents as `why` judges them,
with those nodes held fast, and each of the two after all other comparisons: what it holds for then
is part of an assignment of the whole query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, TypeVar

from xscl.documents.document import Document, is_small
from xscl.errors import XSCLError
from xscl.why.alike_values import Closest, closest
from xscl.why.blocks import JudgedBlock
from xscl.why.comparisons import Ground, judge_comparison, narrowed_by, needed_after
from xscl.why.conditions import Conditions, Conjunct
from xscl.why.findings import Values
from xscl.why.patterns import Pattern
from xscl.why.relations import Relation
from xscl.xpath_stage import alike_of
from xscl.xpath_stage.texts.shared_tokens import excerpt

__all__ = ["Joined", "JoinedValues", "Place"]

K = TypeVar("K")
V = TypeVar("V")

_REMEMBERED = 1_000
_MOST_PAIRS = 100_000
"""The maximal number of pairs of values that are compared by likeness, unasked."""

Place = tuple[int, str | None]
"""A node of a document: the number of an element, and the name of its attribute."""


@dataclass(frozen=True, slots=True)
class Joined:
    """An equality or a likeness between documents, as it is written, the variables that it names,
    and the values for which it holds; of a likeness, what the two that are most alike share, as it
    is in the left one, and these two."""

    text: str
    variables: tuple[str, ...]
    values: Values
    closest: Closest | None = None


class JoinedValues:
    """Finds the joined values of the matches of a query, all from documents of one engine.

    What a document leaves of the sides is found once for all matches that have the same nodes of
    it, and what the equalities hold for once for all documents that leave the same.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        self._asked = conditions.few and any(c.joins for some in conditions.disjuncts for c in some)
        self._left: dict[object, _Left] = {}
        self._found: dict[tuple[_Left, ...], list[Joined]] = {}

    def of(
        self,
        documents: Sequence[Document],
        outputs: Sequence[Place],
        variables: Mapping[str, Place],
    ) -> list[Joined]:
        """The joined values of a match, given the document and the output node of each block and
        the nodes of some variables; none where a document, or the query, is too large to be judged
        unasked."""
        if not (self._asked and all(map(is_small, documents))):
            return []
        try:
            left = tuple(
                [
                    self._left_of(number, document, output, variables)
                    for number, (document, output) in enumerate(
                        zip(documents, outputs, strict=True)
                    )
                ]
            )
            found = self._found.get(left)
            if found is None:
                found = self._joined(left)
                _remember(self._found, left, found)
            return found
        except XSCLError:
            # More assignments than can be kept apart.
            return []

    def _left_of(
        self, number: int, document: Document, output: Place, variables: Mapping[str, Place]
    ) -> _Left:
        """What a document leaves of its block's sides, the nodes of a match held fast."""
        pattern = self._conditions.patterns[number]
        fixed = {pattern.output: output}
        fixed |= {
            item.number: place
            for item in pattern.items
            if (place := variables.get(item.variable or "")) is not None
        }
        key = number, document.number, *fixed.items()
        left = self._left.get(key)
        if left is None:
            sides = self._conditions.sides(number)
            relations = _judged(pattern, document).relations(sides, fixed)
            left = tuple([(one.columns, frozenset(one.rows)) for one in relations])
            _remember(self._left, key, left)
        return left

    def _joined(self, left: Sequence[_Left]) -> list[Joined]:
        relations = [Relation(columns, rows) for some in left for columns, rows in some]
        for disjunct in self._conditions.disjuncts:
            found = _of_disjunct(disjunct, relations)
            if found is not None:
                return found
        return []


_Left = tuple[tuple[tuple[str | int, ...], frozenset[tuple[Any, ...]]], ...]
"""Columns and rows of relations."""


def _remember(known: dict[K, V], key: K, value: V) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[key] = value


# Matches that are read one after another tend to have documents in common.
@lru_cache(maxsize=64)
def _judged(pattern: Pattern, document: Document) -> JudgedBlock:
    return JudgedBlock.of(pattern, document)


def _of_disjunct(
    disjunct: Sequence[Conjunct], relations: Sequence[Relation]
) -> list[Joined] | None:
    """The joined values of a disjunct, None of one that does not hold; none where too many may be
    alike."""
    if any(_pairs_of(c, relations) > _MOST_PAIRS for c in disjunct if alike_of(c.operator)):
        return []
    found = []
    for joining in (c for c in disjunct if c.joins):
        left = relations
        order = [*(c for c in disjunct if c is not joining), joining]
        for place, conjunct in enumerate(order[:-1], start=1):
            left, pairs = narrowed_by(conjunct, left, needed_after(order[place:]))
            if not pairs:
                return None
        names = tuple(side.variable for side in joining.operands)
        if joining.operator != "=":
            _, pairs = narrowed_by(joining, left, ())
            if (most := closest(joining.operator, pairs)) is None:
                return None
            shared = excerpt(most.measure, most.left, most.shared)
            found.append(Joined(joining.text, names, Values((shared,)), most))
            continue
        finding, _ = judge_comparison(joining, left, (), Ground(left))
        if not finding.holds or finding.left is None:
            return None
        found.append(Joined(joining.text, names, finding.left))
    return found


def _pairs_of(conjunct: Conjunct, relations: Sequence[Relation]) -> int:
    """How many pairs of values a comparison is about."""
    names = {side.text for side in conjunct.operands}
    return prod(
        sum(map(len, one.column(name)))
        for one in relations
        for name in names
        if name in one.columns
    )
