"""What the join stage puts out one by one: matches of the queries of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from join_stage.plan import Plan

__all__ = ["Outputs", "Wanted"]


class Wanted(Enum):
    """Which matches are wanted one by one."""

    ALL = auto()
    BUT_SOLE_DISJUNCTS = auto()
    """All but those of queries that are alone, which `counts` counts."""
    BUT_CHANNELS = auto()
    """All but those of queries that are alone in the channels of `tuples`."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Matches of the queries of one plan, each once: rows of the query's number, the numbers of
    the documents or composites (one for each side), the codes of the plan's output nodes, and
    the numbers of the strings of its valued ones."""

    plan: Plan
    rows: list[tuple[int, ...]]
