"""What is reported as soon as the events so far have it, and taken back where a late event or a
retraction takes it away (CEDR's middle level; chapter 2.2.4 of the thesis).

Something that takes events in order of time is in a state that the watermark has reached, its base,
and beyond that has a *tail*: the events since, in order of time, and what was found in them.
Events in order continue the tail.  One in its past brings the state back to its base, from where
the tail is processed again; what differs is reported.  The base follows the watermark when most of
the tail is behind that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Container, Hashable
from typing import Any, Generic, TypeVar

from xscl.pattern_stage.bounds import epochs
from xscl.pattern_stage.layouts import END, NUMBER, TypedEvent

__all__ = ["COPIED", "NEVER", "ROUND", "Changes", "Tail", "Window", "horizon_of", "unbounded"]

NEVER = -(1 << 63)
"""A time before all events."""

ROUND = 256
"""After so many steps all bases follow the watermark, and drop what has expired."""

Found = TypeVar("Found")

Window = Callable[[], int | None]
"""How far beyond the watermark one looks now; None: to the newest event."""

COPIED = 8
"""So many instances of a state are copied, about, while an event is processed."""

_FEW = 16
"""The base stays where it is while so many events are behind the watermark."""


class Changes(Generic[Found]):
    """What is new since somebody has asked, and what was reported and is no more, by key."""

    def __init__(self) -> None:
        self._new: dict[Hashable, Found] = {}
        self._gone: dict[Hashable, Found] = {}

    def report(self, key: Hashable, one: Found) -> None:
        """Something is found."""
        if self._gone.pop(key, None) is None:
            self._new[key] = one

    def take_back(self, key: Hashable, one: Found) -> None:
        """Something that was found is no more."""
        if self._new.pop(key, None) is None:
            self._gone[key] = one

    def new(self) -> list[Found]:
        """What is new since the last call."""
        new, self._new = self._new, {}
        return [*new.values()]

    def gone(self) -> list[Found]:
        """What was reported and is no more, since the last call."""
        gone, self._gone = self._gone, {}
        return [*gone.values()]


class Tail(ABC, Generic[Found]):
    """What has been taken since the base, whatever takes it.

    `forks` says whether an event of a time that was processed changes what was found in it.
    """

    __slots__ = (
        "again",
        "changes",
        "cost",
        "events",
        "flushed",
        "forks",
        "most",
        "reached",
        "seen",
        "snapshot",
        "standing",
        "taken",
    )

    def __init__(self, changes: Changes[Found], most: int, *, forks: bool) -> None:
        self.changes, self.most, self.forks = changes, most, forks
        self.events: list[TypedEvent] = []
        self.taken = 0
        """How many of the events are in the state."""
        self.seen: int | None = None
        """Up to when time has gone in it."""
        self.reached: int | None = None
        """Up to when it has ever gone."""
        self.snapshot: Any = None
        """The base, where the state is beyond it."""
        self.standing: dict[Hashable, Found] = {}
        """What is reported since the base."""
        self.flushed: set[Hashable] = set()
        """What of it is reported since the input had ended, before its time."""
        self.again = False
        """Whether something has changed in what the state has taken."""
        self.cost = 0
        """How many events are processed while the state is copied, about."""

    # What takes events

    @abstractmethod
    def _save(self) -> Any:
        """The state, independent of later changes."""

    @abstractmethod
    def _load(self, saved: Any) -> None:
        """Restores a state, which must not be used again."""

    @abstractmethod
    def _take(self, events: list[TypedEvent]) -> None:
        """Takes events in order of time."""

    @abstractmethod
    def _gather(self) -> None:
        """A part of the events that are processed again has been taken: what is found in each part
        counts alone."""

    @abstractmethod
    def _found(self, horizon: int | None) -> dict[Hashable, Found]:
        """What is found since the last call, where time is at a horizon (None: at its end)."""

    @abstractmethod
    def _settle(self, mark: int) -> dict[Hashable, Found]:
        """The same where no event before a time will come any more, in no order."""

    @abstractmethod
    def _behind(self, mark: int) -> int:
        """How many of the events belong to the base where the watermark is at a time."""

    @abstractmethod
    def _end(self, one: Found) -> int:
        """The time of something found."""

    # Events

    def add(self, coming: TypedEvent) -> None:
        """An event comes."""
        end, seen = coming[1][END], self.seen
        if seen is not None and (end < seen or (end == seen and self.forks)):
            self.again = True
        if not self.events or end >= self.events[-1][1][END]:
            self.events.append(coming)
        else:
            insort(self.events, coming, key=_time)

    def withdraw(self, first: int, end: int, time: int) -> bool:
        """Drops the events of a time with numbers from `first` on and below `end`; says whether
        there were any."""
        events = self.events
        start = bisect_left(events, time, key=_time)
        stop = bisect_right(events, time, start, key=_time)
        left = [one for one in events[start:stop] if not first <= one[1][NUMBER] < end]
        if len(left) == stop - start:
            return False
        events[start:stop] = left
        self.again |= self.seen is not None and time <= self.seen
        return True

    # Time

    def process(self, horizon: int, mark: int | None, *, follow: bool = False) -> None:
        """Processes what is not after the horizon, and reports what differs.  The base follows the
        watermark where that pays, or is asked for."""
        fresh = self.again
        if fresh:
            self.back()
        now, standing = self._run_to(horizon), self.standing
        if self.flushed:
            beyond = self._beyond()
            kept = {key: beyond[key] for key in self.flushed if key in beyond}
            if not fresh:
                now |= {key: one for key, one in standing.items() if key not in self.flushed}
            now |= kept
            self.flushed = {key for key, one in kept.items() if self._end(one) > horizon}
            fresh = True
        if fresh:
            for key, one in standing.items():
                if key not in now:
                    self.changes.take_back(key, one)
        for key, one in now.items():
            if key not in standing:
                self.changes.report(key, one)
        if fresh:
            self.standing = now
        else:
            standing.update(now)
        if mark is not None:
            behind = self._behind(mark)
            if follow or behind > len(self.events) - behind + max(_FEW, self.cost):
                self.follow(mark)

    def flush(self, only: Container[Hashable] | None = None) -> None:
        """Reports what would be reported if no further event came, or `only` that of some keys."""
        for key, one in self.more().items():
            if only is None or key in only:
                self.standing[key] = one
                self.flushed.add(key)
                self.changes.report(key, one)

    def more(self) -> dict[Hashable, Found]:
        """What `flush` would report; nothing changes."""
        return {key: one for key, one in self._beyond().items() if key not in self.standing}

    def follow(self, mark: int) -> None:
        """The base follows the watermark: what was before is no longer taken back."""
        seen = self.seen
        self.back()
        self._take_until(self._behind(mark))
        settled = self._settle(mark)
        del self.events[: self.taken]
        self.taken = 0
        self._at_base()
        for key, one in settled.items():
            if key not in self.standing:
                self.changes.report(key, one)
            self.standing.pop(key, None)
            self.flushed.discard(key)
        # It is up to date again; what it finds is known: what ends at the watermark may change.
        if seen is not None and seen >= mark:
            self._run_to(seen)

    def back(self) -> None:
        """The state is at its base again."""
        if self.snapshot is not None:
            self._load(self.snapshot)
            self.snapshot = None
        self.taken, self.seen, self.again = 0, None, False

    def process_again(self) -> None:
        """What takes events is about to change: they are processed again in the next step."""
        self.back()
        self.again = True

    # Inside

    def _at_base(self) -> None:
        """The state is the base now."""

    def _run_to(self, horizon: int) -> dict[Hashable, Found]:
        """What is not after the horizon is taken, and time goes on to that; what is found."""
        if self.seen is not None and horizon < self.seen:
            return {}
        if self.snapshot is None:
            self.snapshot = self._save()
        self._take_until(bisect_right(self.events, horizon, key=_time))
        self.seen = horizon
        if self.reached is None or horizon > self.reached:
            self.reached = horizon
        return self._found(horizon)

    def _take_until(self, place: int) -> None:
        coming = self.events[self.taken : place]
        if not coming:
            return
        again = 0 if self.reached is None else bisect_right(coming, self.reached, key=_time)
        for some in epochs(coming[:again], self.most):
            self._take([*some])
            self._gather()
        if again < len(coming):
            self._take(coming[again:])
        self.taken = place

    def _beyond(self) -> dict[Hashable, Found]:
        """What would be found in addition if no further event came, and nothing waited; nothing
        changes."""
        saved, taken = self._save(), self.taken
        try:
            self._take_until(len(self.events))
            return self._found(None)
        finally:
            self._load(saved)
            self.taken = taken


def unbounded() -> None:
    """The window in which one looks to the newest event."""


def horizon_of(
    mark: int | None, clock: int | None, window: int | None, *, forks: bool
) -> int | None:
    """Up to when is reported, given the watermark, the newest time, and how far beyond the
    watermark one looks (None: to the newest); None where nothing is.  What `forks` needs all that
    is simultaneous: as with the watermark alone, time has to be over."""
    if mark is not None and (clock is None or clock < mark):
        clock = mark
    if window is None or clock is None:
        return clock
    if mark is None:
        return None
    return min(clock, mark + window - 1 if forks else mark + window)


def _time(coming: TypedEvent) -> Any:
    return coming[1][END]
