"""A composition with its plan: what the rules made of its normal form, and the nodes of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from xscl.pattern_stage.compositions.cost import UNKNOWN, Rates
from xscl.pattern_stage.compositions.lowering import Lowered, lowered
from xscl.pattern_stage.compositions.plan import Plan
from xscl.pattern_stage.compositions.rules import Rewriting, rewritten

__all__ = ["ASSUMED", "Composition", "Planned", "Rate"]

Rate = tuple[float, Literal["given", "measured", "assumed"]]
"""Events a second, and who says so."""

ASSUMED: Rate = UNKNOWN, "assumed"


class Composition(NamedTuple):
    """A query in normal form, with its constants."""

    normal: Plan
    constants: tuple[Any, ...]

    def planned(self, rates: Sequence[Rate], without: Iterable[str] = ()) -> Planned:
        """Its plan, given the rates of its sources by their types."""
        of = tuple([rate for rate, _ in rates])
        rewriting = _rewritten(self.normal, of, frozenset(without))
        return Planned(rewriting, lowered(rewriting.plan, self.constants), tuple(rates))


class Planned(NamedTuple):
    """A plan, its nodes with their constants, and the rates that it was made for."""

    rewriting: Rewriting
    lowered: Lowered
    rates: tuple[Rate, ...]

    def is_dearer(self, other: Planned, without: Collection[str] = ()) -> bool:
        """Whether it costs more than another by a fifth, at the other's rates."""
        of = tuple([rate for rate, _ in other.rates])
        now = _rewritten(self.rewriting.plan, of, frozenset([*without, *_ORDERING])).cost
        return now > other.rewriting.cost * 1.25


@lru_cache(maxsize=10_000)
def _rewritten(plan: Plan, rates: tuple[float, ...], without: frozenset[str]) -> Rewriting:
    """What the rules make of a plan; queries that differ in constants have one."""
    return rewritten(plan, Rates(dict(enumerate(rates))), without)


_ORDERING = ("push_filters", "order_unions", "bracket_next")
