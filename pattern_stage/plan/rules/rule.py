"""A rule of the multi-query optimiser: for which operators it holds, and what it decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pattern_stage.algebra.nodes import Node
from pattern_stage.plan.operators import Design

__all__ = ["Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` as section 6 has it; `law` says in words why the matches stay the same."""

    name: str
    law: str
    takes: Callable[[Node], bool]
    decide: Callable[[Design], Design]
