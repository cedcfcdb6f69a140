"""A part whose events an attribute numbers without gaps, in order of time: a promise, by which what
has no gap is known without the watermark (docs/semantics.md#sequence).

No step is made across a gap, the place between two epochs at which an event may be missing, until
the watermark has passed it, and no ε-arc is taken by a run that has ignored an epoch with a gap
behind it, in which more events may come.  So whatever arrives between adds runs, and takes none
away: what was found stays.  An event that comes late is met by all runs of its epoch, and those
behind it are stepped again until nothing changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from xscl.pattern_stage.automata.epoch import Epoch
from xscl.pattern_stage.automata.part import Part
from xscl.pattern_stage.automata.tables import Lists, Step
from xscl.pattern_stage.layouts import END, Event

__all__ = ["SequencedPart"]

_FIRST = float("-inf")


class SequencedPart(Part):
    """`places` has for each of the automaton's types where its events have their number."""

    places: Sequence[int] = ()
    passed = _FIRST
    """The watermark: no gap is before it, or at it."""

    @property
    def pending(self) -> bool:
        """Whether the watermark may bring matches: it has yet to pass a gap, or the end of a
        window."""
        if not self.epochs:
            return False
        last = self.epochs[-1]
        return last.time > self.passed or (self._arcs.closes and any(last.lists))

    def add_all(self, steps: Iterable[Step], many: int, *, forget: bool) -> None:
        """So many events come, each at a time of its own, in order and newer than all others."""
        for one, table, plan in steps:
            self._append(one[1][END], (one,), table, plan.alone)

    def settle(self, clock: float) -> None:
        """The input has ended where time has, and so has all that is missing; else nothing closes
        before the watermark does."""
        if clock == float("inf"):
            self._pass(clock)
        super().settle(clock)

    def evict(self, watermark: float) -> None:
        """Steps across the gaps that the watermark has passed, and drops what nothing changes any
        more."""
        self._pass(watermark)
        super().evict(watermark)

    def recall(self, time: int, event: Event) -> None:
        """As of any part; what is known no more of a part is before the watermark."""
        super().recall(time, event)
        if not self.epochs[0].events:
            del self.epochs[:-1]
            self.passed = max(self.passed, self.epochs[0].time)

    def copied(self) -> Callable[[], None]:
        """What brings the part back to what it is now."""
        passed, back = self.passed, super().copied()

        def restore() -> None:
            self.passed = passed
            back()

        return restore

    # Gaps

    def _is_gap(self, at: int) -> bool:
        """Whether an event may come between an epoch and the one before it, or at their times."""
        if not at:
            return True
        before, after = self._numbers(at - 1), self._numbers(at)
        if before is None or after is None:
            return True
        return before[1] + 1 != after[0] or before[1] - before[0] + 1 != before[2]

    def _numbers(self, at: int) -> tuple[float, float, int] | None:
        """The first and the last number of an epoch, and how many there are; None where an event
        has none."""
        events, places = self.epochs[at].events, self.places
        numbers = {event[places[type_]] for type_, event in events}
        if not numbers or None in numbers:
            return None
        return min(numbers), max(numbers), len(numbers)

    def _is_barrier(self, at: int) -> bool:
        return self.epochs[at].time > self.passed and self._is_gap(at)

    def _before(self, at: int) -> Lists:
        if self._is_barrier(at):
            return self._none
        return super()._before(at)

    def _lets_pass(self, at: int) -> bool:
        """Not while the watermark is at a gap before it: what is missing may be of its time."""
        return self.epochs[at].time != self.passed or not self._is_gap(at)

    def _is_whole(self, at: int) -> bool:
        """Where no event may come at its time, be it that what follows has the next number."""
        if self.epochs[at].time < self.passed:
            return True
        return at + 1 < len(self.epochs) and not self._is_gap(at + 1)

    def _pass(self, watermark: float) -> None:
        """The watermark passes gaps."""
        before, epochs = self.passed, self.epochs
        if watermark <= before:
            return
        # What is of the time of the watermark was not passed as a whole.
        first = bisect_left(epochs, before, key=_time)
        gaps = [
            at
            for at in range(first, bisect_right(epochs, watermark, key=_time))
            if self._is_gap(at)
        ]
        self.passed = watermark
        if watermark < float("inf"):
            self.clock = max(self.clock, watermark)
        for at in gaps:
            if at > first:
                self._fill(at - 1)
            self._mend(at, epochs[at].time)
        if (last := bisect_left(epochs, watermark, key=_time) - 1) >= first:
            self._fill(last)
        if self._arcs.closes or self._arcs.opens:
            for at in range(max(first - 1, 0), len(epochs)):
                self._open(at)
                self._end(at)

    def _mend(self, place: int, time: int, *, there: bool = True) -> None:
        """Steps over the epochs from a place on with all runs until nothing changes, given the time
        of what has changed: whether there is a gap behind it may have changed, too."""
        epochs, opens = self.epochs, self._arcs.opens
        if place:
            if epochs[place - 1].time >= self.passed:
                self._fill(place - 1)
            self._end(place - 1)
        differs = True
        for at in range(place, len(epochs)):
            opened = opens and epochs[at].time - self._within <= time
            if not differs and not opened:
                return
            if opened:
                self._open(at)
            if differs or at <= place + 1:
                before = epochs[at].lists
                self._step(at)
                differs = at <= place or epochs[at].lists != before
                self._end(at)

    def _step(self, at: int) -> None:
        if self.epochs[at].events:
            super()._step(at)

    def _fill(self, at: int) -> None:
        """Takes the ε-arcs of an epoch that may have become whole."""
        if self._arcs.epsilon:
            self._step(at)

    # Windows

    def _closed(self, at: int) -> float:
        """Until when it is known what has come after an epoch."""
        if at + 1 < len(self.epochs) and not self._is_barrier(at + 1):
            return self.epochs[at + 1].time
        return self.passed

    def _open(self, at: int) -> None:
        if not self._arcs.opens:
            return
        epoch = self.epochs[at]
        first = bisect_right(self.epochs, epoch.time - self._within, key=_time)
        if any(self._is_barrier(one) for one in range(first, at + 1)):
            self._report(epoch.opened, ())
            epoch.opened = frozenset()
            return
        super()._open(at)


def _time(epoch: Epoch) -> int:
    return epoch.time
