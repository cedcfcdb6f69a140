"""The stages of a funnel: one for each condition, with what came through and what it alone kept
back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from xscl.why.findings import Finding, Kind

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LISTED", "Funnel", "Miss", "Stage"]

LISTED = 20
"""Misses that are listed of one condition."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Documents (by id) that failed by one condition alone, and its finding for them."""

    documents: tuple[str, ...]
    finding: Finding


@dataclass(frozen=True, slots=True)
class Stage:
    """One condition: how many `passed` it and all before it, and how many failed by it `alone`, of
    which a few are listed, near misses first.  A count that is `capped` is a lower bound.

    Of a stage with `pairs` it is pairs that are counted, else documents.
    """

    kind: Kind
    block: int | None
    text: str
    passed: int
    capped: bool = False
    alone: int = 0
    alone_capped: bool = False
    missed: tuple[Miss, ...] = ()
    pairs: bool = False
    disjunct: int | None = None


@dataclass(frozen=True, slots=True)
class Funnel:
    """The stages of a query over some number of documents."""

    query: str
    documents: int
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        """As text of 100 columns."""
        from xscl.why.rendering import as_text  # which is made of what is defined here

        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As a table for a terminal."""
        from xscl.why.rendering import funnel_table

        return funnel_table(self)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)
