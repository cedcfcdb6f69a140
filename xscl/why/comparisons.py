"""A comparison of a predicate judged on the assignments that are left
(docs/semantics.md#predicates).

It narrows the relations that its sides are in.  One that holds for none of them leaves them as
they are, so that what follows is judged as if it were not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from xscl.why.alike_values import closest
from xscl.why.blocks import NOT_TOGETHER, JudgedBlock
from xscl.why.conditions import Conjunct, Side
from xscl.why.findings import Finding, values_of
from xscl.why.near_values import near_equal
from xscl.why.relations import Cell, Relation, beside, narrowed
from xscl.xpath_stage import alike_of, compared, double_of

__all__ = ["Ground", "judge_comparison", "narrowed_by", "needed_after"]

_MOST_PAIRS = 1_000


@dataclass(frozen=True, slots=True)
class Ground:
    """What a comparison holds for by itself: the relations of all blocks before any comparison,
    and, where they are known, the blocks."""

    relations: Sequence[Relation]
    blocks: Sequence[JudgedBlock] = ()

    def holds(self, conjunct: Conjunct) -> bool:
        """Whether a comparison holds by itself, for any nodes."""
        relations = self.relations
        if self.blocks and (conjunct.block is None or len(conjunct.operands) < 2):
            sides = {side.text: side for side in conjunct.operands}
            relations = [
                Relation((text,), {(side.cell(node),) for node in self.of(side).nodes(side)})
                for text, side in sides.items()
            ]
        return bool(narrowed_by(conjunct, relations, ())[1])

    def of(self, side: Side) -> JudgedBlock:
        """The block that a side is about."""
        assert side.block is not None
        return self.blocks[side.block]


def needed_after(conjuncts: Iterable[Conjunct]) -> set[str]:
    """The sides that some comparisons still need."""
    return {side.text for conjunct in conjuncts for side in conjunct.operands}


def narrowed_by(
    conjunct: Conjunct, relations: Sequence[Relation], needed: Collection[str]
) -> tuple[Sequence[Relation], Collection[tuple[Cell, Cell]]]:
    """What a comparison leaves of the relations, and the pairs of cells with which it holds; if
    there are none it leaves all."""
    some = (*relations, *conjunct.constants)
    left, pairs = narrowed(some, conjunct.left.text, conjunct.operator, conjunct.right.text, needed)
    return left if pairs else relations, pairs


def judge_comparison(
    conjunct: Conjunct, relations: Sequence[Relation], needed: Collection[str], ground: Ground
) -> tuple[Finding, Sequence[Relation]]:
    """The finding of a comparison, and what it leaves of the relations."""
    finding = Finding("comparison", conjunct.block, conjunct.text, None)
    columns = {column for relation in relations for column in relation.columns}
    if not needed_after([conjunct]) <= columns:
        return finding, relations
    narrower, pairs = narrowed_by(conjunct, relations, needed)
    finding = replace(finding, holds=bool(pairs), satisfied=len(pairs))
    if pairs:
        return _satisfied(finding, conjunct, pairs), narrower
    return _failed(finding, conjunct, relations, ground), relations


def _satisfied(
    finding: Finding, conjunct: Conjunct, pairs: Collection[tuple[Cell, Cell]]
) -> Finding:
    """With the values for which it holds."""
    holding = [
        (a, b)
        for left, right in islice(pairs, _MOST_PAIRS)
        for a in left
        for b in right
        if compared(a, conjunct.operator, b)
    ]
    most = closest(conjunct.operator, [([a], [b]) for a, b in holding])
    firsts = (None, None) if most is None else most.pair
    left, right = (
        values_of(_sorted(pair[side] for pair in holding), firsts[side]) for side in (0, 1)
    )
    return replace(finding, left=left, right=right, note=None if most is None else most.words)


def _failed(
    finding: Finding, conjunct: Conjunct, relations: Sequence[Relation], ground: Ground
) -> Finding:
    """With the values for which it does not hold, and what is near or otherwise to be noted."""
    some = (*relations, *conjunct.constants)
    groups = beside(some, conjunct.left.text, conjunct.right.text)
    left, right = (_sorted(value for group in groups for value in group[side]) for side in (0, 1))
    near = near_equal(groups) if conjunct.operator == "=" else None
    most = closest(conjunct.operator, groups)
    firsts = (None, None) if near is None else (near.left, near.right)
    if most is not None:
        firsts = most.pair
    finding = replace(
        finding,
        left=values_of(left, firsts[0]),
        right=values_of(right, firsts[1]),
        near=None if near is None else near.words,
    )
    if ground.holds(conjunct):
        return replace(finding, note=NOT_TOGETHER)
    for side, values in ((conjunct.left, left), (conjunct.right, right)):
        if side.block is not None and not values:
            hint = ground.of(side).lost(side) if ground.blocks else None
            words, note = hint or (None, "no such node")
            return replace(finding, near=words, note=f"{side.text}: {note}")
    if most is not None:
        return replace(finding, note=most.words)
    if near is None:
        return replace(finding, note=_note(conjunct.operator, [*left, *right]))
    return finding


def _note(operator: str, values: Sequence[str | None]) -> str | None:
    if None in values and operator != "!=":
        return "NaN, what is no number, equals nothing and is in no order"
    if operator in ("=", "!=") or alike_of(operator) is not None:
        return None
    for value in values:
        if value is not None and double_of(value) is None:
            return f"compared as text: '{value}' is no number"
    return None


def _sorted(values: Iterable[str | None]) -> list[str | None]:
    """Distinct values in an order that does not depend on how they were found."""
    return sorted(set(values), key=lambda value: (value is None, value or ""))
