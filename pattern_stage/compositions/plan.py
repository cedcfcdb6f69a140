"""Plans of compositions: chains, unions and iterations of events, with each conjunct where it
decides (docs/semantics.md#composites).

A plan is the normal form of a query, with the order in which chains and unions take their operands
two by two.  Plans are values: a rule makes a plan of a plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes import Node
from xscl.pattern_stage.values.terms import Column, Comparison, Predicate

__all__ = [
    "Bracket",
    "Chain",
    "Conjunct",
    "Either",
    "Event",
    "Exception_",
    "Many",
    "Plan",
    "Step",
    "events",
    "left_deep",
    "lengths",
    "plans",
    "variables",
]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of WHERE.

    Its `predicate` reads side 0 wherever it stands: `Column(0, "A" STEP "x")` is the attribute of
    the last event of a variable; `Range(0, name, "last")` is `PREV`, with "all" `ALL`, in a
    `ForAll`; `Spread` is of `OCCURS WITHIN`.  `place` says which one of the query it is.
    """

    predicate: Predicate
    variables: frozenset[str]
    quantified: frozenset[str] = frozenset()
    """Those of the variables that PREV, ALL or OCCURS WITHIN reads."""
    filters: bool = False
    place: int = 0

    @property
    def equality(self) -> tuple[str, str] | None:
        """The two names of an equality of simple fields of two variables."""
        match self.predicate:
            case Comparison("=", Column(_, one), Column(_, other)) if len(self.variables) == 2:
                return one, other
        return None


Conjuncts = tuple[Conjunct, ...]

Bracket = int | tuple["Bracket", "Bracket"]
"""The place of an operand, or two parts."""


@dataclass(frozen=True, slots=True)
class Event:
    """The events of a source, as those of a variable, that meet `conditions` (σ)."""

    variable: str
    source: Node
    type: int
    """A key of the source's rate."""
    conditions: Conjuncts = ()


@dataclass(frozen=True, slots=True)
class Either:
    """`A | B | C`, with σ; no operand is a union."""

    operands: tuple[Plan, ...]
    order: Bracket
    conditions: Conjuncts = ()


@dataclass(frozen=True, slots=True)
class Many:
    """`E+` with its φ and θ."""

    operand: Plan
    phi: Conjuncts = ()
    theta: Conjuncts = ()


@dataclass(frozen=True, slots=True)
class Step:
    """The `;` before an operand: φ skips, θ ends the attempt."""

    phi: Conjuncts = ()
    theta: Conjuncts = ()


@dataclass(frozen=True, slots=True)
class Exception_:
    """`\\`: no event of `forbidden` that meets `conditions` (λ) is strictly between the end of
    operand `low` (0: the start of the first one) and the end of operand `high`; operands are
    counted from 1."""

    forbidden: Plan
    low: int
    high: int
    conditions: Conjuncts = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """`E1 ; … ; En` with `steps[k - 2]` before operand k and exceptions; of one operand where that
    is no chain and has exceptions.  No operand is a chain."""

    operands: tuple[Plan, ...]
    steps: tuple[Step, ...]
    order: Bracket
    exceptions: tuple[Exception_, ...] = ()


Plan = Event | Either | Many | Chain


def left_deep(count: int) -> Bracket:
    """`((0, 1), 2), …`: the order of the text."""
    order: Bracket = 0
    for place in range(1, count):
        order = order, place
    return order


def plans(plan: Plan, *, forbidden: bool = True) -> Iterator[Plan]:
    """A plan and the plans in it, in the order of the text; with `forbidden` those of exceptions,
    too."""
    yield plan
    match plan:
        case Either(operands):
            for one in operands:
                yield from plans(one, forbidden=forbidden)
        case Many(operand):
            yield from plans(operand, forbidden=forbidden)
        case Chain(operands, _, _, exceptions):
            for one in operands:
                yield from plans(one, forbidden=forbidden)
            if forbidden:
                for exception in exceptions:
                    yield from plans(exception.forbidden)


def events(plan: Plan, *, forbidden: bool = True) -> Iterator[Event]:
    """The events of a plan, in the order of the text."""
    return (one for one in plans(plan, forbidden=forbidden) if isinstance(one, Event))


def variables(plan: Plan, *, forbidden: bool = False) -> frozenset[str]:
    """The variables of a plan's composites; with `forbidden` those of exceptions, too."""
    return frozenset(one.variable for one in events(plan, forbidden=forbidden))


def lengths(plan: Plan) -> tuple[int, int | None]:
    """The least and the greatest number of events in a composite, None where that is not
    bounded."""
    match plan:
        case Event():
            return 1, 1
        case Either(operands):
            some = [lengths(one) for one in operands]
            most = [one for _, one in some if one is not None]
            return min(one for one, _ in some), max(most) if len(most) == len(some) else None
        case Many(operand):
            return lengths(operand)[0], None
        case Chain(operands):
            some = [lengths(one) for one in operands]
            most = [one for _, one in some if one is not None]
            return sum(one for one, _ in some), sum(most) if len(most) == len(some) else None
