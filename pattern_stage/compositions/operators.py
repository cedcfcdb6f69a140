"""Operators as a plan consists of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from xscl.pattern_stage.compositions.cost import Flow
from xscl.pattern_stage.compositions.plan import Conjuncts, Event

__all__ = ["Operator", "cost", "operators"]

Kind = Literal["event", "σ", "|", ";", "+", "\\"]


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator with its inputs: of `\\` what is forbidden is the second one.

    `conditions` are its σ, φ or λ, `continuing` its θ.  `scope` is the first and last operand of an
    exception, as `Exception_` has them.
    """

    kind: Kind
    inputs: tuple[Operator, ...]
    shown: str
    """Its text in the text of others, in which σ is left out."""
    flow: Flow
    cpu: float
    conditions: Conjuncts = ()
    continuing: Conjuncts = ()
    scope: tuple[int, int] | None = None
    event: Event | None = None

    @property
    def text(self) -> str:
        """As `E1 ; (E2 ; E3)`."""
        return f"σ({self.shown})" if self.kind == "σ" else self.shown

    @property
    def nested(self) -> str:
        """Its text as an operand."""
        return f"({self.shown})" if " " in self.shown else self.shown


def operators(root: Operator) -> Iterator[Operator]:
    """The operators below a root, and itself last: left, right, above; without the sources."""
    for one in root.inputs:
        yield from operators(one)
    if root.kind != "event":
        yield root


def cost(some: Iterable[Operator]) -> float:
    """The CPU of some operators."""
    return sum(one.cpu for one in some)
