"""The arcs that live at one time, and the pure step of an epoch over the runs in each state.

A run takes one event of an epoch or passes it: consuming is existential over the epoch, ignoring
universal (docs/semantics.md#steps-of-an-automaton).  The runs of a state that ignores an epoch as a
whole are not touched: their list is the next one's, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.automata.program import Program
from xscl.pattern_stage.automata.run_lists import Run, RunList, RunShape
from xscl.pattern_stage.automata.texts import CompiledArc, Gate
from xscl.pattern_stage.layouts import NUMBER, Event, TypedEvent

__all__ = ["Chain", "KeptEvents", "Lists", "PassedGates", "Plan", "Step", "Table"]

Lists = Sequence[RunList]
"""The runs of each state."""

_PLANS = 4096
"""So many plans of a type are remembered."""

_Move = tuple[int, int, CompiledArc]
"""A consuming arc: from where, to where."""


class Plan:
    """What an event does to the runs of each state, given the gates that it passes.

    Those in states of `passing` stay as they are, of `filtered` those that one of some ignorable
    arcs takes; `moves` take it, `begins` take it of the runs that begin.
    """

    __slots__ = ("alone", "begins", "filtered", "idle", "moves", "passing")

    def __init__(
        self,
        passing: frozenset[int],
        filtered: Mapping[int, Sequence[CompiledArc]],
        moves: Sequence[_Move],
        begins: Sequence[_Move],
    ) -> None:
        self.passing, self.filtered = passing, filtered
        self.moves, self.begins = moves, begins
        self.idle = not (moves or filtered)
        self.alone = (self,)


Step = tuple[TypedEvent, "Table", Plan]
"""An event alone, with the arcs of its time and what it does by them."""


class Table:
    """The arcs of an automaton that live between two of their changes.

    `final` are the final states, of `states` in all.
    """

    def __init__(
        self,
        program: Program,
        shape: RunShape,
        arcs: Iterable[CompiledArc],
        states: int,
        final: Collection[int],
        types: int,
    ) -> None:
        self.program, self.shape, self.states, self.final = program, shape, states, final
        self._initial = (
            *(field.initial for field in program.register),
            *((None,) if program.keep else ()),
        )
        self.epsilon: list[CompiledArc] = []
        self.ends: list[CompiledArc] = []
        self.starts: list[CompiledArc] = []
        self._taking: list[list[CompiledArc]] = [[] for _ in range(types)]
        for one in arcs:
            match one.arc.kind:
                case "epsilon":
                    self.epsilon.append(one)
                case "end":
                    self.ends.append(one)
                case "start":
                    self.starts.append(one)
                case _:
                    for type_ in range(types) if one.arc.type is None else (one.arc.type,):
                        self._taking[type_].append(one)
        self.epsilon = _in_order(self.epsilon)
        self._first = {program.start}
        for one in self.epsilon:
            if one.arc.source in self._first:
                self._first.add(one.arc.target)
        self.gates = [
            [*dict.fromkeys(one.gate for one in some if one.gate is not None)]
            for some in self._taking
        ]
        self._plans = [dict[tuple[bool, ...], Plan]() for _ in range(types)]

    # Plans

    def plans(self, events: Sequence[TypedEvent]) -> Iterable[Plan]:
        """What each of some events does."""
        of_type: list[list[Event]] = [[] for _ in self.gates]
        for type_, event in events:
            of_type[type_].append(event)
        if len(of_type) == 1:
            return self._plans_of(0, of_type[0])
        plans = [iter(self._plans_of(type_, some)) for type_, some in enumerate(of_type)]
        return [next(plans[type_]) for type_, _ in events]

    def _plans_of(self, type_: int, events: Sequence[Event]) -> list[Plan]:
        gates = self.gates[type_]
        if len(self._plans[type_]) >= _PLANS:
            self._plans[type_].clear()
        if not gates:
            return [self._plan(type_, ())] * len(events)
        return self.plans_by(type_, [gate.each(events) for gate in gates])

    def plans_by(self, type_: int, columns: Iterable[Sequence[bool]]) -> list[Plan]:
        """What events of a type do, given for each of its `gates` which of them pass it."""
        known = self._plans[type_].get
        return [known(one) or self._plan(type_, one) for one in zip(*columns, strict=True)]

    def plan(self, type_: int, event: Event) -> Plan:
        """What an event does."""
        if len(self._plans[type_]) >= _PLANS:
            self._plans[type_].clear()
        return self._plan(type_, tuple([gate.of(event) for gate in self.gates[type_]]))

    def _plan(self, type_: int, passed: tuple[bool, ...]) -> Plan:
        plans = self._plans[type_]
        plan = plans.get(passed)
        if plan is not None:
            return plan
        open_ = {gate for gate, one in zip(self.gates[type_], passed, strict=True) if one}
        some = [one for one in self._taking[type_] if one.gate is None or one.gate in open_]
        ignoring = dict[int, list[CompiledArc]]()
        for one in some:
            if one.arc.kind == "ignore":
                ignoring.setdefault(one.arc.source, []).append(one)
        passing = {
            state for state, arcs in ignoring.items() if any(one.delta is not None for one in arcs)
        }
        filtered = {state: arcs for state, arcs in ignoring.items() if state not in passing}
        moves = [(one.arc.source, one.arc.target, one) for one in some if one.arc.kind == "consume"]
        moves.sort(key=_source)
        begins = [one for one in moves if one[0] in self._first]
        plans[passed] = Plan(frozenset(passing), filtered, moves, begins)
        return plans[passed]

    # Runs

    def begun(self, start: int, by: tuple[str, ...]) -> Mapping[int, list[Run]]:
        """The runs that begin at an epoch, by state."""
        program = self.program
        run = (start, *by, *self._initial)
        if len(self._first) == 1:
            return {program.start: [run]}
        lists = [self.shape.empty] * self.states
        lists[program.start] = self.shape.listed([run])
        return {state: runs.runs for state, runs in enumerate(self.closed(lists)) if runs}

    def closed(self, lists: Lists) -> Lists:
        """Runs and all that they become by ε-arcs."""
        if not self.epsilon:
            return lists
        closed = [*lists]
        for one in self.epsilon:
            beyond = self._moved(one, closed[one.arc.source])
            closed[one.arc.target] = self._joined(closed[one.arc.target], beyond)
        return closed

    def step(
        self,
        lists: Lists,
        events: Sequence[TypedEvent],
        plans: Sequence[Plan],
        begins: tuple[int, tuple[str, ...]] | None,
        since: float,
        *,
        passing: bool = True,
        whole: bool = True,
    ) -> tuple[Lists, list[Run]]:
        """The runs after an epoch, given what its events do, and those of them that enter a final
        state: of runs that start after `since`, and of those that begin with it (`begins` is their
        start and part); without `passing` of those alone that take an event.  While the epoch is
        not `whole`, more events may break a run that has ignored these: it takes no ε-arc."""
        shape, empty, keep = self.shape, self.shape.empty, self.program.keep
        if passing and len(plans) == 1 and (only := plans[0]).idle and not self.epsilon:
            staying = only.passing
            for state, runs in enumerate(lists):
                if runs is not empty and state not in staying:
                    break
            else:
                # Nothing happens: the epoch has the lists of the one before.
                return lists, []
        stepped = [empty] * self.states
        if passing and (plans[0].passing or plans[0].filtered):
            self._pass(lists, events, plans, since, stepped)
        arisen: dict[int, RunList] = {}
        fresh: dict[int, list[Run]] | None = None
        for typed, plan in zip(events, plans, strict=True):
            event = typed[1]
            link = _Links(*typed) if keep else None
            runs, of = empty, -1
            for source, target, one in plan.moves:
                if source != of:
                    of, runs = source, lists[source]
                    if runs is not empty:
                        runs = runs.after(since)
                if runs is not empty:
                    beyond = one.beyond(runs, event, shape, link)
                    if beyond is not empty:
                        there = arisen.get(target)
                        arisen[target] = beyond if there is None else self._joined(there, beyond)
            if plan.begins and begins is not None:
                begun = self.begun(*begins)
                for source, target, one in plan.begins:
                    if source in begun and (
                        out := one.take(begun[source], event, shape.zero, link)
                    ):
                        if fresh is None:
                            fresh = {}
                        fresh.setdefault(target, []).extend(out)
        if fresh is not None:
            for target, some in fresh.items():
                if len(some) > 1:
                    some = [*dict.fromkeys(some)]
                arisen[target] = arisen.get(target, empty).followed_by(some)
        for one in self.epsilon:
            source, target = one.arc.source, one.arc.target
            for came in (arisen.get(source), stepped[source] if whole else empty):
                if came and (beyond := self._moved(one, came)):
                    arisen[target] = self._joined(arisen.get(target), beyond)
        entered: list[Run] = []
        for state, runs in arisen.items():
            if state in self.final:
                entered += runs.runs
            there = stepped[state]
            stepped[state] = runs if there is empty else self._joined(there, runs)
        return stepped, entered

    def _pass(
        self,
        lists: Lists,
        events: Sequence[TypedEvent],
        plans: Sequence[Plan],
        since: float,
        stepped: list[RunList],
    ) -> None:
        """Adds the runs that ignore all events of an epoch, and start after `since`: the windows of
        the others have closed before it."""
        first = plans[0]
        for state in first.passing if not first.filtered else {*first.passing, *first.filtered}:
            runs = lists[state].after(since)
            for (_, event), plan in zip(events, plans, strict=True):
                if state in plan.passing:
                    continue
                if state not in plan.filtered or not runs:
                    break
                kept = [one.beyond(runs, event, self.shape) for one in plan.filtered[state]]
                runs = kept.pop()
                for more in kept:
                    runs = self._joined(runs, more)
            else:
                stepped[state] = runs

    def _joined(self, one: RunList | None, other: RunList) -> RunList:
        """The runs of two lists, each once."""
        if not one or not other:
            return one or other
        if one.last < other.first:
            return one.followed_by(other.runs)
        return self.shape.merged(one, other.runs)

    def _moved(self, one: CompiledArc, runs: RunList) -> RunList:
        """The runs beyond an arc that takes no event."""
        if not runs or (one.gate is not None and not one.gate.of(())):
            return self.shape.empty
        return one.beyond(runs, (), self.shape)

    def ended(self, lists: Lists, since: float, until: float) -> list[Run]:
        """The runs in final states after the arcs that fire when windows close, of those of runs
        that start after `since`, but not after `until`."""
        ended = [self.shape.empty] * self.states
        for one in self.ends:
            beyond = self._moved(one, lists[one.arc.source].after(since).until(until))
            ended[one.arc.target] = self._joined(ended[one.arc.target], beyond)
        closed = self.closed(ended)
        return [run for state in self.final for run in closed[state].runs]

    def opened(self, start: int, by: tuple[str, ...]) -> Lists:
        """The runs beyond the arcs that fire when a window opens."""
        begun = self.begun(start, by)
        opened = [self.shape.empty] * self.states
        for one in self.starts:
            runs = self.shape.listed([*begun.get(one.arc.source, ())])
            opened[one.arc.target] = self._joined(opened[one.arc.target], self._moved(one, runs))
        return self.closed(opened)


class PassedGates:
    """Which gates each of some events passes, asked once for all tables that they meet."""

    def __init__(self, events: Sequence[TypedEvent]) -> None:
        self._events = events
        self._columns: dict[Gate, list[bool]] = {}

    def plans(self, table: Table, some: Sequence[TypedEvent], place: int) -> Iterable[Plan]:
        """What some of the events do, which stand from a place on."""
        if len(table.gates) > 1 or not table.gates[0]:
            return table.plans(some)
        upto, columns = place + len(some), list[list[bool]]()
        for gate in table.gates[0]:
            column = self._columns.get(gate)
            if column is None:
                column = self._columns[gate] = gate.each([event for _, event in self._events])
            columns.append(column[place:upto])
        return table.plans_by(0, columns)


def _source(move: _Move) -> int:
    return move[0]


class _Links(dict[int, Any]):
    """Appends one event to chains, to each once."""

    def __init__(self, type_: int, event: Event) -> None:
        super().__init__()
        self._type, self._event = type_, event

    def __call__(self, chain: Any) -> Any:
        link = self.get(id(chain))
        if link is None:
            link = self[id(chain)] = Chain(chain, self._type, self._event)
        return link


class Chain:
    """The events of a run, the last one first; chains are shared by the runs that continue one."""

    __slots__ = ("before", "event", "type")

    def __init__(self, before: Chain | None, type_: int, event: Event) -> None:
        self.before, self.type, self.event = before, type_, event

    @property
    def events(self) -> KeptEvents:
        """The events in order of time."""
        events: list[TypedEvent] = []
        link: Chain | None = self
        while link is not None:
            events.append((link.type, link.event))
            link = link.before
        return KeptEvents(reversed(events))


class KeptEvents(tuple[TypedEvent, ...]):
    """The events of a run.  They are told apart by their numbers: they may be read again, with more
    attributes."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeptEvents) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[tuple[int, int], ...]:
        return tuple([(type_, event[NUMBER]) for type_, event in self])


def _in_order(arcs: list[CompiledArc]) -> list[CompiledArc]:
    """ε-arcs, each behind those that lead to its state (there is no circle)."""
    placed: list[CompiledArc] = []
    left = [*arcs]
    while left:
        targets = {one.arc.target for one in left}
        free = [one for one in left if one.arc.source not in targets]
        placed += free
        left = [one for one in left if one.arc.source in targets]
    return placed
