"""The runs of one part of an automaton's input, epoch by epoch as far back as it can change.

An epoch remembers its events, the runs after it, and the matches that it gave.  What changes at
one time, a late event, a retraction or an arc, is made good by `_mend`: the epochs from there on
are stepped again, from the runs before them, until nothing differs (the paper's RemoveInvalidated
and PropagateInsert, in one).  Runs that start later than the change cannot differ: they are neither
cut nor made again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from xscl.pattern_stage.automata.epoch import NONE, Epoch, Key
from xscl.pattern_stage.automata.lives import LivingArcs
from xscl.pattern_stage.automata.program import Program
from xscl.pattern_stage.automata.run_lists import Run, RunShape
from xscl.pattern_stage.automata.tables import KeptEvents, Lists, Plan, Step, Table
from xscl.pattern_stage.layouts import END, NUMBER, Event, TypedEvent

__all__ = ["Part"]

_FIRST = float("-inf")
_INFINITE = frozenset([_FIRST, float("inf")])

_OPEN = 2
"""So many of the newest epochs may change still: another event may come at the time of the last
one, whose runs are made of those after the one before."""


class Part:
    """One part: `by` are the values that its events have in common; `changed(key, many)` hears of a
    match that is there once more (1) or less (-1), `passed(key)` of one that stays."""

    def __init__(
        self,
        program: Program,
        by: tuple[str, ...],
        shape: RunShape,
        states: int,
        arcs: LivingArcs,
        changed: Callable[[Key, int], None],
        passed: Callable[[Key], None],
    ) -> None:
        self.program, self.by = program, by
        self._arcs, self._changed, self._passed = arcs, changed, passed
        self._none: Lists = [shape.empty] * states
        self._width = shape.width
        self._has_numbers = any(field.number for field in program.register)
        self._within = float("inf") if program.within is None else program.within
        self.epochs: list[Epoch] = []
        self.clock = _FIRST
        """Up to when windows have closed."""

    # Changes

    def add(self, time: int, events: Iterable[TypedEvent]) -> None:
        """Events of one time come."""
        if not self.epochs or time > self.epochs[-1].time:
            self._append(time, events)
            return
        place = bisect_left(self.epochs, time, key=_time)
        if place == len(self.epochs) or self.epochs[place].time != time:
            # Without the epoch, the one before it led to those behind it.
            before = self.epochs[place - 1].lists if place else self._none
            self.epochs.insert(place, Epoch(time, before))
        self.epochs[place].takes((*self.epochs[place].events, *events))
        self.clock = max(self.clock, time)
        self._mend(place, time)

    def add_all(self, steps: Iterable[Step], many: int, *, forget: bool) -> None:
        """So many events come, each at a time of its own, in order and newer than all others.

        Where it may `forget`, time is to pass all of them but the last one: no epochs are made of
        those before.
        """
        if self._arcs.closes or self._arcs.opens:
            for one, table, plan in steps:
                self._append(one[1][END], (one,), table, plan.alone)
            return
        epochs, by, within = self.epochs, self.by, self._within
        lists = epochs[-1].lists if epochs else self._none
        kept = many - _OPEN if forget else 0
        time: int | None = None
        for at, (one, table, plan) in enumerate(steps):
            time = one[1][END]
            alone, plans = (one,), plan.alone
            lists, entered = table.step(lists, alone, plans, (time, by), time - within)
            matches = self._keys(entered, time) if entered else NONE
            for key in matches:
                self._changed(key, 1)
            if at >= kept:
                epochs.append(Epoch(time, lists, alone, table, plans, matches))
            else:
                for key in matches:
                    self._passed(key)
        if time is not None:
            self.clock = max(self.clock, time)

    def add_next(self, one: TypedEvent, table: Table, plan: Plan) -> None:
        """An event comes that is newer than all others, and nothing more before it; no arc fires
        when a window opens or closes."""
        epochs, time = self.epochs, one[1][END]
        since = time - self._within
        lists = epochs[-1].lists if epochs else self._none
        alone, plans = (one,), plan.alone
        lists, entered = table.step(lists, alone, plans, (time, self.by), since)
        matches = NONE
        if entered:
            for key in (matches := self._keys(entered, time)):  # type: ignore[assignment]
                self._changed(key, 1)
        self.clock = time
        epochs.append(Epoch(time, lists, alone, table, plans, matches))
        if len(epochs) > _OPEN:
            for epoch in epochs[:-_OPEN]:
                for key in epoch.matches:
                    self._passed(key)
            del epochs[:-_OPEN]

    def end(self, states: int) -> None:
        """All runs in some states (a mask) have ended after the newest epoch."""
        if self.epochs:
            epoch, none = self.epochs[-1], self._none[0]
            epoch.lists = [
                none if states >> state & 1 else runs for state, runs in enumerate(epoch.lists)
            ]

    def _append(
        self,
        time: int,
        events: Iterable[TypedEvent],
        table: Table | None = None,
        plans: Sequence[Plan] = (),
    ) -> None:
        """Events come that are newer than all others."""
        self.clock = max(self.clock, time)
        self.epochs.append(Epoch(time, self._none, tuple(events), table, plans))
        self._mend(len(self.epochs) - 1, time)

    def remove(self, time: int, gone: Callable[[TypedEvent], bool]) -> None:
        """Events of one time are retracted."""
        place = bisect_left(self.epochs, time, key=_time)
        if place == len(self.epochs) or self.epochs[place].time != time:
            return
        epoch = self.epochs[place]
        epoch.takes(one for one in epoch.events if not gone(one))
        if epoch.events:
            self._mend(place, time)
            return
        self._report(epoch.matches | epoch.opened | epoch.ended, ())
        del self.epochs[place]
        self._mend(place, time, there=False)

    def rearranged(self, since: float) -> None:
        """Arcs have changed from a time on."""
        place = bisect_left(self.epochs, since, key=_time)
        if place:
            self._end(place - 1)
        for at in range(place, len(self.epochs)):
            self._step(at)
            self._open(at)
            self._end(at)
        if not self._arcs.closes:
            # What closed windows by an arc that is no more.
            for epoch in self.epochs[max(place - 1, 0) :]:
                there = {key for key in epoch.ended if key[1] < since}
                self._report(epoch.ended, there)
                epoch.ended = there or NONE
        if not self._arcs.opens:
            for epoch in self.epochs[place:]:
                first = bisect_right(self.epochs, epoch.time - self._within, key=_time)
                if epoch.opened and self.epochs[first].time >= since:
                    self._report(epoch.opened, ())
                    epoch.opened = NONE

    def recall(self, time: int, event: Event) -> None:
        """An event that has come, as it is read now, replaces itself; one that is known no more is
        an epoch after which there is no run."""
        epochs = self.epochs
        place = bisect_left(epochs, time, key=_time)
        if place < len(epochs) and epochs[place].time == time:
            number = event[NUMBER]
            epochs[place].takes(
                (local, event if one[NUMBER] == number else one)
                for local, one in epochs[place].events
            )
        elif place == len(epochs):
            epochs.append(Epoch(time, self._none))

    def free(self, closed: Sequence[float]) -> bool:
        """Drops runs whose lifetime ends before their state is open; returns whether there were
        any."""
        if not self.epochs:
            return False
        epoch, within = self.epochs[-1], self._within
        lists = [runs.after(time - within) for runs, time in zip(epoch.lists, closed, strict=True)]
        dropped = any(len(old) > len(new) for old, new in zip(epoch.lists, lists, strict=True))
        if dropped:
            epoch.lists = lists
        return dropped

    def extend(self, states: int) -> None:
        """There are so many states more."""
        more = [self._none[0]] * states
        self._none = [*self._none, *more]
        for epoch in self.epochs:
            epoch.lists = [*epoch.lists, *more]

    def reshape(self, shape: RunShape) -> None:
        """Other fields may be shifted from now on."""
        self._none = [shape.empty] * len(self._none)
        for epoch in self.epochs:
            epoch.table = None
            epoch.lists = [shape.listed([*one.runs]) for one in epoch.lists]

    def settle(self, clock: float) -> None:
        """Time has come to `clock`: windows that close until then do so."""
        if clock > self.clock:
            self.clock = clock
            if self.epochs:
                self._end(len(self.epochs) - 1)

    def evict(self, watermark: float) -> None:
        """Forgets the epochs that nothing can change any more."""
        if len(self.epochs) < 2 or self.epochs[1].time >= watermark:
            return
        covering = bisect_left(self.epochs, watermark, key=_time) - 1
        self._settle(self.epochs[:covering])
        if self._arcs.opens:
            for epoch in self.epochs[:covering]:
                epoch.matches = epoch.opened = epoch.ended = NONE
                epoch.lists = self._none
            since = self.epochs[covering].time - self._within
            covering = min(covering, bisect_right(self.epochs, since, key=_time))
        del self.epochs[:covering]

    def forget(self) -> None:
        """Nothing can change it any more: its matches stay."""
        self._settle(self.epochs)

    def _settle(self, epochs: Iterable[Epoch]) -> None:
        """The matches of some epochs cannot change any more."""
        for epoch in epochs:
            for keys in (epoch.matches, epoch.opened, epoch.ended):
                for key in keys:
                    self._passed(key)

    def due(self) -> float:
        """When the next window of a run closes, at which something may happen."""
        if not self.epochs or self.program.within is None:
            return float("inf")
        closed = self.clock - self._within
        starts = [runs.first for one in self.epochs[-1].lists if (runs := one.after(closed))]
        return min(starts, default=float("inf")) + self._within

    @property
    def stays_until(self) -> float:
        """Until the watermark is after this time, `evict` forgets nothing, and it is not idle; of
        one whose windows nothing does anything with as they open or close."""
        if len(self.epochs) > 1:
            return self.epochs[1].time
        epoch, empty = self.epochs[0], self._none[0]
        last = max([runs.last for runs in epoch.lists if runs is not empty and runs], default=None)
        return epoch.time if last is None else max(epoch.time, last + self._within - 1)

    @property
    def runs(self) -> int:
        """How many runs there are after the newest epoch."""
        empty = self._none[0]
        lists = self.epochs[-1].lists if self.epochs else ()
        return sum([len(runs) for runs in lists if runs is not empty])

    def idle(self, watermark: float) -> bool:
        """Whether no run can continue, and no window has begun that may open."""
        return not self.epochs or (
            len(self.epochs) == 1
            and self.epochs[0].time < watermark
            and (not self._arcs.opens or self.epochs[0].time + self._within <= watermark)
            and not any(
                runs.last + self._within > watermark
                for runs in self.epochs[0].lists
                if runs is not self._none[0] and runs
            )
        )

    def copied(self) -> Callable[[], None]:
        """What brings the part back to what it is now."""
        epochs, clock = [epoch.copied() for epoch in self.epochs], self.clock

        def restore() -> None:
            self.epochs, self.clock = epochs, clock

        return restore

    # Mending

    def _mend(self, place: int, time: int, *, there: bool = True) -> None:
        epochs = self.epochs
        if place:
            self._end(place - 1)
        at = place
        if there:
            self._open(place)
            before = epochs[place].lists
            self._step(place)
            changed = epochs[place].lists != before
            self._end(place)
            at += 1
            if not changed and at < len(epochs) and epochs[at].time - self._within >= time:
                return
        differs = not there or changed
        while at < len(epochs):
            epoch = epochs[at]
            if epoch.time - self._within < time:
                self._open(at)
            elif not differs:
                return
            if differs and (differs := self._continue(at, time)):
                self._end(at)
            at += 1

    def _step(self, at: int) -> None:
        """Steps over an epoch with all runs."""
        epoch = self.epochs[at]
        table, plans = self._planned(epoch)
        before = self._before(at)
        begins, since = (epoch.time, self.by), epoch.time - self._within
        passing, whole = self._lets_pass(at), self._is_whole(at)
        lists, entered = table.step(
            before, epoch.events, plans, begins, since, passing=passing, whole=whole
        )
        matches = self._keys(entered, epoch.time)
        self._report(epoch.matches, matches)
        epoch.lists, epoch.matches = lists, matches

    def _before(self, at: int) -> Lists:
        """The runs that meet an epoch."""
        return self.epochs[at - 1].lists if at else self._none

    def _lets_pass(self, at: int) -> bool:
        """Whether the runs that ignore an epoch may go on from it."""
        return True

    def _is_whole(self, at: int) -> bool:
        """Whether an epoch is taken to have all of its events: what comes later is made good."""
        return True

    def _planned(self, epoch: Epoch) -> tuple[Table, Sequence[Plan]]:
        """The table of an epoch's time, and what its events do."""
        table = self._arcs.at(epoch.time)
        if epoch.table is not table:
            epoch.plans = tuple([table.plan(*one) for one in epoch.events])
            epoch.table = table
        return table, epoch.plans

    def _continue(self, at: int, time: int) -> bool:
        """Steps over an epoch with the runs that start until `time`; gives whether these are others
        than before."""
        epoch = self.epochs[at]
        before = self._before(at)
        runs = [one.until(time) for one in before]
        since = epoch.time - self._within
        table, plans = self._planned(epoch)
        lists, entered = table.step(runs, epoch.events, plans, None, since)
        others = {key for key in epoch.matches if key[0] > time}
        matches = self._keys(entered, epoch.time) | others
        self._report(epoch.matches, matches)
        epoch.matches = matches
        # A run that is there anyway may enter its state by an event now, or no more.
        if lists == [one.until(time) for one in epoch.lists]:
            return False
        epoch.lists = [
            ours.before(theirs.after(time)) for ours, theirs in zip(lists, epoch.lists, strict=True)
        ]
        return True

    def _end(self, at: int) -> None:
        """Closes the windows that close between an epoch and the next one, as far as time has
        come."""
        if not self._arcs.closes:
            return
        epoch = self.epochs[at]
        keys: frozenset[Key] | set[Key] = NONE
        within, until = self._within, self._closed(at)
        for table, first, last in self._arcs.spans(epoch.time, min(until, self.clock)):
            if table.ends:
                ended = table.ended(epoch.lists, first - within, last - within)
                keys = keys | {self._key(run, int(run[0] + within)) for run in ended}
        self._report(epoch.ended, keys)
        epoch.ended = keys

    def _closed(self, at: int) -> float:
        """Until when windows may close that no epoch after this one is in."""
        return self.epochs[at + 1].time if at + 1 < len(self.epochs) else self.clock

    def _open(self, at: int) -> None:
        """Opens the window that closes with an epoch, and steps through it."""
        if not self._arcs.opens:
            return
        epoch = self.epochs[at]
        first = bisect_right(self.epochs, epoch.time - self._within, key=_time)
        keys: frozenset[Key] | set[Key] = NONE
        opening = self._arcs.at(self.epochs[first].time)
        if opening.starts:
            start = epoch.time - int(self._within)
            lists = opening.opened(start, self.by)
            entered: list[Run] = []
            for one in self.epochs[first : at + 1]:
                table, plans = self._planned(one)
                last = one is epoch
                lists, entered = table.step(
                    lists, one.events, plans, None, _FIRST, passing=not last
                )
            keys = self._keys(entered, epoch.time)
        self._report(epoch.opened, keys)
        epoch.opened = keys

    # Matches

    def _keys(self, runs: Sequence[Run], time: int) -> frozenset[Key] | set[Key]:
        return {self._key(run, time) for run in runs} if runs else NONE

    def _key(self, run: Run, time: int) -> Key:
        register = run[1 : self._width + 1]
        if self._has_numbers:
            # A result shows what is infinite as what is missing.
            register = tuple([None if one in _INFINITE else one for one in register])
        if not self.program.keep:
            return run[0], time, register, None
        return run[0], time, register, KeptEvents() if run[-1] is None else run[-1].events

    def _report(self, before: Iterable[Key], after: Iterable[Key]) -> None:
        """Says which matches are no more, and which are new."""
        if before or after:
            there = set(before)
            for key in there.difference(after):
                self._changed(key, -1)
            for key in set(after) - there:
                self._changed(key, 1)


def _time(epoch: Epoch) -> int:
    return epoch.time
