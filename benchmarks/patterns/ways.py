"""The papers' queries as patterns, ways to evaluate them over a generator's events, and their
clock: processor time, without that of making the events."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from benchmarks.measure import Rate
from benchmarks.patterns.streams import Stock, Typed
from benchmarks.scale import QUICK, Scale
from xscl.pattern_stage.layouts import END
from xscl.pattern_stage.pattern import Component, Conjunct, Pattern, Test
from xscl.pattern_stage.processor import PatternStage
from xscl.pattern_stage.values.terms import Attribute, Comparison, Form, Read

__all__ = ["Staged", "Way", "compared", "domains", "order", "sequence", "sized"]

STEPS = 10
"""A window comes in so many steps."""


class Way(Protocol):
    """A way to evaluate a query."""

    def prepare(self, events: Any) -> Any:
        """A step's events as `take` takes them."""

    def take(self, events: Any) -> int:
        """The number of matches that a step's events complete."""


class Staged:
    """A query of the product's pattern stage, over typed events or stocks.

    `output`: matches are counted, or each is put together event by event, or they are found and
    not looked at (then their number is not known: -1).
    """

    def __init__(
        self,
        pattern: Pattern,
        types: Iterable[int],
        constants: Iterable[str | float] = (),
        without: Iterable[str] = (),
        output: Literal["counts", "matches", "none"] = "counts",
    ) -> None:
        self.stage, self.output = PatternStage(without), output
        self.stage.add(0, pattern, [(type_,) for type_ in types], constants)
        self.lengths = 0
        self.runs: list[int] = []
        """How many there are before each step."""

    def prepare(self, events: Iterable[Typed | Stock]) -> list[tuple[int, tuple[Any, ...]]]:
        """The events with their types and the slots that are read of these."""
        self.runs.append(self.stage.stats()["runs"])
        return [self._staged(event) for event in events]

    def _staged(self, event: Typed | Stock) -> tuple[int, tuple[Any, ...]]:
        type_ = event.type if isinstance(event, Typed) else 1
        values = []
        for slot in self.stage.slots(type_):
            value = None
            if slot is not None:
                name = slot.attribute.steps[0]
                value = (
                    event.values[int(name[-1]) - 1]
                    if isinstance(event, Typed)
                    else getattr(event, name)
                )
                value = float(value) if slot.form is Form.NUMBER else str(value)
            values.append(value)
        return type_, (event.tick, event.tick, event.tick, *values)

    def take(self, events: Sequence[tuple[int, tuple[Any, ...]]]) -> int:
        """The number of matches that a step's events complete."""
        stage = self.stage
        stage.take(events)
        stage.advance(events[-1][1][END])
        if self.output == "counts":
            return stage.counts().get(0, 0)
        if self.output == "none":
            stage.groups()
            return -1
        found = stage.found()
        for match in found:
            self.lengths += len(match.events)
        return len(found)


def compared(
    ways: Mapping[str, Way],
    events: Sequence[Any],
    window: int,
    limit: float,
    same_query: bool = True,
) -> dict[str, Rate]:
    """How fast each way processes the events that come after the first window; none begins a step
    after `limit` seconds (one that gets through no window is measured by the latter half of its
    steps).  They take turns, so that all meet the same disturbances, without the collector of
    garbage, which would visit the data of all of them.  A way that finds other matches in a step
    than the others raises AssertionError, if they are ways of one query (`same_query`)."""
    size = max(1, window // STEPS)
    found: dict[str, list[int]] = {name: [] for name in ways}
    each: dict[str, list[float]] = {name: [] for name in ways}
    gc.collect()
    gc.disable()
    try:
        for start in range(0, len(events), size):
            going = {name: way for name, way in ways.items() if sum(each[name]) <= limit}
            for name, way in going.items():
                step = way.prepare(events[start : start + size])
                started = time.process_time()
                found[name].append(way.take(step))
                each[name].append(time.process_time() - started)
            if same_query and len({found[name][-1] for name in going} - {-1}) > 1:
                raise AssertionError(f"{', '.join(going)} find different numbers of matches")
    finally:
        gc.enable()
    return {name: _rate(size, found[name], each[name]) for name in ways}


def _rate(size: int, found: Sequence[int], each: Sequence[float]) -> Rate:
    late = each[STEPS if len(each) > STEPS else len(each) // 2 :]
    return Rate(size * len(late), max(sum(late), 1e-9), tuple(found), tuple(each))


def sequence(length: int, tests: int, window: int, conjuncts: tuple[Conjunct, ...] = ()) -> Pattern:
    """`SEQ(E1, …, EL) WHERE [attr1] ∧ … WITHIN W`."""
    return Pattern(
        tuple(Component(f"e{place + 1}") for place in range(length)),
        conjuncts=conjuncts,
        tests=tuple(Test(attribute(number + 1)) for number in range(tests)),
        within=window,
    )


def attribute(number: int) -> Attribute:
    """`attr1` …"""
    return Attribute((f"attr{number}",))


def order(one: int, other: int, number: int, operator: Any = "<") -> Conjunct:
    """A comparison of an attribute of two components, as numbers."""
    left, right = (Read(place, attribute(number)) for place in (one, other))
    return (Comparison.of(operator, left, right),)


def domains(*sizes: int) -> tuple[int, ...]:
    """The domains of five attributes, of 100 values each where nothing else is said."""
    return (*sizes, *[100] * (5 - len(sizes)))


def sized(scale: Scale, window: int) -> int:
    """A window as in the paper, or of no size at all for a test of the report."""
    return window if scale.items >= QUICK.items else max(20, window // 100)
