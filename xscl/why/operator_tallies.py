"""The tallies of one operator: how many pairs come through its conditions.

Pairs are judged one by one only where an equality, or without one the time, says that they could
pass or fail by one condition alone: a pair that fails by one condition alone meets all the others,
so that it is found by one of them.  The others are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from itertools import product

from xscl.why.comparisons import Ground, judge_comparison, narrowed_by, needed_after
from xscl.why.conditions import Conjunct, Operator
from xscl.why.findings import LISTED, Finding, Kind, Miss, Tally, likeness_of
from xscl.why.pairs import Pair, Some, overlapping, sharing, within
from xscl.why.relations import Relation
from xscl.why.timing import (
    DIFFERENT,
    Composite,
    in_time,
    judge_documents,
    judge_time,
    overshoot,
)
from xscl.xpath_stage import alike_of

__all__ = ["OperatorTallies", "Through"]

_MOST_COMPOSITES = 10_000
"""Pairs that go on to the operator above."""

_MOST_LIKE = 1_000
"""Pairs of which those that are most alike are looked for."""

_DIFFERENT, _TIME, _COMPARISONS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Through:
    """What came through a block or an operator, all of it unless `capped`."""

    composites: Sequence[Composite]
    capped: bool = False


@dataclass(slots=True)
class _Alone:
    """The pairs that failed by one condition alone; `near` those whose values are near."""

    count: int = 0
    others: list[Pair] = field(default_factory=list)
    near: list[Pair] = field(default_factory=list)


class OperatorTallies:
    """One operator, with its comparisons in a disjunct, over what came through on its two sides;
    of the sides of comparisons those `above` it need some."""

    def __init__(
        self,
        operator: Operator,
        left: Through,
        right: Through,
        conjuncts: Sequence[Conjunct],
        above: Collection[str],
    ) -> None:
        self._operator = operator
        self._lefts, self._rights = left.composites, right.composites
        self._equalities = [
            c
            for c in conjuncts
            if c.operator == "="
            and {c.left.block in operator.left, c.right.block in operator.left} == {True, False}
            and len(c.operands) == 2
        ]
        self._conjuncts = [*self._equalities, *(c for c in conjuncts if c not in self._equalities)]
        rest = (self._conjuncts[place + 1 :] for place in range(len(conjuncts)))
        self._needed = [{*above, *needed_after(some)} for some in rest]
        self._shared = overlapping(self._lefts, self._rights)
        self._passed = [0] * (_COMPARISONS + len(conjuncts))
        self._alone = [_Alone() for _ in self._passed]
        self._inputs_capped = left.capped or right.capped

    def tallies(self) -> tuple[list[Tally], Through]:
        """The tallies, and what came through."""
        reached = [*within(self._operator, self._lefts, self._rights)]
        in_reach = sum(len(some) for some, _ in reached)
        if self._equalities:
            found = [
                Some.of(sharing(self._operator, e, self._lefts, self._rights))
                for e in self._equalities
            ]
        else:
            everything = product(range(len(self._lefts)), range(len(self._rights)))
            found = [Some.of((i, j) for some, j in reached for i in some), Some.of(everything)]
        through: list[Composite] = []
        for pair in {pair: None for some in found for pair in some.pairs}:
            relations = self._judge(pair, found)
            if relations is not None and len(through) <= _MOST_COMPOSITES:
                left, right = self._composites(pair)
                through.append(Composite.of((*left.documents, *right.documents), relations))
        first = found[0].capped
        capped = [first] * len(self._passed)
        if not self._equalities:
            capped[_TIME] = found[1].capped
        for index in range(len(self._equalities)):
            # What fails by one equality alone meets the others.
            others = [some.capped for i, some in enumerate(found) if i != index]
            capped[_COMPARISONS + index] = min(others, default=in_reach > 0)
        self._count_the_rest(in_reach, capped)
        cut = len(through) > _MOST_COMPOSITES or first or self._inputs_capped
        tallies = [*self._tallies(capped, first)]
        return tallies, Through(through[:_MOST_COMPOSITES], cut)

    def _composites(self, pair: Pair) -> tuple[Composite, Composite]:
        return self._lefts[pair[0]], self._rights[pair[1]]

    def _judge(self, pair: Pair, found: Sequence[Some]) -> Sequence[Relation] | None:
        """Counts a pair; returns the assignments that are left of one that comes through."""
        left, right = self._composites(pair)
        false = [_DIFFERENT] if pair in self._shared else []
        false += [] if in_time(self._operator, left, right) else [_TIME]
        relations: Sequence[Relation] = (*left.relations, *right.relations)
        for index, conjunct in enumerate(self._conjuncts):
            if len(false) > 1:
                break
            relations, pairs = narrowed_by(conjunct, relations, self._needed[index])
            false += [] if pairs else [_COMPARISONS + index]
        for index in range(_COMPARISONS, false[0] if false else len(self._passed)):
            self._passed[index] += 1
        if len(false) == 1:
            (index,) = false
            alone = self._alone[index]
            alone.count += 1
            equality = index - _COMPARISONS
            near = 0 <= equality < len(self._equalities) and pair in found[equality].pairs
            (alone.near if near else alone.others).append(pair)
        return None if false else relations

    def _count_the_rest(self, in_reach: int, capped: list[bool]) -> None:
        """Counts what can be counted without judging it."""
        passed, alone = self._passed, self._alone
        shared = sum(in_time(self._operator, *self._composites(pair)) for pair in self._shared)
        passed[_DIFFERENT] = len(self._lefts) * len(self._rights) - len(self._shared)
        passed[_TIME] = in_reach - shared
        if not self._conjuncts:
            alone[_DIFFERENT].count, alone[_TIME].count = shared, passed[_DIFFERENT] - passed[_TIME]
            capped[_DIFFERENT] = capped[_TIME] = False
        elif len(self._equalities) == len(self._conjuncts) == 1 and not capped[_TIME]:
            alone[_COMPARISONS].count = passed[_TIME] - passed[_COMPARISONS]
            capped[_COMPARISONS] = False

    def _tallies(self, alone_capped: Sequence[bool], passed_capped: bool) -> Iterator[Tally]:
        kinds: list[tuple[Kind, str]] = [("documents", DIFFERENT), ("time", self._operator.text)]
        kinds += (("comparison", conjunct.text) for conjunct in self._conjuncts)
        for index, (kind, text) in enumerate(kinds):
            yield Tally(
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

    def _missed(self, index: int) -> Iterator[Miss]:
        alone = self._alone[index]
        some = [*alone.near[:LISTED], *alone.others[:LISTED]][:LISTED]
        if index == _TIME:
            some = nsmallest(
                LISTED, alone.others, key=lambda p: overshoot(self._operator, *self._composites(p))
            )
        if index >= _COMPARISONS and alike_of(self._conjuncts[index - _COMPARISONS].operator):
            some = nlargest(
                LISTED,
                alone.others[:_MOST_LIKE],
                key=lambda p: likeness_of(self._finding(*self._composites(p), index)),
            )
        for pair in some:
            left, right = self._composites(pair)
            ids = tuple(document.id for document in (*left.documents, *right.documents))
            yield Miss(ids, self._finding(left, right, index))

    def _finding(self, left: Composite, right: Composite, index: int) -> Finding:
        """The finding of a condition that alone is false of a pair."""
        if index == _DIFFERENT:
            return judge_documents(left, right)
        if index == _TIME:
            return judge_time(self._operator, left, right)
        relations: Sequence[Relation] = (*left.relations, *right.relations)
        ground = Ground(relations)
        for place, conjunct in enumerate(self._conjuncts[: index - _COMPARISONS]):
            relations, _ = narrowed_by(conjunct, relations, self._needed[place])
        return judge_comparison(self._conjuncts[index - _COMPARISONS], relations, (), ground)[0]
