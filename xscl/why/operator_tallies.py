"""The tallies of a funnel between blocks: operator by operator, innermost first.

Pairs are judged one by one only where an equality, or without one the time, says that they could
pass or fail by one condition alone; the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import islice, product

from xscl.documents.document import Document
from xscl.why.comparisons import Ground, judge_comparison, needed_after
from xscl.why.findings import LISTED, Finding, Kind, Miss, Tally
from xscl.why.operators import Conjunct, Operator, Plan
from xscl.why.pairs import (
    Composite,
    Pair,
    count_in_time,
    equal,
    hashable,
    near,
    overlapping,
    within,
)
from xscl.why.relations import Factor, cells_of, narrowed
from xscl.why.timing import DIFFERENT, in_time, judge_documents, judge_time, overshoot

__all__ = ["operator_tallies"]

_MOST_PAIRS = 100_000
"""Pairs that are judged one by one: of each equality, and again of those that it nearly holds for;
without equality in time, and again at any."""

_MOST_COMPOSITES = 10_000
"""Pairs that go on to the operator above."""

_DIFFERENT, _TIME, _COMPARISONS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Through:
    """What came through a block or an operator, all of it unless `capped`."""

    composites: Sequence[Composite]
    capped: bool = False


def operator_tallies(plan: Plan, blocks: dict[range, list[Composite]]) -> list[Tally]:
    """The tallies of all operators; `blocks` are what came through each block.

    Disjuncts that say the same of an operator and those inside it share its tallies.
    """
    needed = needed_after([conjunct for disjunct in plan.disjuncts for conjunct in disjunct])
    tallies: dict[tuple[int, ...], list[Tally]] = {}
    through: dict[tuple[int, ...], _Through] = {}
    users: dict[tuple[int, ...], list[int]] = {}
    for number, disjunct in enumerate(plan.disjuncts, start=1):
        found = {blocks_of: _Through(composites) for blocks_of, composites in blocks.items()}
        for owner, operator in enumerate(plan.operators):
            own = [conjunct for conjunct in disjunct if conjunct.owner == owner]
            inside = (c.at for c in disjunct if _inside(plan.operators[c.owner], operator))
            key = (owner, *inside)
            users.setdefault(key, []).append(number)
            if key not in tallies:
                of = _OperatorTallies(operator, found[operator.left], found[operator.right], own)
                tallies[key], through[key] = of.tallies(needed)
            found[range(operator.left[0], operator.right[-1] + 1)] = through[key]
    told = []
    for key, some in tallies.items():
        if len(users[key]) == len(plan.disjuncts):
            told += some
        else:
            told += (replace(tally, disjunct=user) for user in users[key] for tally in some)
    return told


def _inside(inner: Operator, outer: Operator) -> bool:
    return outer.left[0] <= inner.left[0] and inner.right[-1] <= outer.right[-1]


@dataclass(frozen=True, slots=True)
class _Some:
    """Some pairs, all that there are unless `capped`."""

    pairs: dict[Pair, None]
    capped: bool

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> _Some:
        """The first of some pairs; one that comes again counts again, to bound the search."""
        found = dict.fromkeys(islice(iterator := iter(pairs), _MOST_PAIRS))
        return cls(found, next(iterator, None) is not None)


@dataclass(slots=True)
class _Alone:
    """The pairs that failed by one condition alone."""

    count: int = 0
    listed: list[Pair] = field(default_factory=list)
    near: list[Pair] = field(default_factory=list)


class _OperatorTallies:
    """One operator over what came through on its two sides."""

    def __init__(
        self, operator: Operator, left: _Through, right: _Through, conjuncts: Sequence[Conjunct]
    ) -> None:
        self._operator = operator
        self._lefts, self._rights = left.composites, right.composites
        self._equalities = hashable(conjuncts, self._lefts, self._rights)
        others = [conjunct for conjunct in conjuncts if conjunct not in self._equalities]
        self._conjuncts = [*self._equalities, *others]
        self._shared = overlapping(self._lefts, self._rights)
        self._passed = [0] * (_COMPARISONS + len(conjuncts))
        self._alone = [_Alone() for _ in self._passed]
        self._inputs_capped = left.capped or right.capped

    def tallies(self, needed: set[str]) -> tuple[list[Tally], _Through]:
        """The tallies, and what came through; `needed` are the sides that any operator needs."""
        if self._equalities:
            holding = [_Some.of(equal(e, self._lefts, self._rights)) for e in self._equalities]
            nearly = [_Some.of(near(e, self._lefts, self._rights)) for e in self._equalities]
        else:
            everything = product(range(len(self._lefts)), range(len(self._rights)))
            holding = [_Some.of(within(self._operator, self._lefts, self._rights))]
            nearly = [_Some.of(everything)]
        through: list[Composite] = []
        for pair in {pair: None for some in (*holding, *nearly) for pair in some.pairs}:
            factors = self._judge(pair, needed, nearly if self._equalities else [])
            if factors is not None and len(through) <= _MOST_COMPOSITES:
                through.append(self._composite(pair, factors))
        capped = self._capped(holding, nearly)
        self._count_the_rest(capped)
        cut = len(through) > _MOST_COMPOSITES or holding[0].capped or self._inputs_capped
        return self._told(capped, holding[0].capped), _Through(through[:_MOST_COMPOSITES], cut)

    # Pairs.

    def _in_time(self, pair: Pair) -> bool:
        left, right = self._lefts[pair[0]], self._rights[pair[1]]
        return in_time(self._operator, left.latest, right.earliest, right.latest)

    def _judge(
        self, pair: Pair, needed: set[str], nearly: Sequence[_Some]
    ) -> tuple[Factor, ...] | None:
        """Counts a pair; returns the assignments that are left of one that comes through."""
        false = [_DIFFERENT] if pair in self._shared else []
        false += [] if self._in_time(pair) else [_TIME]
        factors = (*self._lefts[pair[0]].factors, *self._rights[pair[1]].factors)
        for index, conjunct in enumerate(self._conjuncts, start=_COMPARISONS):
            if len(false) > 1:
                break
            left, right = conjunct.sides
            found = narrowed(factors, left, conjunct.operator, right, needed)
            false += [] if found.pairs else [index]
            factors = found.factors
        for index in range(_COMPARISONS, false[0] if false else len(self._passed)):
            self._passed[index] += 1
        if len(false) == 1:
            (index,) = false
            alone = self._alone[index]
            alone.count += 1
            close = _COMPARISONS <= index < _COMPARISONS + len(nearly)
            if close and pair in nearly[index - _COMPARISONS].pairs:
                alone.near.append(pair)
            else:
                alone.listed.append(pair)
        return None if false else factors

    def _composite(self, pair: Pair, factors: tuple[Factor, ...]) -> Composite:
        left, right = self._lefts[pair[0]], self._rights[pair[1]]
        return Composite(
            (*left.documents, *right.documents),
            min(left.earliest, right.earliest),
            max(left.latest, right.latest),
            factors,
        )

    # Counts.

    def _capped(self, holding: Sequence[_Some], nearly: Sequence[_Some]) -> list[bool]:
        """Of each condition, whether not all pairs that fail by it alone were judged."""
        first = holding[0].capped
        capped = [first] * len(self._passed)
        if not self._equalities:
            capped[_TIME] = nearly[0].capped
        for index in range(len(self._equalities)):
            # What fails by one equality alone meets the others.
            others = [some.capped for i, some in enumerate(holding) if i != index]
            capped[_COMPARISONS + index] = min(others, default=True)
        return capped

    def _count_the_rest(self, capped: list[bool]) -> None:
        """Counts what can be counted without judging it."""
        operator, passed, alone = self._operator, self._passed, self._alone
        shared = sum(map(self._in_time, self._shared))
        passed[_DIFFERENT] = len(self._lefts) * len(self._rights) - len(self._shared)
        passed[_TIME] = count_in_time(operator, self._lefts, self._rights) - shared
        if not self._conjuncts:
            alone[_DIFFERENT].count, alone[_TIME].count = shared, passed[_DIFFERENT] - passed[_TIME]
            capped[_DIFFERENT] = capped[_TIME] = False
        elif len(self._equalities) == len(self._conjuncts) == 1 and not capped[_TIME]:
            alone[_COMPARISONS].count = passed[_TIME] - passed[_COMPARISONS]
            capped[_COMPARISONS] = False

    # What is told.

    def _told(self, alone_capped: Sequence[bool], passed_capped: bool) -> list[Tally]:
        kinds: list[tuple[Kind, str]] = [("documents", DIFFERENT), ("time", self._operator.text)]
        kinds += (("comparison", conjunct.text) for conjunct in self._conjuncts)
        return [
            Tally(
                kind,
                None,
                text,
                self._passed[index],
                self._inputs_capped or (passed_capped and index >= _COMPARISONS),
                self._alone[index].count,
                self._inputs_capped or alone_capped[index],
                tuple(self._missed(index)),
                pairs=True,
            )
            for index, (kind, text) in enumerate(kinds)
        ]

    def _missed(self, index: int) -> Iterable[Miss]:
        alone = self._alone[index]
        some = [*alone.near[:LISTED], *alone.listed[:LISTED]][:LISTED]
        if index == _TIME:
            some = nsmallest(LISTED, alone.listed, key=self._overshoot)
        for pair in some:
            left, right = self._lefts[pair[0]], self._rights[pair[1]]
            ids = tuple(document.id for document in (*left.documents, *right.documents))
            yield Miss(ids, self._finding(left, right, index))

    def _finding(self, left: Composite, right: Composite, index: int) -> Finding:
        """What a condition that alone is false says of a pair."""
        if index < _COMPARISONS:
            # By number of block: those before the operator are of no account.
            before: list[Document | None] = [None] * self._operator.left[0]
            documents = [*before, *left.documents, *right.documents]
            judge = judge_documents if index == _DIFFERENT else judge_time
            return judge(self._operator, documents)
        factors = (*left.factors, *right.factors)
        sides = {side for factor in factors for side in factor.sides}
        cells = {side: cells_of(factors, side) or frozenset() for side in sides}
        ground = Ground(factors, cells, {})
        for conjunct in self._conjuncts[: index - _COMPARISONS]:
            first, second = conjunct.sides
            factors = narrowed(factors, first, conjunct.operator, second, sides).factors
        return judge_comparison(self._conjuncts[index - _COMPARISONS], factors, set(), ground)[0]

    def _overshoot(self, pair: Pair) -> int:
        left, right = self._lefts[pair[0]], self._rights[pair[1]]
        return overshoot(self._operator, left.latest, right.earliest, right.latest)
