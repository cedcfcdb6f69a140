"""A query as `why` judges it: its blocks, its operators innermost first, its comparisons.

Section 6.2 of the thesis splits a predicate at OR into conjunctive ones; here the comparisons
stay as they were written.  A comparison that names a variable of a block outside the group of its
operator belongs to the operator above that has all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xpath_stage import apply, number_text
from xscl.language.syntax import (
    Block,
    Comparison,
    Conjunction,
    Disjunction,
    Join,
    Literal,
    Parameter,
    Predicate,
    Query,
    Side,
    Source,
    SubQuery,
    VariablePath,
    Wrapped,
)
from xscl.language.unparse import Wording
from xscl.why.assignments import Operand
from xscl.why.durations import span
from xscl.why.patterns import Pattern, pattern_of
from xscl.why.relations import Cell

__all__ = ["Conjunct", "Operator", "Plan", "plan_of"]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A comparison, the place where it is written, and the operator that it belongs to.

    A side is an operand, or the cell of a constant.  `block` is the number of the only block
    that it is about, if there is but one.
    """

    text: str
    at: int
    operator: str
    left: Operand | Cell
    right: Operand | Cell
    owner: int
    block: int | None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The sides that are about variables."""
        return tuple(side for side in (self.left, self.right) if isinstance(side, Operand))

    @property
    def sides(self) -> tuple[str | Cell, str | Cell]:
        """The sides as relations know them."""
        left, right = (s.text if isinstance(s, Operand) else s for s in (self.left, self.right))
        return left, right


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


@dataclass(frozen=True, slots=True)
class Plan:
    """What is judged: `disjuncts` are the conjunctions of comparisons of which one must hold, each
    in the order of the operators, then of the text."""

    query: Query
    wording: Wording
    patterns: tuple[Pattern, ...]
    operators: tuple[Operator, ...]
    disjuncts: tuple[tuple[Conjunct, ...], ...]

    def operands(self, block: int) -> list[Operand]:
        """The operands of all comparisons that are about a block's variables, by its index."""
        variables = {item.variable for item in self.patterns[block].items} - {None}
        found = {
            operand.text: operand
            for disjunct in self.disjuncts
            for conjunct in disjunct
            for operand in conjunct.operands
            if operand.variable in variables
        }
        return [*found.values()]


def plan_of(query: Query) -> Plan:
    """Takes a well-formed query without parameters apart."""
    wording = Wording(query.text)
    blocks = list(_blocks(query.source))
    patterns = tuple(pattern_of(number, b, wording) for number, b in enumerate(blocks, start=1))
    places = {item.variable: p.number - 1 for p in patterns for item in p.items if item.variable}
    operators: list[Operator] = []
    predicates: list[list[tuple[Comparison, ...]]] = []
    _operators(query.source, 0, operators, predicates)
    disjuncts = []
    for chosen in product(*predicates):
        conjuncts = [
            _conjunct(comparison, own, operators, places, wording)
            for own, comparisons in enumerate(chosen)
            for comparison in comparisons
        ]
        disjuncts.append(tuple(sorted(conjuncts, key=lambda c: (c.owner, c.at))))
    return Plan(query, wording, patterns, tuple(operators), tuple(disjuncts))


def _blocks(source: Source) -> Iterator[Block | SubQuery]:
    if isinstance(source, Join):
        yield from _blocks(source.left)
        yield from _blocks(source.right)
    else:
        yield source


def _operators(
    source: Source,
    first: int,
    operators: list[Operator],
    predicates: list[list[tuple[Comparison, ...]]],
) -> int:
    """Adds the operators of a source whose blocks begin at `first`, innermost first, and the
    disjuncts of their predicates; returns where the blocks after it begin."""
    if not isinstance(source, Join):
        return first + 1
    middle = _operators(source.left, first, operators, predicates)
    end = _operators(source.right, middle, operators, predicates)
    left, right = range(first, middle), range(middle, end)
    operators.append(Operator(source.operator, left, right, source.window.length))
    predicates.append(list(_disjuncts(source.predicate)))
    return end


def _disjuncts(predicate: Predicate | None) -> Iterator[tuple[Comparison, ...]]:
    match predicate:
        case None:
            yield ()
        case Disjunction():
            for part in predicate.parts:
                yield from _disjuncts(part)
        case Conjunction():
            for parts in product(*(list(_disjuncts(part)) for part in predicate.parts)):
                yield tuple(comparison for part in parts for comparison in part)
        case Comparison():
            yield (predicate,)


def _conjunct(
    comparison: Comparison,
    own: int,
    operators: Sequence[Operator],
    places: Mapping[str, int],
    wording: Wording,
) -> Conjunct:
    left, right = (_side(side, wording) for side in (comparison.left, comparison.right))
    blocks = {places[side.variable] for side in (left, right) if isinstance(side, Operand)}
    needed = {operators[own].left[0], operators[own].right[-1]} | blocks
    owner = next(
        number
        for number, operator in enumerate(operators)
        if all(operator.left[0] <= block <= operator.right[-1] for block in needed)
    )
    return Conjunct(
        wording.comparison(comparison),
        comparison.at,
        comparison.operator,
        left,
        right,
        owner,
        min(blocks) + 1 if len(blocks) == 1 else None,
    )


def _side(side: Side, wording: Wording) -> Operand | Cell:
    match side:
        case VariablePath():
            return Operand(wording.side(side), side.variable.text, side.steps, ())
        case Literal(value=str(value)):
            return (value,)
        case Literal(value=value):
            return (number_text(float(value)),)
        case Wrapped():
            inner = _side(side.operand, wording)
            if isinstance(inner, Operand):
                functions = (*inner.functions, side.function)
                return Operand(wording.side(side), inner.variable, inner.steps, functions)
            (constant,) = inner
            return (apply((side.function,), "NaN" if constant is None else constant),)
        case Parameter():
            raise ValueError(f"the parameter :{side.name} has no value")
