"""The queries that share an automaton, as bits of masks: their constants, and what they may see."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from xscl.pattern_stage.automaton import Automaton, EachOf, Functions, Gated, GateOf, Scan
from xscl.pattern_stage.bounds import Tally
from xscl.pattern_stage.gates import PASS, Each, Gate
from xscl.pattern_stage.layouts import NUMBER, Event

__all__ = ["Gates", "Missed", "QueryMasks"]

Gates = tuple[tuple[Callable[..., Any], Callable[[Any], int]], ...]
"""Values, and the queries for which they pass."""


_MANY = 8
"""More queries than these are read from a mask's digits."""


_WORN = 64
"""The maximal number of bits beyond that of queries."""


_FEW = 64
"""So many missed events are kept before the old ones are searched."""


class Missed(dict[int, tuple[int, int]]):
    """Events by number that came too late, each with its time, and a mask of the queries that do
    not see it, where these share one."""

    __slots__ = ("_limit",)

    def __init__(self, events: Iterable[tuple[int, int]] = ()) -> None:
        super().__init__((event, (time, 1)) for event, time in events)
        self._limit = _FEW

    def add(self, event: int, time: int, mask: int = 1) -> None:
        """Adds an event that queries do not see, to those that do not see it already."""
        self[event] = time, mask | self.get(event, (0, 0))[1]

    @property
    def times(self) -> list[tuple[int, int]]:
        """The events with their times."""
        return [(event, time) for event, (time, _) in self.items()]

    def drop(self, floor: int) -> None:
        """Drops those before a time, which nothing can reach any more."""
        if len(self) > self._limit:
            for event in [one for one, (time, _) in self.items() if time < floor]:
                del self[event]
            self._limit = max(_FEW, 2 * len(self))


class QueryMasks:
    """Queries by bit.  A removed query's bit is not given to another: runs may have it."""

    def __init__(self, automaton: Automaton, constants: Sequence[str | float]) -> None:
        self.functions: Functions = automaton.make(tuple(constants))
        self.all_queries = 0
        self._gates: dict[GateOf, Gate] = {}
        self._each: dict[EachOf, Each] = {}
        self._queries: list[int] = []
        self._bits: dict[int, int] = {}
        self._constants: dict[int, tuple[str | float, ...]] = {}
        self._since: dict[int, int] = {}
        self._latest = self._oldest = 0
        self._sinces: list[int] = []
        """By place from when on a query sees events, `ascending` if no later one sees more."""
        self._ascending = True
        self.missing = Missed()
        self.stopped: dict[int, str] = {}
        """Queries that see no further events and are to be removed, and why."""

    def __len__(self) -> int:
        return len(self._bits)

    @property
    def worn(self) -> bool:
        """Whether most bits are of removed queries."""
        return len(self._queries) > 2 * len(self._bits) + _WORN

    def add(self, number: int, constants: tuple[str | float, ...], since: int) -> None:
        """Adds a query that sees events with a number not below `since`."""
        bit = 1 << len(self._queries)
        self._queries.append(number)
        self._bits[number] = bit
        self._constants[number] = constants
        self._since[number] = since
        self._ascending &= since >= self._latest
        self._sinces.append(since)
        self._latest = max(self._latest, since)
        self.all_queries |= bit
        for of, gate in self._gates.items():
            gate.add(bit, constants[of.constant])
        for several, each in self._each.items():
            each.add(bit, tuple(constants[place] for place in several.constants))

    def remove(self, number: int) -> int:
        """Removes a query; returns its bit."""
        bit = self._bits.pop(number)
        constants = self._constants.pop(number)
        del self._since[number]
        self.stopped.pop(number, None)
        self.all_queries &= ~bit
        for of, gate in self._gates.items():
            gate.remove(bit, constants[of.constant])
        for several, each in self._each.items():
            each.remove(bit, tuple(constants[place] for place in several.constants))
        return bit

    def stop(self, tally: Tally, most: int, what: str) -> int:
        """Stops the queries that have more than `most` of something: they have no matches and see
        nothing from now on.  Returns their bits."""
        gone = tally.over(most) & self.all_queries
        for number in self.numbers(gone):
            self.stopped[number] = f"more than {most:,} {what}"
        self.all_queries &= ~gone
        return gone

    def bit(self, number: int) -> int:
        """The bit of a query."""
        return self._bits[number]

    def numbers(self, mask: int) -> Iterator[int]:
        """The queries of a mask."""
        mask &= self.all_queries
        if mask.bit_count() > _MANY:
            digits = bin(mask)[:1:-1]
            place = digits.find("1")
            while place >= 0:
                yield self._queries[place]
                place = digits.find("1", place + 1)
            return
        while mask:
            low = mask & -mask
            yield self._queries[low.bit_length() - 1]
            mask ^= low

    def seeing(self, event: Event) -> int:
        """The queries that see an event."""
        if event[NUMBER] >= self._latest:
            mask = self.all_queries
        elif self._ascending:
            mask = (1 << bisect_right(self._sinces, event[NUMBER])) - 1 & self.all_queries
        else:
            mask = 0
            for number, since in self._since.items():
                if event[NUMBER] >= since:
                    mask |= self._bits[number]
            mask &= self.all_queries
        if self.missing and event[NUMBER] in self.missing:
            mask &= ~self.missing[event[NUMBER]][1]
        return mask

    def see_from(self, since: int) -> None:
        """Lets all current queries see only the events with a number not below `since`; they are
        the `oldest`."""
        self._since = dict.fromkeys(self._since, since)
        self._sinces, self._ascending = [since] * len(self._queries), True
        self._latest, self._oldest = since, self.all_queries

    @property
    def oldest(self) -> int:
        """The queries that were there when `see_from` was called."""
        return self._oldest & self.all_queries

    # Events that came too late to be processed.

    def miss(self, event: int, time: int, mask: int) -> None:
        """Notes an event, by its number, which the queries of a mask do not see."""
        if mask:
            self.missing.add(event, time, mask)

    def missed(self) -> Iterator[tuple[int, int, int]]:
        """The query, the number of an event that it has missed, and the event's time."""
        for event, (time, mask) in self.missing.items():
            for number in self.numbers(mask):
                yield number, event, time

    def gates(self, gates: Gated) -> Gates:
        """Gates for the constants of all queries, including later ones."""
        return tuple(
            (_arguments if isinstance(of, EachOf) else self.functions[of.value], self.passed(of))
            for of in gates
        )

    def passed(self, of: GateOf | EachOf) -> Callable[[Any], int]:
        """The queries for which a value passes, or arguments."""
        if isinstance(of, EachOf):
            each = self._each.get(of)
            if each is None:
                each = self._each[of] = Each(self.functions[of.holds], of.monotone)
                for number, constants in self._constants.items():
                    given = tuple(constants[place] for place in of.constants)
                    each.add(self._bits[number], given)
            return each.mask
        gate = self._gates.get(of)
        if gate is None:
            gate = self._gates[of] = Gate(of.operator, of.number)
            for number, constants in self._constants.items():
                gate.add(self._bits[number], constants[of.constant])
        return gate.mask

    def scan(self, scan: Scan) -> Callable[[Event, int], int]:
        """The queries that see an event and whose scan it passes."""
        gates = self.gates(scan.gates)
        test = None if scan.filter is None else self.functions[scan.filter]

        def admitted(event: Event, mask: int) -> int:
            if test is not None and not test(event):
                return 0
            for value, passed in gates:
                of = value(event)
                if of is None:
                    return 0
                if of is not PASS:
                    mask &= passed(of)
                    if not mask:
                        return 0
            return mask

        return admitted


def _arguments(*arguments: Any) -> tuple[Any, ...]:
    return arguments


def passing(gates: Gates, mask: int, *arguments: Any) -> int:
    """The queries of a mask for which gates pass."""
    for value, passed in gates:
        of = value(*arguments)
        if of is None:
            return 0
        if of is not PASS:
            mask &= passed(of)
            if not mask:
                return 0
    return mask
