"""Match groups of event queries: each output once, with the queries that have it, which nobody goes
through before they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pattern_stage.plan.outputs import EventGroup
from xscl.documents.document import Document
from xscl.evaluation.event_outputs import Delivery, EventOutputs
from xscl.evaluation.match_groups import MatchGroup
from xscl.matches.match import Match

__all__ = ["EventRange"]


class EventRange:
    """The outputs of a level's event queries.  Where they are `told`, callbacks have them
    already."""

    def __init__(self, groups: Sequence[EventGroup], outputs: EventOutputs, *, told: bool) -> None:
        self._groups = groups
        self._outputs = outputs
        self.others = range(len(groups))
        self.waited_for = not told
        self._documents: dict[int, tuple[Document, ...]] = {}

    def keep(self) -> None:
        """Keeps the documents themselves."""
        self._documents = {place: self.documents(place) for place in self.others}

    def documents(self, number: int) -> tuple[Document, ...]:
        """The document that an output still is, if it is one."""
        known = self._documents.get(number)
        if known is None:
            group = self._groups[number]
            document = self._outputs.output(self._outputs.owner(group.numbers[0]), group).document
            known = () if document is None else (document,)
        return known

    def count(self, number: int) -> int:
        """The number of matches of an output: the queries that have it."""
        return self._groups[number].count

    def matches(self, number: int) -> Iterator[Match]:
        """The matches of an output, in order of the queries."""
        group = self._groups[number]
        for owner in map(self._outputs.owner, sorted(group.numbers)):
            yield owner.output(self._outputs.output(owner, group))

    @property
    def total(self) -> int:
        """The number of matches of all outputs."""
        return sum([group.count for group in self._groups])

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        return MatchGroup(self, place, _Names(self._groups[place], self._outputs))

    def groups(self) -> Iterator[MatchGroup]:
        """The groups, in order of time."""
        return map(self.group, self.others)

    def called(self) -> Iterator[Delivery]:
        """The matches that a callback waits for."""
        for group in self._groups:
            for owner in map(self._outputs.owner, sorted(group.numbers)):
                if owner.on_match is not None:
                    yield owner, owner.output(self._outputs.output(owner, group))


class _Names(Sequence[str]):
    """The names of the queries that have an output, made when they are asked for."""

    def __init__(self, group: EventGroup, outputs: EventOutputs) -> None:
        self._group = group
        self._outputs = outputs

    def __len__(self) -> int:
        return self._group.count

    def __getitem__(self, place: Any) -> Any:
        return [*self][place]

    def __iter__(self) -> Iterator[str]:
        return (self._outputs.owner(number).name for number in sorted(self._group.numbers))
