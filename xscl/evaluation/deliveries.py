"""The matches of a step: all that publishing returns, and those that somebody waits for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from xscl.matches.matches import Matches
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["Deliveries", "Delivery", "MatchKey", "key_of"]

Delivery = tuple[Subscription, "Match"]

MatchKey = tuple[str, str]
"""The query of a match, and its id."""

T = TypeVar("T")


def key_of(match: Match) -> MatchKey:
    """What a match has in common with its retraction."""
    return match.query, match.id


def _settled(some: Sequence[T], match_of: Callable[[T], Match]) -> list[T]:
    back = {match_of(one).query for one in some if match_of(one).retracts}
    new: dict[MatchKey, int] = {}
    dropped = set[int]()
    for place, one in enumerate(some):
        match = match_of(one)
        if match.query not in back:
            continue
        key = key_of(match)
        if not match.retracts:
            new[key] = place
        elif (came := new.pop(key, None)) is not None:
            dropped |= {came, place}
    left = [one for place, one in enumerate(some) if place not in dropped]
    return sorted(left, key=lambda one: not match_of(one).retracts)


class Deliveries:
    """Matches with `all_of_them` as they come, and in `awaited` those of callbacks and of readers
    of streams, with their queries; where nobody is `open` to streams, callbacks alone wait."""

    def __init__(self, *, all_of_them: bool, open: bool) -> None:
        self.all_of_them, self._open = all_of_them, open
        self.matches = Matches()
        self.awaited: list[Delivery] = []
        self.retracting = False
        """Whether anything is taken back."""

    def wants(self, owner: Subscription) -> bool:
        """Whether the matches of a query are to be made."""
        return owner.reported and (self.all_of_them or self._awaits(owner))

    def add(self, owner: Subscription, matches: list[Match]) -> None:
        """Adds matches of a query that is wanted."""
        if self.all_of_them:
            self.matches += matches
        if self._awaits(owner):
            self.awaited += zip(repeat(owner), matches, strict=False)

    def drop(self, taken_back: Collection[MatchKey]) -> None:
        """Drops new matches: they are taken back in the step in which they came."""
        self.awaited = [
            one for one in self.awaited if one[1].retracts or key_of(one[1]) not in taken_back
        ]

    def settle(self) -> None:
        """At the end of a step in which something was taken back: a match that came in it and is
        taken back has never been; what is taken back comes before what is new."""
        self.matches[:] = _settled(self.matches, lambda one: one)
        self.awaited[:] = _settled(self.awaited, itemgetter(1))

    def _awaits(self, owner: Subscription) -> bool:
        if owner.on_match is not None:
            return True
        # With all of them, a callback may still come before they are handed over.
        return self._open and (self.all_of_them or owner.wiring.stream is not None)
