"""Match groups of patterns: the matches of a query that end with one event, counted without going
through them (SASE+'s compressed mode)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.documents.events import PLACES, EventNode, EventNodes
from xscl.evaluation.groups.match_groups import AttributeName, MatchGroup
from xscl.matches.forms import Sides
from xscl.pattern_stage.layouts import NUMBER
from xscl.queries.levels.pattern_rows import PatternReading
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match
    from xscl.pattern_stage.found import FoundGroup

__all__ = ["PatternRange"]


class PatternRange:
    """The matches of patterns, in groups of those of a query that end with one event.

    None is made before it is looked at.  Where they are `reported`, callbacks have them already.
    """

    def __init__(
        self,
        groups: Sequence[tuple[Subscription, FoundGroup]],
        nodes: EventNodes,
        held: Mapping[int, Document],
        attribute_name: AttributeName,
        *,
        reported: bool,
    ) -> None:
        self.others = range(len(groups))
        self.waited_for = not reported and any(owner.on_match is not None for owner, _ in groups)
        self._owners = [owner for owner, _ in groups]
        self._groups = [group for _, group in groups]
        self._held = held
        self._node: Callable[[int], EventNode] = nodes.node
        self._attribute_name = attribute_name

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and where the events are in them."""
        from xscl.pattern_stage.found import events_of

        # The buffer that matches share may lead on to events before all of them, which have gone.
        of_groups = [one[NUMBER] for one in events_of(self._groups)]
        numbers = [one for one in of_groups if one >> PLACES in self._held]
        self._held = {one >> PLACES: self._held[one >> PLACES] for one in numbers}
        self._node = {one: self._node(one) for one in numbers}.__getitem__
        return False

    def documents(self, number: int) -> tuple[Document, ...]:
        """The document that the matches of a group end with."""
        last = self._groups[number].last
        return () if last is None else (self._held[last[1][NUMBER] >> PLACES],)

    def count(self, number: int) -> int:
        """The number of matches of a group, none of which is looked at."""
        return self._groups[number].count

    def matches(self, number: int) -> Iterator[Match]:
        """The matches of a group."""
        owner, sides = self._owners[number], Sides(self._attribute_name)
        assert owner.wiring.pattern is not None
        reading = PatternReading(owner.wiring.pattern, self._node)
        for found in self._groups[number].matches():
            row = reading.row(found)
            yield from owner.matches([row], self._held, sides)

    @property
    def total(self) -> int:
        """The number of matches of all groups."""
        return sum([group.count for group in self._groups])

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        return MatchGroup(self, place, (self._owners[place].name,))

    def groups(self) -> Iterator[MatchGroup]:
        """The groups, in order of time."""
        return map(self.group, self.others)

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches that a callback waits for."""
        for place, owner in enumerate(self._owners):
            if owner.on_match is not None:
                for match in self.matches(place):
                    yield owner, match
