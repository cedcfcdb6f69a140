"""The events of a level that time has not passed yet, as they are kept over a restart: in chunks,
each written once when it is full.

An event names its type, its nodes and where its attributes stand, as all may be others afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from xscl.documents.events import PLACES, Event, EventNodes, PendingEvent
from xscl.pattern_stage.layouts import END, NUMBER, slot_names

if TYPE_CHECKING:
    from xscl.pattern_stage.values.terms import Slot

__all__ = ["EventLog", "Logged", "logged"]

_FULL = 256


class Logged(NamedTuple):
    """An event, with the name of its type, and its columns by name and form."""

    type: str
    start: int
    end: int
    number: int
    columns: dict[tuple[str, ...], object]

    def event(self, slots: Sequence[Slot | None]) -> Event:
        """It as its attributes stand now."""
        return (self.start, self.end, self.number, *map(self.columns.get, slot_names(slots)))


@dataclass(slots=True)
class _Chunk:
    number: int
    events: list[PendingEvent] = field(default_factory=list)
    end: int = 0
    text: str | None = None


class EventLog:
    """The events that end at or after the watermark."""

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []
        self._next = 0

    def add(self, events: Sequence[PendingEvent]) -> None:
        """Adds events as they come."""
        chunk = self._chunks[-1] if self._chunks else None
        if len(events) == 1 and chunk is not None and len(chunk.events) < _FULL:
            # Documents that are published one by one.
            chunk.events += events
            end = events[0][1][END]
            chunk.end, chunk.text = (end if end > chunk.end else chunk.end), None
            return
        at = 0
        while at < len(events):
            if chunk is None or len(chunk.events) == _FULL:
                chunk = _Chunk(self._next)
                self._next += 1
                self._chunks.append(chunk)
            some = events[at : at + _FULL - len(chunk.events)]
            at += len(some)
            chunk.events += some
            chunk.end = max(chunk.end, *[event[END] for _, event in some])
            chunk.text = None

    def __iter__(self) -> Iterator[PendingEvent]:
        for chunk in self._chunks:
            yield from chunk.events

    def evict(self, watermark: int) -> None:
        """Drops chunks that the watermark has passed."""
        chunks = self._chunks
        if chunks and chunks[0].end < watermark:
            self._chunks = [chunk for chunk in chunks if chunk.end >= watermark]

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`."""
        for chunk in self._chunks:
            if chunk.end < time:
                continue
            left = [one for one in chunk.events if not first <= one[1][NUMBER] < end]
            if len(left) < len(chunk.events):
                chunk.events, chunk.text = left, None

    def saved(
        self,
        name_of: Callable[[int], str | None],
        slots_of: Callable[[int], Sequence[Slot | None]],
        nodes: EventNodes,
    ) -> Iterator[tuple[int, str]]:
        """The chunks by number, as JSON, without events of types that nobody reads any more."""
        from xscl.pattern_stage.plan.saved import plain

        for chunk in self._chunks:
            if chunk.text is None:
                named = {kind: name_of(kind) for kind in {kind for kind, _ in chunk.events}}
                types = [(kind, name) for kind, name in named.items() if name is not None]
                said = [[kind, name, slot_names(slots_of(kind))] for kind, name in types]
                there = [(kind, event) for kind, event in chunk.events if named[kind] is not None]
                events = [[kind, plain(_with_nodes(event, nodes))] for kind, event in there]
                chunk.text = json.dumps([said, events])
            yield chunk.number, chunk.text


def _with_nodes(event: Event, nodes: EventNodes) -> list[Any]:
    start, end, number, *columns = event
    # Of a document that has gone, nobody asks for the node.
    is_node = number is not None and number >> PLACES << PLACES != number and nodes.has(number)
    return [start, end, [number, *nodes.named(number)] if is_node else number, *columns]


def logged(texts: Iterable[str], nodes: EventNodes) -> list[Logged]:
    """The events of some chunks, in order of their numbers; one that several levels have is one,
    with all of its attributes that any has."""
    from xscl.pattern_stage.plan.saved import raised

    known: dict[tuple[str, int], Logged] = {}
    for text in texts:
        said, events = json.loads(text)
        types = {kind: (name, slots) for kind, name, slots in said}
        for kind, plain_event in events:
            name, slots = types[kind]
            start, end, number, *columns = map(raised, plain_event)
            if isinstance(number, list):
                before, *identity = number
                number = nodes.numbered(identity)
                if number is None and nodes.has(before):
                    continue
                number = before if number is None else number
            one = known.get((name, number))
            if one is None:
                one = known[name, number] = Logged(name, start, end, number, {})
            there = zip(map(tuple, slots), columns, strict=False)
            one.columns.update((slot, value) for slot, value in there if value is not None)
    return sorted(known.values(), key=lambda one: one.number)
