"""Plans to test with: their events are E1, E2, …, each of a source of its own."""

from __future__ import annotations

from collections.abc import Iterable

from xscl.pattern_stage.algebra.nodes import Source
from xscl.pattern_stage.compositions.plan import (
    Bracket,
    Chain,
    Conjunct,
    Either,
    Event,
    Exception_,
    Plan,
    Step,
    left_deep,
)
from xscl.pattern_stage.values.terms import STEP, Column, Comparison, Constant, Predicate, leaves


def event(number: int, name: str | None = None) -> Event:
    return Event(name or f"E{number}", Source(number, None), number)


def chain(
    *operands: Plan,
    phi: dict[int, tuple[Conjunct, ...]] | None = None,
    theta: dict[int, tuple[Conjunct, ...]] | None = None,
    exceptions: Iterable[Exception_] = (),
    order: Bracket | None = None,
) -> Chain:
    """With φ and θ by operands, counted from 1."""
    count = len(operands)
    steps = tuple(
        Step((phi or {}).get(place, ()), (theta or {}).get(place, ()))
        for place in range(2, count + 1)
    )
    return Chain(operands, steps, left_deep(count) if order is None else order, (*exceptions,))


def either(*operands: Plan, conditions: tuple[Conjunct, ...] = ()) -> Either:
    return Either(operands, left_deep(len(operands)), conditions)


def field(name: str) -> Column:
    """`A.acc`."""
    variable, _, attribute = name.partition(".")
    return Column(0, f"{variable}{STEP}{attribute}")


def same(one: str, other: str) -> Conjunct:
    return conjunct(Comparison.of("=", field(one), field(other)))


def above(name: str, place: int = 0) -> Conjunct:
    """More than a constant."""
    return conjunct(Comparison.of(">", field(name), Constant(place, True)))


def conjunct(predicate: Predicate) -> Conjunct:
    names = {one.name for one in leaves(predicate) if isinstance(one, Column)}
    return Conjunct(predicate, frozenset(name.partition(STEP)[0] for name in names), filters=True)
