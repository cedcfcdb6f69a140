"""Compositions in the stage that an engine has for them, without what queries share."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from time import process_time
from typing import Any

from benchmarks.compositions.workload import RATES, SECOND, Query, arrivals
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.lowering import lowered
from xscl.pattern_stage.compositions.operators import cost, operators
from xscl.pattern_stage.compositions.plan import Plan
from xscl.pattern_stage.compositions.planned import Composition
from xscl.pattern_stage.compositions.rules import SWITCHES, rewritten
from xscl.pattern_stage.layouts import NUMBER
from xscl.pattern_stage.plan import rules
from xscl.pattern_stage.plan.composites import CompositeStage
from xscl.pattern_stage.plan.kinds.states import StateOperator
from xscl.pattern_stage.plan.stage import EventStage

__all__ = ["Batch", "Planned", "batches", "cpu", "digest", "planned", "work_of"]

UNSHARED = frozenset(rule.name for rule in rules.RULES)

Batch = tuple[list[tuple[int, tuple[Any, ...]]], int]
"""The events of a step with their types, and the watermark after it."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan to be run, with its streams and what it costs by the model."""

    plan: Plan
    streams: tuple[int, ...]
    cost: float


def planned(query: Query, *, rewriting: bool, rates: Rates = RATES) -> Planned:
    """A query as it was drawn, or by all rules."""
    made = rewritten(query.plan, rates, without=() if rewriting else SWITCHES)
    return Planned(made.plan, query.streams, cost(operators(made.root)))


def batches(events: Iterable[tuple[int, int]], each: float = 0.5) -> list[Batch]:
    """Events in steps of so many seconds of stream."""
    made = list[Batch]()
    step, end = list[tuple[int, tuple[Any, ...]]](), round(each * SECOND)
    for number, (stream, time) in enumerate(events):
        while time >= end:
            made.append((step, end))
            step, end = [], end + round(each * SECOND)
        step.append((stream, (time, time, number)))
    made.append((step, end))
    return made


def cpu(
    plans: Sequence[Planned], steps: Sequence[Batch], warm: int, *, shared: bool = False
) -> float:
    """The processor time of the queries for the steps after the first `warm` ones."""
    stage = EventStage(() if shared else UNSHARED)
    for number, one in enumerate(plans):
        low = lowered(one.plan, ())
        stage.add(number, low.root, one.streams, low.constants)
    # What is there already is not to be looked through again and again.
    gc.collect()
    gc.freeze()
    started = 0.0
    for place, (events, watermark) in enumerate(steps):
        if place == warm:
            started = process_time()
        stage.take(events)
        stage.advance(watermark)
        stage.counts()
    taken = process_time() - started
    gc.unfreeze()
    return taken


def digest(plans: Sequence[Planned], steps: Sequence[Batch]) -> str:
    """Of all matches of all queries: which events they have."""
    stage = CompositeStage(lambda layout: EventStage(UNSHARED, layout=layout), without=SWITCHES)
    for number, one in enumerate(plans):
        stage.add_plan(number, Composition(one.plan, ()), one.streams)
    matches = list[tuple[object, ...]]()
    for events, watermark in steps:
        stage.take(events)
        stage.advance(watermark)
        matches += (
            (one.number, *((place, event[NUMBER]) for place, event in one.events))
            for one in stage.found()
        )
    return sha256(repr(sorted(matches)).encode()).hexdigest()


@dataclass(slots=True)
class Work:
    """What a `;` does: the events that it makes, and the instances that events touch in it."""

    made: float = 0.0
    touched: float = 0.0


def work_of(
    plan: Plan, streams: tuple[int, ...], seconds: float = 20, warm: float = 10
) -> list[Work]:
    """What the `;` of a plan do in a second, in the order of `operators`, in a run."""
    low = lowered(plan, ())
    stage = EventStage(UNSHARED)
    stage.add(0, low.root, streams, low.constants)
    every = [_counted(one) for one in stage._in_order.operators if isinstance(one, StateOperator)]
    for events, watermark in stream_of(warm + seconds):
        stage.take(events)
        stage.advance(watermark)
        stage.counts()
        if watermark == warm * SECOND:
            for work in every:
                work.made = work.touched = 0.0
    return [Work(work.made / seconds, work.touched / seconds) for work in every]


def _counted(operator: StateOperator) -> Work:
    """Counts what an operator does from now on."""
    work, meet = Work(), operator._meeting.meet

    def counting(event: Any, instances: Any, constants: Any, found: Any, pending: Any) -> Any:
        work.touched += len(instances)
        before = len(found)
        kept = meet(event, instances, constants, found, pending)
        work.made += len(found) - before
        return kept

    setattr(operator._meeting, "meet", counting)  # noqa: B010
    return work


@cache
def stream_of(seconds: float) -> list[Batch]:
    """A stream in steps."""
    return batches(arrivals(seconds))
