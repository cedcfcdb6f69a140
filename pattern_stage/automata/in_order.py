"""The groups that process events in order of time, once the watermark has reached them: an event
finds those that it may change.

A group is *active* if it takes each event of its types.  An automaton of which it is known which
events can change it (`automata/wakers.py`) becomes *dormant*, takes only these, and becomes active
again where they come often.
"""

from __future__ import annotations

from collections.abc import Sequence

from xscl.pattern_stage.automata.dormant import Dormant
from xscl.pattern_stage.automata.group import AutomatonGroup
from xscl.pattern_stage.layouts import END, TypedEvent
from xscl.pattern_stage.shared import Shared

__all__ = ["Group", "InOrder"]

Group = Shared | AutomatonGroup

_LEAST = 2
"""An automaton that has become active stays so for at least as many events; then ever longer."""

_OFTEN = 4
"""A dormant automaton becomes active where it takes one of so many events."""

_MOST = 4096
"""The maximal number of events for which an automaton stays active unasked."""


class InOrder:
    """The groups of a stage that take events in order of time.

    Those that have taken events are added to what `take` is given as `touched`.
    """

    def __init__(self) -> None:
        self.routes: dict[int, list[Group]] = {}
        """By type of events the groups that take these, active or dormant."""
        self._active: dict[int, dict[Group, None]] = {}
        self._dormant = Dormant()
        self._last: dict[AutomatonGroup, int] = {}
        """Of those that are dormant, after how many events each has taken its last one."""
        self._stays: dict[AutomatonGroup, tuple[int, int]] = {}
        """When one became active, and for how many events it stays so."""
        self._candidates: dict[AutomatonGroup, None] = {}
        """Active ones that may become dormant before the next event, but not yet: another event may
        come at the time of the last."""
        self._many = 0
        """How many events there were."""
        self.mixed = False
        """Whether groups may have been touched in another order than that of their queries."""

    def add(self, group: Group) -> None:
        """Adds a group, which is active."""
        for type_ in group.components:
            self.routes.setdefault(type_, []).append(group)
            self._active.setdefault(type_, {})[group] = None
        if isinstance(group, AutomatonGroup):
            self._candidates[group] = None

    def remove(self, group: Group) -> None:
        """Removes a group."""
        if isinstance(group, AutomatonGroup):
            self._candidates.pop(group, None)
            self._last.pop(group, None)
            self._stays.pop(group, None)
            self._dormant.remove(group)
        for type_ in group.components:
            self.routes[type_].remove(group)
            self._active[type_].pop(group, None)

    def is_dormant(self, group: Group) -> bool:
        """Whether a group takes only what can change it."""
        return group in self._dormant

    def take(self, events: Sequence[TypedEvent], touched: dict[Group, None]) -> None:
        """Processes events in order of time."""
        active, dormant, last = self._active, self._dormant, self._last
        checks = {0: [(-1, one) for one in self._candidates]}
        if events:
            self._candidates = {}
        many, self._many = self._many, self._many + len(events)
        for at, (type_, event) in enumerate(events):
            for since, group in checks.pop(at, ()) if checks else ():
                # What became active often can be dormant soon, and is asked ever more rarely.
                if not self._suspend(group, event[END], many + at):
                    checks.setdefault(2 * at - since, []).append((since, group))
            fresh: list[AutomatonGroup] = []
            for group in dormant.changed_by(type_, event) if dormant else ():
                before, last[group] = last.get(group, -_OFTEN), many + at
                if many + at - before < _OFTEN:
                    self._activate(group, event[END])
                    length = self._stay(group, many + at)
                    checks.setdefault(at + length, []).append((at, group))
                    continue
                dormant.end(group, event[END])
                group.take_next(type_, event)
                if group.query.changes or group.members.stopped:
                    touched[group] = None
                    self.mixed = True
                if not dormant.add(group):
                    fresh.append(group)
            for one in active.get(type_, ()):
                touched[one] = None
                one.take(type_, event)
            for group in fresh:
                self._activate(group, event[END])
                checks.setdefault(at + _LEAST, []).append((at, group))
            if dormant:
                dormant.passed(type_, event)

    def suspend(self, group: AutomatonGroup, watermark: int) -> None:
        """A group becomes dormant if it can, now or with a later event."""
        if not self._suspend(group, watermark, self._many):
            self._candidates[group] = None

    def activate(self, group: AutomatonGroup, watermark: int | None) -> None:
        """A dormant group takes each event again, and knows all that the others do."""
        if self._activate(group):
            self._candidates[group] = None
            if watermark is not None:
                group.advance(watermark)

    def activate_all(self, watermark: int | None) -> None:
        """The same of all that have runs."""
        for group in self._dormant.running:
            self.activate(group, watermark)

    def evict(self, watermark: int) -> None:
        """Dormant groups drop what has expired."""
        dormant = self._dormant
        for one in dormant.running:
            dormant.end(one, watermark)
            one.advance(watermark)
            if not dormant.add(one):
                self.activate(one, watermark)

    def _suspend(self, group: AutomatonGroup, time: int, at: int) -> bool:
        """Makes a group dormant if it is known which events from a time on can change it, after so
        many events; returns whether it is."""
        if group in self._dormant:
            return True
        if group in self._stays and at < sum(self._stays[group]):
            return False
        if not group.rests(time) or not self._dormant.add(group):
            return False
        for type_ in group.components:
            self._active[type_].pop(group, None)
        return True

    def _activate(self, group: AutomatonGroup, time: int | None = None) -> bool:
        """A group takes each event again, of a time or later; or also those of the newest time;
        returns whether it was dormant."""
        missed: list[TypedEvent] = []
        if time is None:
            missed = self._dormant.missed(group)
        else:
            self._dormant.end(group, time)
        if not self._dormant.remove(group):
            return False
        for type_ in group.components:
            self._active[type_][group] = None
        self.mixed = True
        for coming in missed:
            group.take(*coming)
        return True

    def _stay(self, group: AutomatonGroup, at: int) -> int:
        """A group has become active; returns for how many events it stays so, which are the more
        the shorter it was dormant."""
        since, length = self._stays.get(group, (-_MOST, _LEAST))
        length = min(2 * length, _MOST) if at - since < _OFTEN * length else _LEAST
        self._stays[group] = at, length
        return length
