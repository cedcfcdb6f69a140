"""An automaton as `runs.py` executes it: states, moves with fences and transfers, stops.

It is the target of the front ends (docs/semantics.md#edges-of-the-automaton).  A run is (state,
register, start, chain); registers are tuples of just the columns that later moves read, so that
equivalent runs are equal (the masks M of SASE+, section 5.2).

- a *scan* is the condition on a single event for a component: a filter, and gates,
  through which constants of many queries pass together;
- a *move* takes a run from a state to a state with an event: `step(register, event)` is fence
  and transfer in one, the new register, or None;
- what *stops* a run, so that it may not ignore an epoch: `Ignoring`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from xscl.pattern_stage.gates import Comparator

__all__ = [
    "START",
    "Automaton",
    "EachOf",
    "Epsilon",
    "Finish",
    "Functions",
    "GateOf",
    "Gated",
    "Ignoring",
    "Move",
    "Negated",
    "Register",
    "Scan",
    "StackPlan",
]

Register = tuple[Any, ...]

Functions = Mapping[str, Callable[..., Any]]
"""The compiled functions of an automaton for the constants of a query, by name."""

START = 0
"""The state of a run that has taken nothing."""


class Ignoring(Enum):
    """Which epochs a run may pass."""

    ALL = auto()
    UNMOVED = auto()
    """Those without an event by which a `stops` move takes it."""
    NONE_OF_PARTITION = auto()
    """Those without an event of its partition."""
    NONE = auto()
    """None that has an event of the input."""


@dataclass(frozen=True, slots=True)
class GateOf:
    """A comparison of a value, which the function of this name computes, with a constant."""

    value: str
    operator: Comparator
    number: bool
    constant: int


@dataclass(frozen=True, slots=True)
class EachOf:
    """A condition over constants, tested for each tuple of those at some places: its function has
    this name; its first arguments are the constants, each as it is and as a number."""

    holds: str
    constants: tuple[int, ...]
    monotone: bool = False
    """Whether it has one constant, and with a growing constant becomes true once, or false once, or
    does not change."""


Gated = tuple[GateOf | EachOf, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """The condition on a single event: the name of a filter, and gates."""

    filter: str | None = None
    gates: Gated = ()


@dataclass(frozen=True, slots=True)
class Move:
    """From `source` to `target` with an event of a component that passes a scan.

    `fence`, `gates` and `walk` are over register and event, register and event, and the events
    taken so far with the new one.  `finish` is the further condition on a run in its target to be a
    match; None where it is none.
    """

    source: int
    target: int
    component: int
    scan: Scan
    step: str | None
    """None where every event passes, and the register does not change."""
    stops: bool
    equal: tuple[str, str] | None = None
    """Of the event and of the register: the values that must be equal, None for an event that lacks
    one."""
    gates: Gated = ()
    walk: str | None = None
    finish: Finish | None = None
    epsilon: Epsilon | None = None


@dataclass(frozen=True, slots=True)
class Epsilon:
    """A further move of a run that has just moved, without an event: fence and transfer are over
    its register."""

    target: int
    step: str | None
    gates: Gated = ()
    walk: str | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The condition for a run that has just moved to be a match: a test of its register, gates, a
    walk."""

    test: str | None = None
    gates: Gated = ()
    walk: str | None = None


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated component between two positive ones, by their places; None beyond the ends.

    `key` of its event and `key_of` of the events of a match, where there are some, are equal for
    all that can forbid it; `holds` is the rest of the condition on both.
    """

    component: int
    after: int | None
    before: int | None
    scan: Scan
    key: str | None
    key_of: str | None
    holds: str | None


@dataclass(frozen=True, slots=True)
class StackPlan:
    """A sequence of components in which any event may be skipped: their scans, the functions for
    the keys of their events (None: one for all), and the function that constructs the sequences
    that end with an event of the last one, with its gates (`stacks.py`)."""

    components: tuple[int, ...]
    scans: tuple[Scan, ...]
    keys: tuple[str | None, ...]
    construct: str
    gates: Gated
    tests: int
    """How many values of each key are of tests; they come first, and are all of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Automaton:
    """All of a pattern but its constants; `make` compiles its functions for some."""

    make: Callable[[tuple[str | float, ...]], Functions]
    moves: tuple[Move, ...]
    negated: tuple[Negated, ...]
    ignoring: Ignoring
    within: int | None
    kleene: tuple[bool, ...]
    names: tuple[str, ...]
    types: tuple[tuple[int, ...], ...]
    keys: Mapping[int, str]
    """For each component the name of the function for an event's partition; none where partitions
    cannot be distinguished by value."""
    belongs: Mapping[int, str]
    """For each type, that function where partitions are what a run may not ignore."""
    partition: Mapping[int, tuple[GateOf, ...]]
    """And the gates that an event of a partition passes."""
    same_partition: Mapping[tuple[int, int], str]
    """For each state and type: of register and event, where runs of several partitions are
    together."""
    overlap: str | None
    """Of the events of a match: the partition in which it must not overlap with others."""
    merging: bool
    fixed: tuple[int, ...]
    """The places of the constants that no gate compares."""
    sequence: StackPlan | None = None
    """For a pattern that stacks evaluate, in place of the moves."""
    source: str = field(repr=False, default="")
