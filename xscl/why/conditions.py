"""A query as `why` judges it: its blocks, its operators innermost first, its comparisons.

Section 6.2 of the thesis splits a predicate at OR into conjunctive ones; here the comparisons
stay as they were written.  A comparison that names a variable of a block outside the group of its
operator belongs to the operator above that has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from xscl.language.normal_form import Operand, conjunctions, operator_of, side_of
from xscl.language.syntax import Comparison, Parameter, Query, Step
from xscl.language.syntax import Side as WrittenSide
from xscl.language.unparse import Wording
from xscl.language.walk import operands, operators
from xscl.times import span
from xscl.why.patterns import Pattern, pattern_of
from xscl.why.relations import Cell, Relation
from xscl.why.trees import Node, along
from xscl.xpath_stage import alike_of, apply

__all__ = ["Conditions", "Conjunct", "Operator", "Side", "conditions_of"]

_FEW = 64


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a comparison, about the variable of a block (its index), or a constant's cell."""

    text: str
    block: int | None
    variable: str = ""
    steps: tuple[Step, ...] = ()
    functions: tuple[str, ...] = ()
    constant: Cell = ()

    def cell(self, node: Node) -> Cell:
        """The values that it ranges over for one node of its variable."""
        found = along(node, self.steps)
        return tuple(dict.fromkeys(apply(self.functions, n.string()) for n in found))


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A comparison, the place where it is written, and the operator that it belongs to.

    `block` is the number of the only block that it is about, if there is but one.
    """

    text: str
    at: int
    operator: str
    left: Side
    right: Side
    owner: int
    block: int | None

    @property
    def operands(self) -> list[Side]:
        """The sides that are about variables."""
        return [side for side in (self.left, self.right) if side.block is not None]

    @property
    def joins(self) -> bool:
        """Whether it says what two blocks have in common: an equality or a likeness of theirs."""
        common = self.operator == "=" or alike_of(self.operator) is not None
        return common and self.block is None and len(self.operands) == 2

    @property
    def constants(self) -> list[Relation]:
        """The sides that are constants, as relations."""
        sides = {side.text: side for side in (self.left, self.right) if side.block is None}
        return [Relation((text,), {(side.constant,)}) for text, side in sides.items()]


@dataclass(frozen=True, slots=True)
class Operator:
    """FOLLOWED BY or JOIN between the blocks of two ranges (from 0); the window in microseconds,
    None where it is without end."""

    kind: str
    left: range
    right: range
    window: int | None

    @property
    def text(self) -> str:
        """The operator with its window."""
        return f"{self.kind} {{{'INF' if self.window is None else span(self.window)}}}"

    @property
    def blocks(self) -> range:
        """The blocks on both sides."""
        return range(self.left[0], self.right[-1] + 1)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is judged: `disjuncts` are the conjunctions of comparisons of which one must hold, each
    in the order of the operators, then of the text."""

    query: Query
    wording: Wording
    patterns: tuple[Pattern, ...]
    operators: tuple[Operator, ...]
    disjuncts: tuple[tuple[Conjunct, ...], ...]

    @property
    def few(self) -> bool:
        """Whether a document is judged in little time, unasked."""
        of_blocks = sum(len(pattern.conditions) for pattern in self.patterns)
        return of_blocks <= _FEW and len(self.disjuncts) <= _FEW

    def sides(self, block: int) -> list[Side]:
        """The sides of all comparisons that are about a block's variables, by its index."""
        every = (side for some in self.disjuncts for c in some for side in c.operands)
        return [*{side.text: side for side in every if side.block == block}.values()]


@lru_cache(maxsize=16)
def conditions_of(query: Query) -> Conditions:
    """Takes a well-formed query without parameters apart."""
    wording = Wording(query.text)
    blocks = enumerate(operands(query.source), start=1)
    patterns = tuple(pattern_of(number, block, wording) for number, block in blocks)
    places = {item.variable: p.number - 1 for p in patterns for item in p.items if item.variable}
    found: list[Operator] = []
    written: list[list[tuple[Comparison, ...]]] = []
    waiting: list[range] = []
    block = 0
    for join, reached in operators(query.source):
        waiting += (range(number, number + 1) for number in range(block, reached))
        block = reached
        right, left = waiting.pop(), waiting.pop()
        found.append(Operator(join.operator, left, right, join.window.length))
        written.append(list(conjunctions(join.predicate)))
        waiting.append(found[-1].blocks)
    disjuncts = []
    for chosen in product(*written):
        conjuncts = [
            _conjunct(comparison, found[own], found, places, wording)
            for own, comparisons in enumerate(chosen)
            for comparison in comparisons
        ]
        disjuncts.append(tuple(sorted(conjuncts, key=lambda c: (c.owner, c.at))))
    return Conditions(query, wording, patterns, tuple(found), tuple(disjuncts))


def _conjunct(
    comparison: Comparison,
    own: Operator,
    operators: Sequence[Operator],
    places: Mapping[str, int],
    wording: Wording,
) -> Conjunct:
    left, right = (_side(side, places, wording) for side in (comparison.left, comparison.right))
    blocks = {side.block for side in (left, right) if side.block is not None}
    needed = {own.left[0], own.right[-1], *blocks}
    return Conjunct(
        wording.comparison(comparison),
        comparison.at,
        operator_of(comparison),
        left,
        right,
        next(n for n, operator in enumerate(operators) if needed <= {*operator.blocks}),
        min(blocks) + 1 if len(blocks) == 1 else None,
    )


def _side(side: WrittenSide, places: Mapping[str, int], wording: Wording) -> Side:
    text, found = wording.side(side), side_of(side)
    if isinstance(found, Operand):
        return Side(text, places[found.variable], found.variable, found.steps, found.functions)
    if isinstance(found, Parameter):
        raise ValueError(f"the parameter :{found.name} has no value")
    return Side(text, None, constant=(found,))
