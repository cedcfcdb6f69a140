"""Event queries whose outputs are reported as soon as the events so far have them, and taken back
where a late event or a retraction takes them away: a network with one tail."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

from xscl.pattern_stage.algebra.nodes import Node
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.layouts import END, Layouts, TypedEvent
from xscl.pattern_stage.plan.memberships import Membership
from xscl.pattern_stage.plan.outputs import Output, Outputs, Root
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.revising.patterns import Clock
from xscl.pattern_stage.revising.tails import (
    COPIED,
    NEVER,
    ROUND,
    Changes,
    Tail,
    Window,
    horizon_of,
    unbounded,
)

__all__ = ["RevisingPlans"]


class _PlanTail(Tail[Output]):
    """The tail of a stage: what is found are outputs of one member each."""

    __slots__ = ("outputs", "stage")

    def __init__(self, stage: RevisingPlans) -> None:
        super().__init__(Changes[Output](), stage.most, forks=True)
        self.stage = stage
        self.outputs: list[Output] = []

    def _save(self) -> Any:
        self.cost = self.stage.size() // COPIED
        return self.stage.saved()

    def _load(self, saved: Any) -> None:
        self.stage.load(saved)

    def _take(self, events: list[TypedEvent]) -> None:
        self.outputs += self.stage.run(events)

    def _gather(self) -> None:
        """Each run counts alone."""

    def _found(self, horizon: int | None) -> dict[Hashable, Output]:
        outputs, self.outputs = self.outputs, []
        return {
            (root, member, root.key(event), event[END]): (root, event, (member,))
            for root, event, members in outputs
            for member in members
        }

    def _settle(self, mark: int) -> dict[Hashable, Output]:
        self.stage.evict(mark)
        return self._found(mark)

    def _behind(self, mark: int) -> int:
        # An epoch is processed as a whole.
        return bisect_left(self.events, mark, key=_end)

    def _end(self, one: Output) -> int:
        return one[1][END]  # type: ignore[no-any-return]


class RevisingPlans(EventStage):
    """Event queries under `middle`; `window` and `clock` are as in `RevisingStage`."""

    def __init__(
        self,
        without: Iterable[str] = (),
        sharable: Mapping[int, int] | Iterable[Iterable[int]] = (),
        most: int = MOST,
        *,
        window: Window = unbounded,
        clock: Clock = lambda types: None,
        layout: Layouts | None = None,
    ) -> None:
        super().__init__(without, sharable, most, layout)
        self._window, self._clock = window, clock
        self._tail = _PlanTail(self)
        self._types: dict[int, tuple[int, ...]] = {}

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
        in_order: bool = True,
    ) -> None:
        """As of other stages; events are always processed in order."""
        self._tail.process_again()
        of = self._types[number] = tuple(types)
        super().add(number, root, of, constants, since, feeds=feeds, reports=reports, in_order=True)

    def remove(self, number: int) -> None:
        """Removes a query."""
        tail, of = self._tail, self.root(number)
        tail.process_again()
        super().remove(number)
        del self._types[number]
        tail.standing = {
            key: (root, event, members)
            for key, (root, event, members) in tail.standing.items()
            if root is not of or root.interested(next(iter(members)))
        }
        tail.flushed &= tail.standing.keys()

    def drop_missed(self, watermark: int) -> None:
        """As of other stages, as far as no event is processed again."""
        events = self._tail.events
        super().drop_missed(min(watermark, events[0][1][END]) if events else watermark)

    # Steps

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Takes the events of a step with their types, in any order, none before the watermark."""
        reads = self._in_order.reads
        for coming in sorted(events, key=_end):
            if coming[0] in reads:
                self._tail.add(coming)

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`."""
        self._tail.withdraw(first, end, time)

    def advance(self, watermark: int | None) -> None:
        """A step ends: no event that ends before `watermark` will come any more."""
        if watermark is not None and (self._watermark is None or watermark > self._watermark):
            self._watermark = watermark
        self._steps += 1
        tail, mark = self._tail, self._watermark
        clock = self._clock({one for of in self._types.values() for one in of})
        horizon = horizon_of(mark, clock, self._window(), forks=True)
        follow = self._steps % ROUND == 0
        if horizon is not None and (tail.events or tail.again or tail.standing or follow):
            tail.process(horizon, mark, follow=follow)
        elif tail.flushed:
            tail.process(NEVER, mark)

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        self.advance(self._watermark)
        self._tail.flush()

    def read(self) -> Outputs:
        """The outputs reported since the last call, and those that are no more."""
        self._outputs += self._tail.changes.new()
        return super().read().with_gone(self._not_stopped(self._tail.changes.gone()))

    def stats(self) -> Mapping[str, int]:
        """Counts of the state."""
        return {**super().stats(), "waiting": len(self._tail.events)}

    def state(self, group: Callable[[int], Hashable] | None = None) -> dict[str, Any]:
        """As of other stages; the events are those from the watermark on."""
        if self._watermark is not None:
            self._tail.follow(self._watermark)
        self._tail.process_again()
        return super().state(group)

    def restore(
        self,
        state: Mapping[str, Any],
        number_of: Callable[[int], int | None] = lambda number: number,
    ) -> None:
        """As of other stages, to the base."""
        self._tail.process_again()
        super().restore(state, number_of)

    # For the tail

    def run(self, events: list[TypedEvent]) -> list[Output]:
        """The outputs of events, which are in order, from the state as it is."""
        return self._run(events)

    def saved(self) -> Any:
        """The state of all m-ops, independent of later changes."""
        return [(one.retained, one.retained.snapshot()) for one in self._in_order.operators]

    def load(self, saved: Any) -> None:
        """Restores it; it must not be used again."""
        for retained, snapshot in saved:
            retained.restore(snapshot)

    def size(self) -> int:
        """The number of instances, and of events of buffers, of all m-ops."""
        return sum(one.retained.size() for one in self._in_order.operators)

    def evict(self, watermark: int) -> None:
        """Evicts what no event from the watermark on can meet."""
        self._in_order.evict(watermark)

    # Inside

    def _early(self) -> tuple[None, Iterable[tuple[Root, object, Membership]]]:
        keys = [cast("tuple[Root, int, object, int]", one) for one in self._tail.flushed]
        return None, [(root, key, (member,)) for root, member, key, _ in keys]

    def _report_early(self, outputs: list[Output]) -> None:
        for root, event, (member,) in outputs:
            key = root, member, root.key(event), event[END]
            self._tail.standing[key] = root, event, (member,)
            self._tail.flushed.add(key)

    def _pending(self) -> list[Output]:
        """The outputs that `flush` would report."""
        return [*self._tail.more().values()]


def _end(coming: TypedEvent) -> Any:
    return coming[1][END]
