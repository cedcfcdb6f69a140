"""Plans of event queries: immutable operators over streams of events (Cayuga's algebra; Hong 2009,
section 3.2; patterns-cel.md, sections 3 and 5).

A node is its operator and its inputs; `names` are the attributes that its events list, `open`
whether they may have others.  Conditions are tuples of conjuncts, the empty one TRUE.  Constants
are places in the query's tuple, so queries alike but for constants have one plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from pattern_stage.algebra.terms import Predicate, Scalar

__all__ = [
    "INF",
    "Aggregate",
    "Condition",
    "Item",
    "Iterate",
    "Map",
    "Node",
    "Select",
    "Sequence",
    "Source",
    "Union",
]

INF = None
"""The length of a window without end."""

Condition = tuple[Predicate, ...]

Item = tuple[str, Scalar]
"""A name, and its term over side 0.  A `Column` keeps its JSON value."""


@dataclass(frozen=True, slots=True)
class Source:
    """σ₀: the events of a type; `names` None where the stream is open."""

    type: int
    names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Select:
    """σ: the events for which the condition holds."""

    condition: Condition
    input: Node


@dataclass(frozen=True, slots=True)
class Map:
    """π, ρ and α_g in one: with `star` the attributes of the input beside, which items replace."""

    star: bool
    items: tuple[Item, ...]
    input: Node


@dataclass(frozen=True, slots=True)
class Union:
    """∪: `names` None where it is open."""

    names: tuple[str, ...] | None
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Sequence:
    """`;`: the left event and the first right one after it that the condition admits.

    With `renamed` every attribute a of the left becomes a_1.  Where an open right event shows a
    name of the left, its value stands.
    """

    condition: Condition
    renamed: bool
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Iterate:
    """µ: θ is `condition`, ρ `going_on`, F `aggregates` (terms over sides 0, 1, 2).

    `common` are the left's attributes that become a_1 (None: all but the aggregates' names, where
    both sides are open); `right` the names of the right input's attributes, None where open.
    """

    condition: Condition
    going_on: Condition
    aggregates: tuple[Item, ...]
    common: tuple[str, ...] | None
    right_names: tuple[str, ...] | None
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Aggregate:
    """α, and with a `window` of 0 β: for each epoch and group one point event.

    `window` is the place of its length in microseconds among the constants, or None for INF.
    `keys` are attributes; items are terms over side 0, in which a `Call` of `count sum avg min max
    argmax argmin` is over the group (`count` with no argument: of all), and keys by name.
    """

    window: int | None
    keys: tuple[str, ...]
    items: tuple[Item, ...]
    input: Node


Node = Source | Select | Map | Union | Sequence | Iterate | Aggregate
