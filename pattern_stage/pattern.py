"""A pattern as the input of the pattern stage: the result of a front end for a query's text.

Components in order of time, a strategy, and a condition in conjunctive normal form over the
attributes of their events (SASE: Wu et al.  2006, section 2; SASE+: Agrawal et al.  2008, section
2).  Constants are separate, as places in a tuple: patterns that are the same up to constants are
one template.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from xscl.pattern_stage.values.terms import Attribute, Comparison, Constant

__all__ = [
    "Component",
    "Conjunct",
    "Pattern",
    "Strategy",
    "Test",
]


class Strategy(Enum):
    """Which events between two of a match may be ignored (SASE+, section 2.2)."""

    STRICT_CONTIGUITY = auto()
    PARTITION_CONTIGUITY = auto()
    SKIP_TILL_NEXT_MATCH = auto()
    SKIP_TILL_ANY_MATCH = auto()


Conjunct = tuple[Comparison, ...]
"""Comparisons joined by OR, at least one."""


@dataclass(frozen=True, slots=True)
class Test:
    """An equivalence test: `[x]` over all pairs of events, or `[x = c]` of each event."""

    attribute: Attribute
    constant: Constant | None = None


# The whole


@dataclass(frozen=True, slots=True)
class Component:
    """A component: the number of its types, and its kind.  `any` makes a comparison true that reads
    an attribute which its event lacks."""

    name: str
    types: int = 1
    kleene: bool = False
    negated: bool = False
    any: bool = False

    def __post_init__(self) -> None:
        if self.types < 1:
            raise ValueError(f"component {self.name} has no type")
        if self.kleene and self.negated:
            raise ValueError(f"component {self.name} is negated and a Kleene plus")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Components in order, at least one of them positive.

    `within` is in microseconds, at least 1, None for no window.  Every conjunct and test holds; a
    conjunct reads at most one negated component, and ranges over the `i` of at most one Kleene
    component.
    """

    components: tuple[Component, ...]
    strategy: Strategy = Strategy.SKIP_TILL_ANY_MATCH
    conjuncts: tuple[Conjunct, ...] = ()
    tests: tuple[Test, ...] = ()
    within: int | None = None
    non_overlapping: bool = False

    def __post_init__(self) -> None:
        if all(component.negated for component in self.components):
            raise ValueError("a pattern has a positive component")
        if self.within is None and self.components[-1].negated:
            raise ValueError("a negated end has a window")
        if self.within is not None and self.within < 1:
            raise ValueError(f"a window of {self.within} microseconds")

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches (SASE+, section 2.3)."""
        return (
            self.strategy is Strategy.SKIP_TILL_ANY_MATCH
            and not self.non_overlapping
            and not any(component.negated for component in self.components)
        )
