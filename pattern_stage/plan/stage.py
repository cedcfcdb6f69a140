"""Event queries over events: the events of a step in, the reports to queries out.

Outputs of monotone queries (selections, lists and unions only) are reported immediately; all others
in order of time, once the watermark is above.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.algebra.nodes import Map, Node, Renamed, Select, Source, Union, Variable
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.layouts import END, NUMBER, Layouts, TypedEvent
from xscl.pattern_stage.plan.memberships import Membership, exceeding, first_of
from xscl.pattern_stage.plan.network import Network, Template
from xscl.pattern_stage.plan.operators import Context, Operator
from xscl.pattern_stage.plan.outputs import EventFound, Output, Outputs, Root, distinct
from xscl.pattern_stage.plan.queries import Queries
from xscl.pattern_stage.plan.reported import Reported
from xscl.pattern_stage.plan.rules import SWITCHES
from xscl.pattern_stage.plan.saved import name_of, operators_of, restore, state_of
from xscl.pattern_stage.values.terms import Slot

__all__ = ["EventStage", "is_monotone"]

_SPARE = 64
"""The maximal number of templates of removed queries."""

_PORTION = 1024
"""The maximal number of events that m-ops process together."""

_BETWEEN = 65_536
"""The portions are smaller where they make more intermediate events, which are in memory
meanwhile."""

_MOST_NAMED = 4096
"""The maximal number of outputs that are named, as what names them is written again and again."""

_ROUND = 64
"""After so many steps all m-ops evict what is too old, not only those that have much."""


class EventStage:
    """The event queries of one engine.

    `without` names rules and indexes that are switched off (other names are ignored); `sharable`
    are sets of types whose equal events of one step are one channel tuple (a mapping from type to
    the first of its set may grow while queries come).  Stages that take the same events have one
    `layout`.
    """

    def __init__(
        self,
        without: Iterable[str] = (),
        sharable: Mapping[int, int] | Iterable[Iterable[int]] = (),
        most: int = MOST,
        layout: Layouts | None = None,
    ) -> None:
        off = SWITCHES & frozenset(without)
        self._classes: Mapping[int, int]
        if isinstance(sharable, Mapping):
            self._classes = sharable
        else:
            sets = [sorted(one) for one in sharable]
            self._classes = {type_: one[0] for one in sets for type_ in one}
        self._layout = Layouts() if layout is None else layout
        context = self._context = Context(self._layout, off, most=most)
        self._immediate, self._in_order = (Network(context, self._classes) for _ in range(2))
        self._templates: dict[object, tuple[Node, Network, Template]] = {}
        self._queries = Queries()
        self._roots: dict[int, Root] = {}
        self._free: list[int] = []
        """Places of removed roots."""
        self._steps = self._output_count = 0
        self._portion = max(1, _PORTION // 16)
        self._buffered: list[TypedEvent] = []
        self._sorted = True
        self._watermark: int | None = None
        self._outputs: list[Output] = []
        self._reported = Reported()
        self._named: tuple[int | None, dict[int, list[str]] | None] | None = None
        self._stopped: dict[int, str] = {}
        self._most_reported = most

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
        reports: bool = True,
        in_order: bool = False,
    ) -> None:
        """Adds a query: the type of each source, and its constants.  It sees events with a number
        not below `since`, may be `feeds`, and its outputs are reported (`reports`) unless it only
        publishes.  It processes events `in_order` where these may be withdrawn."""
        if number in self._queries:
            raise ValueError(f"query {number} is there already")
        of = tuple(types)
        place = id(root), of, in_order
        known = self._templates.get(place)
        if known is None:
            network = self._immediate if is_monotone(root) and not in_order else self._in_order
            known = self._templates[place] = root, network, network.template(root, of)
        _, network, template = known
        operator, member = network.add(template, constants, since)
        of_root = operator.root
        if of_root is None:
            of_root = operator.root = Root(operator, network, self._layout)
            of_root.place = self._free.pop() if self._free else len(self._roots)
            self._roots[of_root.place] = of_root
        of_root.add(member, number, feeds=feeds, reports=reports)
        self._named = None
        self._queries.add(number, of_root.place, member)

    def remove(self, number: int) -> None:
        """Removes a query; its outputs have been read."""
        if self._outputs:
            raise ValueError("queries may change only when all that was reported has been read")
        place, member = self._queries.pop(number)
        self._stopped.pop(number, None)
        root = self._roots[place]
        root.remove(member, number)
        self._named = None
        if not root.of(member) and member not in root.feeds:
            self._reported.remove(root, member)
        root.network.remove(root.operator, member)
        if not len(root.operator.members):
            del self._roots[place]
            self._free.append(place)
        if len(self._templates) > 2 * len(self._roots) + _SPARE:
            self._templates.clear()
            self._immediate.trim()
            self._in_order.trim()

    @property
    def version(self) -> int:
        """Grows whenever slots, or the needed attributes of events, may have changed."""
        return self._layout.version

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events."""
        return self._layout.slots(self._classes.get(type_, type_))

    def reach(self, type_: int) -> int:
        """For how many microseconds bodies are needed: never."""
        return 0

    def root(self, number: int) -> Root:
        """The root of a query's outputs."""
        return self._roots[self._queries[number][0]]

    def miss(self, since: int, events: Mapping[int, int]) -> None:
        """Some events are not seen by queries that see events from number `since` on, by number
        with their ends: their attributes were read before it was known which ones these queries
        need."""
        if events:
            self._context.missed.setdefault(since, {}).update(events)

    @property
    def missed(self) -> Mapping[int, Mapping[int, int]]:
        """By `since` the arguments of `miss`."""
        return self._context.missed

    def drop_missed(self, watermark: int) -> None:
        """Drops the missed events that end before a time: none of them will be processed again."""
        missed = self._context.missed
        for since, events in [*missed.items()]:
            missed[since] = left = {one: end for one, end in events.items() if end >= watermark}
            if not left:
                del missed[since]

    @property
    def is_empty(self) -> bool:
        """Whether it has no queries."""
        return not len(self._queries)

    # Bounds

    @property
    def most(self) -> int:
        """The maximal number of a query's outputs in a step, and of its instances."""
        return self._context.most

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

    def _within_bounds(self, outputs: list[Output]) -> list[Output]:
        """Outputs of a step so far, without those of queries that have too many."""
        most = self._context.most
        if len(outputs) <= self._most_reported:
            return outputs
        by = dict[Root, list[Membership]]()
        for root, _, members in outputs:
            by.setdefault(root, []).append(members)
        why = f"more than {most:,} outputs in one step"
        for root, some in by.items():
            for member in exceeding(map(first_of, some), most):
                self._stopped |= dict.fromkeys(root.interested(member), why)
        left = self._not_stopped(outputs)
        self._most_reported = len(left) + most
        return left

    def _not_stopped(self, outputs: list[Output]) -> list[Output]:
        """Outputs without those that only stopped queries have."""
        stopped = self.stopped.keys()
        if not stopped:
            return outputs
        left = list[Output]()
        for root, event, members in outputs:
            here = tuple([one for one in members if not root.interested(one) <= stopped])
            if here:
                left.append((root, event, members if len(here) == len(members) else here))
        return left

    # Steps

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Processes the events of a step with their types, in any order, none before the
        watermark."""
        now, buffered = dict[int, list[TypedEvent]](), self._buffered
        immediate, in_order = self._immediate.reads, self._in_order.reads
        latest = buffered[-1][1][END] if buffered else -1
        for coming in events:
            type_, event = coming
            if type_ in immediate:
                now.setdefault(type_, []).append(coming)
            if type_ in in_order:
                if event[END] < latest:
                    self._sorted = False
                latest = event[END]
                buffered.append(coming)
        self._reported.begin()
        # Type by type: a reported document has its own number, sharable or not.
        for some in now.values():
            some.sort(key=_end)
            for operator, channel in self._immediate.run(some):
                self._outputs += self._reported.unknown(operator.root, channel)
        self._outputs = self._within_bounds(self._outputs)

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`, none of which
        the watermark has reached."""
        self._sort()
        start = bisect_left(self._buffered, time, key=_end)
        stop = bisect_right(self._buffered, time, start, key=_end)
        some = self._buffered[start:stop]
        left = [one for one in some if not first <= one[1][NUMBER] < end]
        self._buffered[start:stop] = left

    def advance(self, watermark: int | None) -> None:
        """No event that ends before `watermark` will come any more (None: nothing is known)."""
        if watermark is None or (self._watermark is not None and watermark < self._watermark):
            return
        self._watermark = watermark
        self._sort()
        due = bisect_left(self._buffered, watermark, key=_end)
        if due:
            ready = self._buffered[:due]
            del self._buffered[:due]
            outputs = self._run(ready)
            self._outputs += self._reported.not_early(outputs)
        self._reported.drop(watermark)
        self._steps += 1
        if self._steps % _ROUND == 0:
            self._in_order.evict(watermark)

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        outputs = self._reported.not_early(self._pending())
        self._outputs += outputs
        self._reported.flushed += outputs

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many outputs `flush` would report to each query now, and when the last of them ends;
        nothing changes."""
        outputs = self.unreported()
        latest = outputs.latest()
        return {number: (many, latest[number]) for number, many in outputs.counts().items()}

    def unreported(self) -> Outputs:
        """What `flush` would report now; nothing changes."""
        return Outputs(self._reported.not_early(self._pending(), reported_now=False))

    def _pending(self) -> list[Output]:
        """The outputs that would be reported if no further event came, including those reported
        before their time."""
        if not self._buffered:
            return []
        self._sort()
        every = [one.retained for one in self._in_order.operators]
        snapshots = [(one, one.snapshot()) for one in every]
        try:
            return self._run(self._buffered)
        finally:
            for one, snapshot in snapshots:
                one.restore(snapshot)

    def read(self) -> Outputs:
        """The outputs reported since the last call."""
        outputs, self._outputs = self._not_stopped(self._outputs), []
        self._most_reported = self._context.most
        self._output_count += len(outputs)
        return Outputs(outputs)

    def found(self) -> list[EventFound]:
        """The outputs one by one."""
        return self.read().found()

    def counts(self) -> dict[int, int]:
        """How many outputs were reported to each query since the last call."""
        return self.read().counts()

    def stats(self) -> Mapping[str, int]:
        """Counts of the state, without what no event can meet any more."""
        if self._watermark is not None:
            self._in_order.evict(self._watermark)
        every = [*self._immediate.operators, *self._in_order.operators]
        return {
            "queries": len(self._queries),
            "m-ops": len(every),
            "members": sum(len(one.members) for one in every),
            "states": sum(len(one.members) for one in every if len(one.inputs) == 2),
            "active": sum(one.retained.states() for one in every),
            "instances": sum(one.retained.size() for one in every),
            "touched": sum(one.touched for one in every),
            "outputs": self._output_count,
            "waiting": len(self._buffered),
        }

    # Between runs

    def state(self, group: Callable[[int], Hashable] | None = None) -> dict[str, Any]:
        """The state beyond the events that end at or after the watermark, as plain data (JSON):
        instances and buffers; `group` is that of a query, where these are about to part."""
        operators = [one for one in self._in_order.operators if one.inputs]
        return {"operators": state_of(operators, self._all, self._layout, group)}

    def restore(
        self,
        state: Mapping[str, Any],
        number_of: Callable[[int], int | None] = lambda number: number,
    ) -> None:
        """Restores the state, as far as its queries exist here; `number_of` maps a former query
        number to the current one."""

        def root_of(number: int) -> tuple[Operator, int] | None:
            now = number_of(number)
            return None if now is None else self._root_of(now)

        restore(state["operators"], root_of, self._layout)

    def early(self) -> dict[int, list[str]] | None:
        """By query the names of the outputs that `flush` has reported before their time, as far as
        the watermark has not passed them; None where these are very many."""
        version, outputs = self._early()
        known = self._named
        if known is None or version is None or known[0] != version:
            known = self._named = version, _names(outputs)
        return known[1]

    def report_early(self, early: Mapping[int, Collection[str] | None]) -> None:
        """Of what `flush` would report now to some queries that of these names was reported (None:
        all)."""
        if not early:
            return
        known = {number: names and {*names} for number, names in early.items()}

        def is_known(member: int) -> bool:
            some = [known[one] for one in root.interested(member) if one in known]
            return any(names is None or name in names for names in some)

        found = list[Output]()
        for root, event, members in self._pending():
            name = name_of(root.key(event))
            found += [(root, event, (one,)) for one in members if is_known(one)]
        self._report_early(found)

    # Inside

    def _early(self) -> tuple[int | None, Iterable[tuple[Root, object, Membership]]]:
        """What `early` names, by key; of the same number (None: not known) it is the same."""
        return self._reported.early()

    def _report_early(self, outputs: list[Output]) -> None:
        self._reported.report_early(outputs)

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
            self._buffered.sort(key=_end)
            self._sorted = True

    def _run(self, events: list[TypedEvent]) -> list[Output]:
        outputs, place, network = list[Output](), 0, self._in_order
        while place < len(events):
            # Not in the middle of an epoch.
            last = events[min(place + self._portion, len(events)) - 1]
            end = bisect_right(events, last[1][END], place, key=_end)
            for operator, channel in network.run(events[place:end]):
                outputs += distinct(operator.root, channel)
            outputs = self._within_bounds(outputs)
            place = end
            if network.came > _BETWEEN:
                self._portion = max(1, self._portion // 2)
            elif network.came < _BETWEEN // 4:
                self._portion = min(_PORTION, self._portion * 2)
        return outputs


def _names(outputs: Iterable[tuple[Root, object, Membership]]) -> dict[int, list[str]] | None:
    """The names of outputs by query; None where these are very many."""
    many, early = 0, dict[int, list[str]]()
    for root, key, members in outputs:
        many += max(1, root.size(members))
        if many > _MOST_NAMED:
            return None
        name = name_of(key)
        for number in {one for member in members for one in root.interested(member)}:
            early.setdefault(number, []).append(name)
    return early


def is_monotone(node: Node) -> bool:
    """Whether each event of a node is made of one of a source."""
    kinds = Select | Map | Union | Source | Variable | Renamed
    return isinstance(node, kinds) and all(map(is_monotone, node.inputs))


def _end(pending: TypedEvent) -> Any:
    return pending[1][END]
