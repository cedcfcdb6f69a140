"""What a pattern or an automaton is compiled to, as a level takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from xscl.consistency import Level
    from xscl.language.syntax import Block

__all__ = ["TimedQuery"]


class TimedQuery(Protocol):
    """A query that a pattern stage runs."""

    @property
    def blocks(self) -> tuple[tuple[Block, ...], ...]:
        """The types of each component of a pattern, or each type of an automaton."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of these."""

    @property
    def dynamic(self) -> bool:
        """Whether its arcs may come and go."""

    @property
    def composite(self) -> bool:
        """Whether its plan is of the algebra of event queries."""

    @property
    def eager(self) -> bool:
        """Whether it says itself that it is `strong`, and what numbers its events without gaps."""

    @property
    def within(self) -> int | None:
        """The length of the window in microseconds, None of one without end."""

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches."""

    @property
    def level(self) -> Level | None:
        """The consistency that it asks for."""

    def add_to(
        self,
        stage: Any,
        number: int,
        types: Sequence[Sequence[int]],
        since: int,
        *,
        weak: bool = False,
        in_order: bool = False,
    ) -> None:
        """Adds it to a stage, a `PatternStage` or, of a composite, a `CompositeStage`, as a query
        that sees events with numbers not below `since`, given the numbers of its types.  A `weak`
        one reports what the events so far decide; `in_order`, as their documents may be retracted,
        it processes none before the watermark has reached it."""
