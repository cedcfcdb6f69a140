"""The matches of a step: all that publishing returns, and those that somebody waits for."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Deliveries", "Delivery"]

Delivery = tuple[Subscription, "Match"]


class Deliveries:
    """Matches with `all_of_them` as they come, and in `awaited` those of callbacks and of readers
    of streams, with their queries; where nobody is `open` to streams, callbacks alone wait."""

    def __init__(self, *, all_of_them: bool, open: bool) -> None:
        self.all_of_them, self._open = all_of_them, open
        self.matches: list[Match] = []
        self.awaited: list[Delivery] = []

    def wants(self, owner: Subscription) -> bool:
        """Whether the matches of a query are to be made."""
        return owner.reported and (self.all_of_them or self._awaits(owner))

    def add(self, owner: Subscription, matches: list[Match]) -> None:
        """Adds matches of a query that is wanted."""
        if self.all_of_them:
            self.matches += matches
        if self._awaits(owner):
            self.awaited += zip(repeat(owner), matches, strict=False)

    def _awaits(self, owner: Subscription) -> bool:
        if owner.on_match is not None:
            return True
        # With all of them, a callback may still come before they are handed over.
        return self._open and (self.all_of_them or owner.wiring.stream is not None)
