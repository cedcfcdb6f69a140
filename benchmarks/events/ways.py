"""The clock of event queries: an engine with queries, lines of JSON text in, numbers of outputs
out, in processor time.

The stream goes through in six parts: the first warms up, of the five others the median counts.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, TypeVar

import xscl
from benchmarks.events.workloads import Queries
from benchmarks.scale import QUICK, Scale
from xscl.pattern_stage.plan.rules import SWITCHES
from xscl.xpath_stage import read_exactly

__all__ = [
    "ALL_OFF",
    "CHANNELS",
    "Speed",
    "agreeing",
    "counted",
    "engine_with",
    "fastest",
    "lines_of",
    "normalised",
    "published",
    "rounds",
    "rounds_text",
    "sized",
    "speed",
    "stats_of",
]

T = TypeVar("T")

PARTS = 6
BATCH = 1_000

CHANNELS = tuple(sorted(name for name in SWITCHES if name.startswith("c_")))
ALL_OFF = tuple(sorted(SWITCHES))
"""No MQO: normal form, and operators of one query each."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Events a second of processor time, how many outputs there were by how many events (from the
    first on), the seconds that loading took, and what was asked of the engine at the end."""

    per_second: float
    found: dict[int, int]
    loading: float = 0
    after: Mapping[str, int] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        """The outputs of all that was taken."""
        return max(self.found.values(), default=0)

    @property
    def outputs_per_event(self) -> float:
        """The outputs of all that was taken, by its events."""
        return self.outputs / max(self.found, default=1)


def sized(scale: Scale, full: int, quick: int, tiny: int) -> int:
    """A size of the thesis, a reduced one, or one that shows nothing but that the report works."""
    if scale.full:
        return full
    return quick if scale.items >= QUICK.items else tiny


def lines_of(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Events as lines of JSON text."""
    return [json.dumps(event) for event in events]


def engine_with(queries: Queries, **options: Any) -> xscl.Engine:
    """An engine with texts and rows of parameters subscribed."""
    engine = xscl.Engine(lateness=0, **options)
    for text, rows in queries:
        if list(rows) == [{}]:
            engine.subscribe(text)
        else:
            engine.subscribe_many(text, rows)
    xscl.collect_rarely()
    return engine


def published(engine: xscl.Engine, lines: Sequence[str]) -> int:
    """Publishes lines, read as those of a file are, as one batch; the number of reported
    outputs."""
    envelopes = [read_exactly(line.encode()) for line in lines]
    return engine.publish_many(envelopes, grouped=True).total


def counted(
    queries: Queries,
    lines: Sequence[str],
    limit: float,
    *,
    batch: int = BATCH,
    after: Callable[[xscl.Engine], Mapping[str, int]] = lambda engine: {},
    **options: Any,
) -> Speed:
    """How fast an engine with these queries takes the lines, so many at a time."""
    started = time.process_time()
    with engine_with(queries, **options) as engine:
        loading = time.process_time() - started
        went = speed(lambda part: published(engine, part), lines, limit, batch)
        return replace(went, loading=loading, after=after(engine))


def stats_of(engine: xscl.Engine) -> Mapping[str, int]:
    """What the engine counts of event queries."""
    stats: Any = engine.stats()["event_queries"]
    return dict(stats)


def speed(
    take: Callable[[Sequence[Any]], int],
    events: Sequence[Any],
    limit: float,
    batch: int = BATCH,
) -> Speed:
    """How fast events are taken, in batches; none begins when `limit` seconds have been taken, but
    for the first one after the warm part."""
    part = max(1, len(events) // PARTS)
    batch = min(batch, part)
    found: dict[int, int] = {}
    taken: list[list[tuple[int, float]]] = [[] for _ in range(PARTS)]
    spent, done = 0.0, 0
    gc.collect()
    while done < len(events) and (spent <= limit or not taken[1]):
        some = events[done : done + batch]
        started = time.process_time()
        outputs = take(some)
        seconds = time.process_time() - started
        taken[min(PARTS - 1, done // part)].append((len(some), seconds))
        spent, done = spent + seconds, done + len(some)
        found[done] = outputs + max(found.values(), default=0)
        if spent > limit and done < part:
            # So slow that the warm part takes all the time: the last measurement must do.
            taken[1] = taken[0][len(taken[0]) // 2 :]
            break
    rates = [
        sum(count for count, _ in some) / max(1e-9, sum(seconds for _, seconds in some))
        for some in taken[1:]
        if some
    ]
    return Speed(median(rates), found)


def fastest(rounds: int, measure: Callable[[], T]) -> T:
    """Of several rounds, each of which has a speed for each cell of a figure (in dictionaries and
    tuples of these), the best one for each: a machine that is slow for a while must not decide
    between two cells."""
    found = measure()
    for _ in range(rounds - 1):
        found = _faster(found, measure())
    return found


def rounds(scale: Scale) -> int:
    """How many rounds `fastest` makes of a figure: one at a size that shows nothing of speed."""
    return min(scale.rounds, sized(scale, 3, 3, 1))


def rounds_text(scale: Scale) -> str:
    """For the text of a figure: what `fastest` takes."""
    return (
        f"A cell takes at most {scale.limit:g} s, and is the best of {rounds(scale)} rounds "
        "through all of them."
    )


def _faster(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(map(_faster, one, other))
    if isinstance(one, dict):
        return {key: _faster(value, other[key]) for key, value in one.items()}
    return max(one, other, key=lambda speed: speed.per_second)


def agreeing(ways: Mapping[str, Speed]) -> None:
    """Raises AssertionError unless all ways found as much, wherever two have counted."""
    found: dict[int, tuple[str, int]] = {}
    for name, way in ways.items():
        for done, outputs in way.found.items():
            other, expected = found.setdefault(done, (name, outputs))
            if outputs != expected:
                raise AssertionError(
                    f"after {done:,} events {name} and {other} find different numbers of matches: "
                    f"{outputs:,} and {expected:,}"
                )


def normalised(line: Mapping[float, Speed]) -> dict[float, float]:
    """Normalised throughput (section 5.5.2): speeds relative to that of the lightest load, the
    first."""
    lightest = next(iter(line.values())).per_second
    return {load: one.per_second / lightest for load, one in line.items()}
