"""Dormant automata, by the events that can change them (`wakers.py`): an event finds those, and no
others.  Equalities are found in a dictionary, other comparisons by the gates that
patterns' constants have, too.
"""

from __future__ import annotations

from typing import Any

from xscl.pattern_stage.automata.group import AutomatonGroup
from xscl.pattern_stage.automata.wakers import Waker
from xscl.pattern_stage.gates import Comparator, Gate
from xscl.pattern_stage.layouts import END, NUMBER, Event, TypedEvent

__all__ = ["Dormant"]

_Found = dict[AutomatonGroup, None]

_WORN = 64
"""The maximal number of bits beyond those in use."""

_NOTHING = frozenset[Waker]()


class _Compared:
    """Automata by the constants that values are compared with."""

    def __init__(self, operator: Comparator, number: bool) -> None:
        self._operator, self._number = operator, number
        self._gate = Gate(operator, number)
        self._bits: dict[tuple[AutomatonGroup, str | float], int] = {}
        self._groups: list[AutomatonGroup] = []
        self._dormant = 0

    def add(self, group: AutomatonGroup, constant: str | float) -> None:
        bit = self._bits.get((group, constant))
        if bit is None:
            bit = self._bits[group, constant] = 1 << len(self._groups)
            self._groups.append(group)
            self._gate.add(bit, constant)
        self._dormant |= bit

    def remove(self, group: AutomatonGroup, constant: str | float) -> None:
        """An automaton that is no longer found; its bit stays, as it is soon dormant again."""
        self._dormant &= ~self._bits[group, constant]
        if len(self._bits) > 2 * self._dormant.bit_count() + _WORN:
            self._renew()

    def find(self, value: object, found: _Found) -> None:
        mask = self._gate.mask(value) & self._dormant
        while mask:
            low = mask & -mask
            found[self._groups[low.bit_length() - 1]] = None
            mask ^= low

    def _renew(self) -> None:
        kept = [key for key, bit in self._bits.items() if bit & self._dormant]
        self._gate, self._bits = Gate(self._operator, self._number), {}
        self._groups, self._dormant = [], 0
        for group, constant in kept:
            self.add(group, constant)


class _OfType:
    """The dormant automata that events of one type may change."""

    __slots__ = ("any", "compared", "equal", "missing", "newest", "older")

    def __init__(self) -> None:
        self.equal: dict[int, dict[Any, _Found]] = {}
        """By place and value."""
        self.missing: dict[int, _Found] = {}
        """By the place at which an event has no value."""
        self.compared: dict[tuple[int, Comparator, bool], _Compared] = {}
        self.any: _Found = {}
        self.newest = self.older = float("-inf")
        """The two newest times of events."""

    def add(self, waker: Waker, group: AutomatonGroup) -> None:
        _, place, operator, constant = waker
        if operator == "=":
            of_value = self.equal.setdefault(place, {})
            of_value.setdefault(constant, {})[group] = None
        elif operator == "missing":
            self.missing.setdefault(place, {})[group] = None
        elif operator == "any":
            self.any[group] = None
        else:
            number = not isinstance(constant, str)
            compared = self.compared.get((place, operator, number))
            if compared is None:
                compared = _Compared(operator, number)
                self.compared[place, operator, number] = compared
            compared.add(group, constant)

    def remove(self, waker: Waker, group: AutomatonGroup) -> None:
        _, place, operator, constant = waker
        if operator == "=":
            of_value = self.equal[place]
            some = of_value[constant]
            del some[group]
            if not some:
                del of_value[constant]
        elif operator == "missing":
            del self.missing[place][group]
        elif operator == "any":
            del self.any[group]
        else:
            self.compared[place, operator, not isinstance(constant, str)].remove(group, constant)

    def find(self, event: Event) -> _Found:
        found: _Found = {}
        for place, of_value in self.equal.items():
            some = of_value.get(event[place])
            if some:
                found.update(some)
        for (place, _, _), compared in self.compared.items():
            value = event[place]
            if value is not None and value == value:
                compared.find(value, found)
        for place, groups in self.missing.items():
            value = event[place]
            if value is None or value != value:
                found.update(groups)
        if self.any:
            found.update(self.any)
        return found


class Dormant:
    """The dormant automata."""

    def __init__(self) -> None:
        self._types: dict[int, _OfType] = {}
        self._of: dict[AutomatonGroup, frozenset[Waker]] = {}
        self._dying: dict[AutomatonGroup, int] = {}
        """Of those with states whose runs the next event ends, these states."""
        self._running: dict[AutomatonGroup, None] = {}
        """Those that have runs."""
        self._since = 0
        self._recent: list[TypedEvent] = []
        """The events of the newest time."""

    def __contains__(self, group: object) -> bool:
        return group in self._of

    def __len__(self) -> int:
        return len(self._of)

    @property
    def running(self) -> list[AutomatonGroup]:
        """Those that have runs."""
        return [*self._running]

    def add(self, group: AutomatonGroup) -> bool:
        """An automaton is dormant from now on, with the runs that it has; returns whether it can
        be."""
        states = group.query.occupied
        wakers_of = group.query.wakers
        found = None if wakers_of is None else wakers_of.of(states)
        if found is None:
            return False
        wakers, dying = found
        before = self._of.get(group)
        if before is None:
            self._since = max(self._since, group.members.since)
            before = _NOTHING
            self._of[group] = before
        if wakers != before:
            for waker in wakers - before:
                of_type = self._types.get(waker.type)
                if of_type is None:
                    of_type = self._types[waker.type] = _OfType()
                of_type.add(waker, group)
            for waker in before - wakers:
                self._types[waker.type].remove(waker, group)
            self._of[group] = wakers
        if dying:
            self._dying[group] = dying
            for type_ in group.components:
                if type_ not in self._types:
                    self._types[type_] = _OfType()
        elif group in self._dying:
            del self._dying[group]
        if states:
            self._running[group] = None
        elif group in self._running:
            del self._running[group]
        return True

    def remove(self, group: AutomatonGroup) -> bool:
        """An automaton is active again; returns whether it was dormant."""
        wakers = self._of.pop(group, None)
        for waker in wakers or ():
            self._types[waker.type].remove(waker, group)
        self._dying.pop(group, None)
        self._running.pop(group, None)
        return wakers is not None

    def changed_by(self, type_: int, event: Event) -> list[AutomatonGroup]:
        """Those that an event may change."""
        if event[NUMBER] < self._since:
            # It may lack what some read, and some do not see it.
            return [one for one in self._of if type_ in one.components]
        of_type = self._types.get(type_)
        if of_type is None:
            return []
        found = of_type.find(event)
        return [*found] if found else []

    def end(self, group: AutomatonGroup, time: float) -> None:
        """Runs of an automaton end that an event before `time` has ended while it was dormant."""
        dying = self._dying.get(group)
        if dying:
            newest = group.query.newest
            for type_ in group.components:
                of_type = self._types[type_]
                last = of_type.newest if of_type.newest < time else of_type.older
                if last > newest:
                    group.query.end(dying)
                    return

    def missed(self, group: AutomatonGroup) -> list[TypedEvent]:
        """The events of the newest time that a dormant automaton has not taken, as far as another
        one of that time may make a difference; earlier ones have been made up for."""
        if group not in self._dying or not self._recent:
            return []
        time = self._recent[0][1][END]
        self.end(group, time)
        if time <= group.query.newest:
            return []
        return [one for one in self._recent if one[0] in group.components]

    def passed(self, type_: int, event: Event) -> None:
        """An event has come, in order of time, and was taken by those that it may change."""
        if event[NUMBER] < self._since:
            return
        time = event[END]
        recent = self._recent
        if recent and recent[0][1][END] == time:
            recent.append((type_, event))
        else:
            self._recent = [(type_, event)]
        of_type = self._types.get(type_)
        if of_type is not None and time > of_type.newest:
            of_type.older, of_type.newest = of_type.newest, time
