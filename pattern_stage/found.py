"""A match as the pattern stage reports it."""

from __future__ import annotations

from pattern_stage.cells import Chain

__all__ = ["Found"]


class Found:
    """A match of query `number`: `events` are (component's place, event) in order of time; `start`
    is the first one's time, `time` when the match is known, both in microseconds."""

    __slots__ = ("events", "number", "time")

    def __init__(self, number: int, events: Chain, time: int) -> None:
        self.number, self.events, self.time = number, events, time

    @property
    def start(self) -> int:
        """The time of the first event."""
        return self.events[0][1][0]

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it apart from all other matches."""
        return (self.number, *((place, event[1]) for place, event in self.events))

    def __repr__(self) -> str:
        events = ", ".join(f"{place}: {event[1]}" for place, event in self.events)
        return f"Found({self.number}, {{{events}}}, start={self.start}, time={self.time})"
