"""Channels: the output events of an m-op in a batch, with the members they belong to.

M-ops process whole batches one after the other, inputs first: an event of a channel meets what has
ended before it, not everything that was added before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from xscl.pattern_stage.layouts import END, Event
from xscl.pattern_stage.plan.memberships import Membership, within

__all__ = ["Channel", "Stream", "epochs"]

_end_of = itemgetter(END)

_OFTEN = 8
"""A channel that was read so many times for the events of some members is indexed."""


class Stream:
    """The events of a channel that belong to a member, in order of their ends."""

    __slots__ = ("ends", "events")

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.ends = list(map(_end_of, events))


class Channel(list[tuple[Event, Membership]]):
    """Events in order of their ends, each with the members it belongs to."""

    _streams: dict[int, list[Stream]] | None = None
    _asked = 0

    def within(self, known: Mapping[Any, Any]) -> Iterable[int]:
        """The members with events that are keys of a dict."""
        if len(self) == 1:
            return within(self[0][1], known)
        if self._is_read_often():
            return known.keys() & self._by_member().keys()
        distinct = {id(members): members for _, members in self}
        return {member for members in distinct.values() for member in within(members, known)}

    def streams(self, known: Mapping[Any, Any]) -> list[tuple[int, Stream]]:
        """These members, each with its events."""
        if self._is_read_often():
            return [(one, self._stream(one)) for one in known.keys() & self._by_member().keys()]
        by: dict[int, list[Event]] = {}
        found: dict[int, Iterable[int]] = {}
        for event, members in self:
            here = found.get(id(members))
            if here is None:
                here = found[id(members)] = within(members, known)
            for member in here:
                by.setdefault(member, []).append(event)
        return [(member, Stream(events)) for member, events in by.items()]

    def _is_read_often(self) -> bool:
        """Whether indexing pays, given how often the channel was read."""
        self._asked += 1
        return self._asked > _OFTEN

    def _stream(self, member: int) -> Stream:
        streams = self._by_member()[member]
        if len(streams) > 1:
            events = chain.from_iterable([one.events for one in streams])
            streams[:] = [Stream(sorted(events, key=_end_of))]
        return streams[0]

    def in_order(self) -> Channel:
        """The channel, sorted if events were added out of order."""
        self.sort(key=_end_of_entry)
        return self

    def _by_member(self) -> dict[int, list[Stream]]:
        if self._streams is None:
            # Memberships are shared, so the members of each are iterated over once.
            by: dict[int, tuple[Membership, list[Event]]] = {}
            for event, membership in self:
                there = by.get(id(membership))
                if there is None:
                    by[id(membership)] = membership, [event]
                else:
                    there[1].append(event)
            self._streams = streams = dict[int, list[Stream]]()
            for membership, events in by.values():
                stream = Stream(events)
                for member in membership:
                    streams.setdefault(member, []).append(stream)
        return self._streams


def _end_of_entry(entry: tuple[Event, Membership]) -> Any:
    return entry[0][END]


def epochs(channel: Channel) -> Iterator[list[tuple[Event, Membership]]]:
    """A channel's entries, by when they end."""
    place, many = 0, len(channel)
    while place < many:
        first, time = place, channel[place][0][END]
        place += 1
        while place < many and channel[place][0][END] == time:
            place += 1
        yield channel[first:place]
