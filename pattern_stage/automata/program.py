"""An automaton as it is run: states and types by number, fences and transfers as terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from xscl.pattern_stage.values.terms import Attribute, Predicate, Term, Truth

__all__ = ["ALWAYS", "Arc", "ArcKind", "Life", "Program", "RegisterField"]

ArcKind = Literal["consume", "ignore", "epsilon", "end", "start"]

Life = tuple[float, float]
"""From when to before when an arc lives, in microseconds."""

ALWAYS: Life = (float("-inf"), float("inf"))


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from a state to another one.

    `type` is that of the event that it takes or ignores, None for any of them; of the other kinds
    it means nothing.  `transfer` has the fields that are set, by their places; its terms, and those
    of the fence, read the register before.  `constants` stand at the places that terms name.
    """

    kind: ArcKind
    source: int
    target: int
    type: int | None = None
    fence: Predicate = field(default_factory=lambda: Truth(True))
    transfer: tuple[tuple[int, Term], ...] = ()
    constants: tuple[str | float, ...] = ()


@dataclass(frozen=True, slots=True)
class RegisterField:
    """A field of the register: whether it is a number, and its initial value, None for none."""

    number: bool
    initial: str | float | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """An automaton but for its arcs, which come and go.

    `by` are the attributes that split its input into parts: their values are the first fields of
    each register.  `within` is the lifetime of a run in microseconds.  With `keep`, runs remember
    their events.
    """

    start: int
    by: tuple[Attribute, ...]
    register: tuple[RegisterField, ...]
    within: int | None
    keep: bool
    sequence: Attribute | None = None
    """What numbers the events of each part without gaps, in order of time."""
