"""Match groups of event queries: each output once, with the queries that have it, which nobody goes
through before they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.evaluation.deliveries import Delivery
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.groups.match_groups import MatchGroup
from xscl.evaluation.groups.query_names import QueryNames
from xscl.pattern_stage.layouts import END, NUMBER
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.event_output import Output
    from xscl.matches.match import Match
    from xscl.pattern_stage.plan.outputs import Key, Outputs

__all__ = ["EventRange"]


class EventRange:
    """The outputs of a level's event queries that are reported.  Callbacks of queries that publish
    have theirs already."""

    def __init__(self, outputs: Outputs, reader: EventOutputs) -> None:
        self._outputs = outputs
        self._reader = reader
        self.others = [place for place, size in enumerate(outputs.sizes) if size]
        self.others.sort(key=lambda place: outputs[place][1][END])
        self.waited_for = reader.called
        self._names: dict[Key, QueryNames] = {}
        self._owners: dict[Key, list[Subscription]] = {}
        self._callbacks: dict[Key, list[Subscription]] = {}
        self._kept: dict[int, Output] = {}

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and with `queries` these; whether it has numbers of
        queries yet."""
        for place in self.others:
            root, event, _ = self._outputs[place]
            if root.is_document and event[NUMBER] is not None:
                self._kept[place] = self._output(place)
            if queries:
                self.owners(place)
        return not queries

    def documents(self, number: int) -> tuple[Document, ...]:
        """The document that an output still is, if it is one."""
        document = self._output(number).document
        return () if document is None else (document,)

    def owners(self, number: int) -> list[Subscription]:
        """The queries that have an output, in order."""
        at = self._outputs.key(number)
        known = self._owners.get(at)
        if known is None:
            numbers = self._outputs.numbers(number)
            known = self._owners[at] = [*map(self._reader.owner, numbers)]
        return known

    def count(self, number: int) -> int:
        """The number of matches of an output: the queries that have it."""
        return self._outputs.sizes[number]

    def matches(self, number: int) -> Iterator[Match]:
        """The matches of an output, in order of the queries."""
        output = self._output(number)
        return (owner.output(output) for owner in self.owners(number))

    @property
    def total(self) -> int:
        """The number of matches of all outputs."""
        return sum(self._outputs.sizes)

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        number = self.others[place]
        at = self._outputs.key(number)
        names = self._names.get(at)
        if names is None:
            names = QueryNames(partial(self.owners, number), self.count(number))
            self._names[at] = names
        return MatchGroup(self, number, names)

    def groups(self) -> Iterator[MatchGroup]:
        """The groups, in order of time."""
        return map(self.group, range(len(self.others)))

    def called(self) -> Iterator[Delivery]:
        """The matches that a callback waits for."""
        for place in self.others:
            if called := self._called(place):
                output = self._output(place)
                yield from [(owner, owner.output(output)) for owner in called]

    def _output(self, number: int) -> Output:
        known = self._kept.get(number)
        if known is None:
            root, event, _ = self._outputs[number]
            known = self._reader.output(root, event)
        return known

    def _called(self, number: int) -> list[Subscription]:
        """The queries that have an output, and whose callbacks wait for it."""
        at = self._outputs.key(number)
        if at not in self._callbacks:
            self._callbacks[at] = [
                one for one in self.owners(number) if one.on_match is not None and not one.feeds
            ]
        return self._callbacks[at]
