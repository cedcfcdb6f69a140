"""A comparison of a predicate judged on the assignments that are left (section 3 of the language).

It narrows the factors that its sides are in.  One that holds for none of them leaves them as they
are, so that what follows is judged as if it were not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from xpath_stage import compared, double_of
from xscl.why.assignments import Operand
from xscl.why.blocks import NOT_TOGETHER, JudgedBlock
from xscl.why.findings import Finding, values_of
from xscl.why.near_values import Group, near_equal
from xscl.why.operators import Conjunct
from xscl.why.relations import Cell, Factor, cells_of, groups_of, narrowed

__all__ = ["Ground", "judge_comparison", "needed_after"]

_MOST_PAIRS = 1_000


@dataclass(frozen=True, slots=True)
class Ground:
    """What a comparison holds for by itself: the factors of all blocks before any comparison, the
    cells over all nodes of each operand's variable, and the hints on paths that lead nowhere."""

    factors: tuple[Factor, ...]
    everything: Mapping[str, frozenset[Cell]]
    hints: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, blocks: Iterable[JudgedBlock]) -> Ground:
        """That of some blocks."""
        factors: list[Factor] = []
        everything: dict[str, frozenset[Cell]] = {}
        hints: dict[str, tuple[str, str]] = {}
        for block in blocks:
            factors += block.factors
            everything |= block.everything
            hints |= block.hints
        return cls(tuple(factors), everything, hints)

    def holds(self, conjunct: Conjunct) -> bool:
        """Whether a comparison holds by itself, for any nodes."""
        left, right = conjunct.sides
        factors = self.factors
        if conjunct.block is None or len(conjunct.operands) < 2:
            factors = tuple(
                Factor((side,), frozenset((cell,) for cell in self.everything[side]))
                for side in dict.fromkeys(operand.text for operand in conjunct.operands)
            )
        return bool(narrowed(factors, left, conjunct.operator, right, set()).pairs)


def needed_after(conjuncts: Sequence[Conjunct]) -> set[str]:
    """The sides that some comparisons still need."""
    return {operand.text for conjunct in conjuncts for operand in conjunct.operands}


def judge_comparison(
    conjunct: Conjunct, factors: tuple[Factor, ...], needed: set[str], ground: Ground
) -> tuple[Finding, tuple[Factor, ...]]:
    """The finding of a comparison, and what it leaves of the factors."""
    finding = Finding("comparison", conjunct.block, conjunct.text, None)
    left, right = conjunct.sides
    if cells_of(factors, left) is None or cells_of(factors, right) is None:
        return finding, factors
    found = narrowed(factors, left, conjunct.operator, right, needed)
    if found.pairs:
        finding = replace(finding, holds=True, satisfied=len(found.pairs))
        return _satisfied(finding, conjunct, found.pairs), found.factors
    finding = replace(finding, holds=False)
    return _failed(finding, conjunct, groups_of(factors, left, right), ground), factors


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
    return replace(
        finding,
        left=values_of(_sorted(a for a, _ in holding)),
        right=values_of(_sorted(b for _, b in holding)),
    )


def _failed(
    finding: Finding,
    conjunct: Conjunct,
    groups: Sequence[Group],
    ground: Ground,
) -> Finding:
    """With the values for which it does not hold, and what is near or otherwise to be said."""
    left, right = (_sorted(value for group in groups for value in group[side]) for side in (0, 1))
    near = near_equal(groups) if conjunct.operator == "=" else None
    firsts = (None, None) if near is None else (near.left, near.right)
    finding = replace(
        finding,
        left=values_of(left, firsts[0]),
        right=values_of(right, firsts[1]),
        near=None if near is None else near.words,
    )
    if ground.holds(conjunct):
        return replace(finding, note=NOT_TOGETHER)
    for operand, values in _with_values(conjunct, left, right):
        if not values:
            words, note = ground.hints.get(operand.text, (None, "no such node"))
            return replace(finding, near=words, note=f"{operand.text}: {note}")
    if near is None:
        return replace(finding, note=_note(conjunct.operator, left, right))
    return finding


def _with_values(
    conjunct: Conjunct, left: list[str | None], right: list[str | None]
) -> Iterable[tuple[Operand, list[str | None]]]:
    for side, values in ((conjunct.left, left), (conjunct.right, right)):
        if isinstance(side, Operand):
            yield side, values


def _note(operator: str, left: Sequence[str | None], right: Sequence[str | None]) -> str | None:
    values = [*left, *right]
    if None in values and operator != "!=":
        return "NaN, what is no number, equals nothing and is in no order"
    if operator in ("=", "!="):
        return None
    for value in values:
        if value is not None and double_of(value) is None:
            return f"compared as text: '{value}' is no number"
    return None


def _sorted(values: Iterable[str | None]) -> list[str | None]:
    """Distinct values in an order that does not depend on how they were found."""
    return sorted(set(values), key=lambda value: (value is None, value or ""))
