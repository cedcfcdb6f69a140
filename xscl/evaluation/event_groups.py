"""Match groups of event queries: each output once, with the queries that have it, which nobody goes
through before they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.evaluation.event_outputs import Delivery, EventOutputs
from xscl.evaluation.match_groups import MatchGroup
from xscl.evaluation.query_names import QueryNames
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import EventGroup
    from xscl.matches.match import Match

__all__ = ["EventRange"]


class EventRange:
    """The outputs of a level's event queries.  Where some are `fed` to streams, callbacks have them
    already, and some may be those of sub-queries, which nobody is told."""

    def __init__(self, groups: Sequence[EventGroup], outputs: EventOutputs, *, fed: bool) -> None:
        self._outputs = outputs
        self._hides = fed
        self._groups = [one for one in groups if self._owners_of(one)] if fed else groups
        self._owners: dict[int, list[Subscription]] = {}
        self._documents: dict[int, tuple[Document, ...]] = {}
        self.others = range(len(self._groups))
        self.waited_for = not fed and outputs.called

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and with `queries` these; whether it has numbers of
        queries yet."""
        with_documents = [one for one in self.others if self._groups[one].document is not None]
        self._documents = {one: self.documents(one) for one in with_documents}
        if queries:
            self._owners = {one: self.owners(one) for one in self.others}
        return not self._owners

    def documents(self, number: int) -> tuple[Document, ...]:
        """The document that an output still is, if it is one."""
        if number in self._documents:
            return self._documents[number]
        document = self._outputs.output(self._groups[number]).document
        return () if document is None else (document,)

    def owners(self, number: int) -> list[Subscription]:
        """The queries that have an output, in order."""
        if number in self._owners:
            return self._owners[number]
        return self._owners_of(self._groups[number])

    def count(self, number: int) -> int:
        """The number of matches of an output: the queries that have it."""
        known = self._hides or number in self._owners
        return len(self.owners(number)) if known else self._groups[number].count

    def matches(self, number: int) -> Iterator[Match]:
        """The matches of an output, in order of the queries."""
        group, documents = self._groups[number], self.documents(number)
        output = self._outputs.output(group, documents)
        return (owner.output(output) for owner in self.owners(number))

    @property
    def total(self) -> int:
        """The number of matches of all outputs."""
        return sum(map(self.count, self.others))

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        return MatchGroup(self, place, QueryNames(partial(self.owners, place), self.count(place)))

    def groups(self) -> Iterator[MatchGroup]:
        """The groups, in order of time."""
        return map(self.group, self.others)

    def called(self) -> Iterator[Delivery]:
        """The matches that a callback waits for."""
        for place in self.others:
            for owner in self.owners(place):
                if owner.on_match is not None:
                    yield owner, owner.output(self._outputs.output(self._groups[place]))

    def _owners_of(self, group: EventGroup) -> list[Subscription]:
        owners = map(self._outputs.owner, sorted(group.numbers))
        return [one for one in owners if not self._hides or one.reported]
