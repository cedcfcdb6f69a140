"""The in-process evaluator: a conjunctive query over relations that are plain lists and tries.

It evaluates the same term as the SQL does (docs/laws.md#one-conjunctive-query), with the same
optimisations: atoms are joined one after the other, only variables that something later needs are
kept, duplicates are dropped immediately, and each binding must begin a row of R_T, by whose trie
the atoms are chosen.  The atoms `pair` come first and are the *core*: what they leave depends on a
pair of documents by its signature only (docs/laws.md#signatures).  The *rest* is completed for each
pair: leaves that no value join reaches, and comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Trie

__all__ = [
    "AtomStep",
    "Binding",
    "JoinStep",
    "LikenessStep",
    "Program",
    "Relation",
    "Relations",
    "Step",
    "StringValue",
    "TestStep",
    "picking",
]

Binding = tuple[object, ...]
"""The values of some variables."""

StringValue = tuple[str, float | None]
"""A string, and its double where it is castable."""

Pick = Callable[[Binding], Binding]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Relation(dict[int, list[Binding]]):
    """The tuples of a relation by the number in R_T's column: a value join's or a spine's.

    It must be complete before its first index is built.
    """

    __slots__ = ("_indexes",)

    def __init__(self) -> None:
        super().__init__()
        self._indexes: dict[tuple[int, JoinStep], dict[Binding, list[Binding]]] = {}

    def index(self, key: int, join: JoinStep) -> dict[Binding, list[Binding]]:
        """The tuples that a key selects, indexed for a join; built once for all plans and all joins
        with them."""
        found = self._indexes.get((key, join))
        if found is None:
            found = self._indexes[key, join] = {}
            here, new = picking(join.here), picking(join.new)
            for row in self[key]:
                if all(row[a] == row[b] for a, b in join.equal):
                    found.setdefault(here(row), []).append(new(row))
        return found


_NO_TUPLES = Relation()


class Relations:
    """What the body of a query reads for one pair of documents, or one document.

    `pair` is by value join: the value that distinguishes the pair of documents from others that are
    evaluated with it, the marked nodes of the left leaf and of the right one, and their string.
    `left` and `right` are the leaves of either document by spine: their marked nodes, then their
    string.  `string` returns the value of a string's number, None for a value that equals nothing,
    `likeness` by a measure that of two strings in millionths; `reached` the rows of a place of R_T
    whose thresholds are above one likeness and at most another.
    """

    def __init__(
        self,
        *,
        pair: Relation | None = None,
        left: Relation | None = None,
        right: Relation | None = None,
        string: Callable[[object], StringValue | None] | None = None,
        likeness: Callable[[str, object, object], int] | None = None,
        reached: Callable[[Trie, int, int], Trie] | None = None,
    ) -> None:
        self._relations = {
            "pair": pair or _NO_TUPLES,
            "left": left or _NO_TUPLES,
            "right": right or _NO_TUPLES,
        }
        self._string = string
        self._likeness = likeness
        self._reached = reached

    def __getitem__(self, name: str) -> Relation:
        return self._relations[name]

    def string(self, number: object) -> StringValue | None:
        """The value of a string's number."""
        assert self._string is not None
        return self._string(number)

    def likeness(self, measure: str, one: object, other: object) -> int:
        """The likeness of two strings, by their numbers; 0 where there is none."""
        assert self._likeness is not None
        return 0 if one is None or other is None else self._likeness(measure, one, other)

    def reached(self, at: Trie, above: int, most: int) -> Trie:
        """The rows of thresholds above one likeness and at most another."""
        assert self._reached is not None
        return self._reached(at, above, most)


@dataclass(frozen=True, slots=True)
class JoinStep:
    """An atom's tuples, prepared for a join: the positions of the variables known before, of the
    new ones, and of those that must agree as they are one variable."""

    relation: str
    here: tuple[int, ...]
    new: tuple[int, ...]
    equal: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class AtomStep:
    """A step: an atom joined to what is bound, by a trie level of R_T."""

    join: JoinStep
    there: Pick
    kept: Pick

    def extend(self, bindings: Iterable[Binding], key: int, relations: Relations) -> set[Binding]:
        index = relations[self.join.relation].index(key, self.join)
        there, kept = self.there, self.kept
        return {
            (*kept(binding), *new) for binding in bindings for new in index.get(there(binding), ())
        }


@dataclass(frozen=True, slots=True)
class TestStep:
    """A step: a comparison of strings, by number or as the language orders them."""

    operator: str
    left: int
    right: int
    by_value: bool

    def holds(self, binding: Binding, relations: Relations) -> bool:
        left: Any = binding[self.left]
        right = binding[self.right]
        compare = _COMPARE[self.operator]
        if left is None or right is None:
            return False
        if not self.by_value:
            # A number below 0 equals nothing; a leaf that is needed twice has it twice.
            return compare(left, right) if left >= 0 else self.operator == "!="
        one, other = relations.string(left), relations.string(right)
        if one is None or other is None:
            return False
        (text, double), (other_text, other_double) = one, other
        if double is None or other_double is None:
            return compare(text, other_text)
        # NaN is never in order, and Python's comparisons agree.
        return compare(double, other_double)


@dataclass(frozen=True, slots=True)
class LikenessStep:
    """A step: two strings that must be as alike as the next column of R_T says; `last`, what is
    below are rows, those of several thresholds together."""

    measure: str
    left: int
    right: int
    last: bool = False

    def extend(
        self, bindings: Iterable[Binding], at: Trie, relations: Relations
    ) -> Iterator[tuple[Trie, set[Binding]]]:
        """The places that are reached in R_T, each with the bindings that are as alike."""
        by_degree: dict[int, set[Binding]] = {}
        for binding in bindings:
            degree = relations.likeness(self.measure, binding[self.left], binding[self.right])
            by_degree.setdefault(degree, set()).add(binding)
        degrees = sorted(by_degree, reverse=True)
        holding: set[Binding] = set()
        for degree, next_one in zip(degrees, (*degrees[1:], 0), strict=True):
            holding = holding | by_degree[degree]
            if self.last:
                if rows := relations.reached(at, next_one, degree):
                    yield rows, holding
                continue
            for threshold, below in at.items():
                if next_one < threshold <= degree:
                    yield below, holding


Step = AtomStep | TestStep | LikenessStep


@dataclass(frozen=True, slots=True)
class Program:
    """The conjunctive query of a plan in steps.

    The core leaves the value that distinguishes pairs of documents, then its variables.  `sides`
    says to which side each variable's node belongs; None is a string, whose value is what the
    relation `pair` has there.  `head` picks the plan's output nodes and strings from what the rest
    leaves.  A `structural` rest needs no string: documents of the same structures have the same
    rows and heads.
    """

    plan: Plan
    core: tuple[Step, ...]
    rest: tuple[Step, ...]
    sides: tuple[int | None, ...]
    head: Pick
    structural: bool

    def begin(self, rows: Trie, relations: Relations) -> Iterator[tuple[Trie, set[Binding]]]:
        """The result of the core: the places reached in R_T, and the bindings."""
        return _walk(self.core, rows, {()}, relations)

    def complete(
        self, at: Trie, bindings: Iterable[Binding], relations: Relations
    ) -> Iterator[tuple[Trie, set[Binding]]]:
        """The rows of R_T that hold, and the heads for which they hold."""
        for rows, found in _walk(self.rest, at, set(bindings), relations):
            yield rows, {self.head(binding) for binding in found}


def _walk(
    steps: Sequence[Step], at: Trie, bindings: set[Binding], relations: Relations, begin: int = 0
) -> Iterator[tuple[Trie, set[Binding]]]:
    """From a place in the trie with some bindings, all results of the steps."""
    for index in range(begin, len(steps)):
        step = steps[index]
        if isinstance(step, AtomStep):
            for key in at.keys() & relations[step.join.relation].keys():
                if extended := step.extend(bindings, key, relations):
                    yield from _walk(steps, at[key], extended, relations, index + 1)
            return
        if isinstance(step, LikenessStep):
            for below, alike in step.extend(bindings, at, relations):
                yield from _walk(steps, below, alike, relations, index + 1)
            return
        bindings = {binding for binding in bindings if step.holds(binding, relations)}
        if not bindings:
            return
    yield at, bindings


def picking(places: Sequence[int]) -> Pick:
    """A function that picks some places of a binding."""
    if not places:
        return lambda binding: ()
    if len(places) == 1:
        (place,) = places
        return lambda binding: (binding[place],)
    return operator.itemgetter(*places)
