"""Event queries over events: what a step brings in, what queries are to be told of out.

Monotone queries (selections, lists and unions alone) are told at once; all others in order of
time, once the watermark is above.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pattern_stage.algebra import Layout
from pattern_stage.algebra.localised import inputs
from pattern_stage.algebra.nodes import Map, Node, Select, Source, Union
from pattern_stage.bounds import MOST
from pattern_stage.pattern import Slot
from pattern_stage.plan.channels import Event
from pattern_stage.plan.memberships import Membership, exceeding, first_of
from pattern_stage.plan.network import Network, Template
from pattern_stage.plan.operators import Context, Operator
from pattern_stage.plan.outputs import EventFound, Output, Outputs, Root, distinct
from pattern_stage.plan.queries import Queries
from pattern_stage.plan.rules import SWITCHES
from pattern_stage.plan.saved import operators_of, restore, state_of
from pattern_stage.plan.told import Told

__all__ = ["EventStage"]

Waiting = tuple[int, Event]

_SPARE = 64
"""So many templates may be of queries that have gone."""

_PORTION = 1024
"""So many events at most go through the m-ops together."""

_BETWEEN = 65_536
"""They are fewer where more than so many come of them in between, which are held meanwhile."""

_ROUND = 64
"""After so many steps all m-ops let go of what is too old, not those alone that have much."""


class EventStage:
    """The event queries of one engine.

    `without` names rules and indexes that are switched off (other names are not its business);
    `sharable` are sets of types whose equal events of one step are one channel tuple (a mapping
    from type to the first of its set may grow while queries come).
    """

    def __init__(
        self,
        without: Iterable[str] = (),
        sharable: Mapping[int, int] | Iterable[Iterable[int]] = (),
        most: int = MOST,
    ) -> None:
        off = SWITCHES & frozenset(without)
        self._classes: Mapping[int, int]
        if isinstance(sharable, Mapping):
            self._classes = sharable
        else:
            sets = [sorted(one) for one in sharable]
            self._classes = {type_: one[0] for one in sets for type_ in one}
        self._layout = Layout()
        context = self._context = Context(self._layout, off, most=most)
        self._at_once, self._in_order = (Network(context, self._classes) for _ in range(2))
        self._templates: dict[object, tuple[Node, Network, Template]] = {}
        self._queries = Queries()
        self._roots: dict[int, Root] = {}
        self._free: list[int] = []
        """Places of roots that have gone."""
        self._steps = self._output_count = 0
        self._portion = max(1, _PORTION // 16)
        self._waiting: list[Waiting] = []
        self._sorted = True
        self._watermark: int | None = None
        self._outputs: list[Output] = []
        self._told = Told()
        self._stopped: dict[int, str] = {}
        self._most_told = most

    # Queries

    def add(
        self,
        number: int,
        root: Node,
        types: Iterable[int],
        constants: Sequence[Any],
        since: int = 0,
        *,
        feeds: bool = False,
        told: bool = True,
    ) -> None:
        """A query: the type of each source, and its constants.  It sees events with a number not
        below `since`, may be `feeds`, and is `told` of what it finds unless only that publishes."""
        if number in self._queries:
            raise ValueError(f"query {number} is there already")
        of = tuple(types)
        known = self._templates.get((id(root), of))
        if known is None:
            network = self._at_once if _monotone(root) else self._in_order
            known = self._templates[id(root), of] = root, network, network.template(root, of)
        _, network, template = known
        operator, member = network.add(template, constants, since)
        of_root = operator.root
        if of_root is None:
            of_root = operator.root = Root(operator, network, self._layout)
            of_root.place = self._free.pop() if self._free else len(self._roots)
            self._roots[of_root.place] = of_root
        of_root.add(member, number, feeds=feeds, told=told)
        self._queries.add(number, of_root.place, member)

    def remove(self, number: int) -> None:
        """A query less; what was told has been read."""
        if self._outputs:
            raise ValueError("queries may change only when all that was told has been read")
        place, member = self._queries.pop(number)
        self._stopped.pop(number, None)
        root = self._roots[place]
        root.remove(member, number)
        if not root.of(member) and member not in root.feeds:
            self._told.remove(root, member)
        root.network.remove(root.operator, member)
        if not len(root.operator.members):
            del self._roots[place]
            self._free.append(place)
        if len(self._templates) > 2 * len(self._roots) + _SPARE:
            self._templates.clear()
            self._at_once.trim()
            self._in_order.trim()

    @property
    def version(self) -> int:
        """Grows whenever slots, or what is asked of events, may have changed."""
        return self._layout.version

    def slots(self, type_: int) -> tuple[Slot, ...]:
        """What stands behind the four first places of a type's events."""
        return self._layout.slots(self._classes.get(type_, type_))

    def whole(self, type_: int) -> bool:
        """Whether a type's events need all their attributes at the fourth place."""
        return self._layout.whole(self._classes.get(type_, type_)) or self._layout.whole(type_)

    def reach(self, type_: int) -> int:
        """For how many microseconds bodies are needed: never."""
        return 0

    def root(self, number: int) -> Root:
        """What a query's outputs are of."""
        return self._roots[self._queries[number][0]]

    def miss(self, since: int, events: Mapping[int, int]) -> None:
        """Queries that see events from number `since` on do not see some, by number with their
        ends: their attributes were read before anybody could know which ones these ask for."""
        if events:
            self._context.missed.setdefault(since, {}).update(events)

    @property
    def missed(self) -> Mapping[int, Mapping[int, int]]:
        """By `since` what `miss` has been called with."""
        return self._context.missed

    def forget_missed(self, watermark: int) -> None:
        """Drops what ends before a time: none of it will be taken again."""
        missed = self._context.missed
        for since, events in [*missed.items()]:
            missed[since] = left = {one: end for one, end in events.items() if end >= watermark}
            if not left:
                del missed[since]

    # Bounds

    @property
    def stopped(self) -> dict[int, str]:
        """Queries that have exceeded a bound, and why; they are to be removed."""
        exceeded = self._context.exceeded
        if exceeded:
            for number, root, member in self._all():
                for one in operators_of(root, member):
                    if one in exceeded:
                        self._stopped.setdefault(number, exceeded[one])
            exceeded.clear()
        return self._stopped

    def _within_bounds(self, told: list[Output]) -> list[Output]:
        """Outputs of a step so far, but for those of queries that have too many."""
        most = self._context.most
        if len(told) <= self._most_told:
            return told
        by = dict[Root, list[Membership]]()
        for root, _, members in told:
            by.setdefault(root, []).append(members)
        why = f"more than {most:,} outputs in one step"
        for root, some in by.items():
            for member in exceeding(map(first_of, some), most):
                self._stopped |= dict.fromkeys(root.asking(member), why)
        left = self._not_stopped(told)
        self._most_told = len(left) + most
        return left

    def _not_stopped(self, told: list[Output]) -> list[Output]:
        """Outputs but for those that only queries have that are stopped."""
        stopped = self.stopped.keys()
        if not stopped:
            return told
        left = list[Output]()
        for root, event, members in told:
            here = tuple([one for one in members if not root.asking(one) <= stopped])
            if here:
                left.append((root, event, members if len(here) == len(members) else here))
        return left

    # Steps

    def take(self, events: Iterable[Waiting]) -> None:
        """The events of a step with their types, in any order, none before the watermark."""
        now, waiting = dict[int, list[Waiting]](), self._waiting
        at_once, in_order = self._at_once.reads, self._in_order.reads
        latest = waiting[-1][1][1] if waiting else -1
        for coming in events:
            type_, event = coming
            if type_ in at_once:
                now.setdefault(type_, []).append(coming)
            if type_ in in_order:
                if event[1] < latest:
                    self._sorted = False
                latest = event[1]
                waiting.append(coming)
        # Type by type: a document that is told has its own number, sharable or not.
        for some in now.values():
            some.sort(key=_end)
            for operator, channel in self._at_once.run(some):
                self._outputs += self._told.unknown(operator.root, channel)
        self._outputs = self._within_bounds(self._outputs)

    def advance(self, watermark: int | None) -> None:
        """No event that ends before `watermark` will come any more (None: nothing is known)."""
        if watermark is None or (self._watermark is not None and watermark < self._watermark):
            return
        self._watermark = watermark
        self._sort()
        due = bisect_left(self._waiting, watermark, key=_end)
        if due:
            ready = self._waiting[:due]
            del self._waiting[:due]
            told = self._run(ready)
            self._outputs += self._told.not_early(told)
        self._told.drop(watermark)
        self._steps += 1
        if self._steps % _ROUND == 0:
            self._in_order.forget(watermark)

    def flush(self) -> None:
        """Tells what would be told if no event came any more; the watermark stays."""
        told = self._told.not_early(self._pending())
        self._outputs += told
        self._told.flushed += told

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many outputs `flush` would tell each query of now, and when the last of them ends;
        nothing changes by it."""
        outputs = Outputs(self._told.not_early(self._pending(), told_now=False))
        latest = outputs.latest()
        return {number: (many, latest[number]) for number, many in outputs.counts().items()}

    def _pending(self) -> list[Output]:
        """What would be told if no event came any more, also what was told before its time."""
        if not self._waiting:
            return []
        self._sort()
        operators = [one for one in self._in_order.operators if one.inputs]
        saved = [one.save() for one in operators]
        told = self._run(self._waiting)
        for one, kept in zip(operators, saved, strict=True):
            one.load(kept)
        return told

    def read(self) -> Outputs:
        """What queries have been told since the last call."""
        told, self._outputs = self._not_stopped(self._outputs), []
        self._most_told = self._context.most
        self._output_count += len(told)
        return Outputs(told)

    def found(self) -> list[EventFound]:
        """It one by one."""
        return self.read().found()

    def counts(self) -> dict[int, int]:
        """How many outputs each query has been told of since the last call."""
        return self.read().counts()

    def stats(self) -> Mapping[str, int]:
        """Counts of what is there, without what no event can meet any more."""
        if self._watermark is not None:
            self._in_order.forget(self._watermark)
        every = [*self._at_once.operators, *self._in_order.operators]
        return {
            "queries": len(self._queries),
            "m-ops": len(every),
            "members": sum(len(one.members) for one in every),
            "states": sum(len(one.members) for one in every if len(one.inputs) == 2),
            "active": sum(one.states() for one in every),
            "instances": sum(one.held() for one in every),
            "touched": sum(one.touched for one in every),
            "outputs": self._output_count,
            "waiting": len(self._waiting),
        }

    # Between runs

    def state(self) -> dict[str, Any]:
        """What is held beyond the events that end at or after the watermark, as plain data (JSON):
        instances and buffers."""
        operators = [one for one in self._in_order.operators if one.inputs]
        return {"operators": state_of(operators, self._all, self._layout)}

    def restore(
        self,
        state: Mapping[str, Any],
        number_of: Callable[[int], int | None] = lambda number: number,
    ) -> None:
        """Holds what was saved, as far as its queries are here; `number_of` is the number of one
        now, given that of before."""

        def root_of(number: int) -> tuple[Operator, int] | None:
            now = number_of(number)
            return None if now is None else self._root_of(now)

        restore(state["operators"], root_of, self._layout)

    # Inside

    def _all(self) -> Iterable[tuple[int, Operator, int]]:
        for number in self._queries:
            place, member = self._queries[number]
            yield number, self._roots[place].operator, member

    def _root_of(self, number: int) -> tuple[Operator, int] | None:
        if number not in self._queries:
            return None
        place, member = self._queries[number]
        return self._roots[place].operator, member

    def _sort(self) -> None:
        if not self._sorted:
            self._waiting.sort(key=_end)
            self._sorted = True

    def _run(self, events: list[Waiting]) -> list[Output]:
        told, place, network = list[Output](), 0, self._in_order
        while place < len(events):
            # Not in the middle of an epoch.
            last = events[min(place + self._portion, len(events)) - 1]
            end = bisect_right(events, last[1][1], place, key=_end)
            for operator, channel in network.run(events[place:end]):
                told += distinct(operator.root, channel)
            told = self._within_bounds(told)
            place = end
            if network.came > _BETWEEN:
                self._portion = max(1, self._portion // 2)
            elif network.came < _BETWEEN // 4:
                self._portion = min(_PORTION, self._portion * 2)
        return told


def _monotone(node: Node) -> bool:
    return isinstance(node, Select | Map | Union | Source) and all(map(_monotone, inputs(node)))


def _end(waiting: Waiting) -> Any:
    return waiting[1][1]
