"""The event stage by itself: queries compiled, events passed as tuples of the needed attributes, so
that nothing is read or parsed while the clock runs.

    python -m benchmarks.events.staged Filter 40000 10000 [--profile] [--without s_cse …]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xscl
from benchmarks.engine import resident
from benchmarks.events.ways import speed
from benchmarks.events.workloads import WORKLOADS, Queries
from xscl.event_queries.compile import Open, compile_events
from xscl.language import parse
from xscl.language.parameters import Prepared
from xscl.pattern_stage.layouts import END
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.values.terms import EVERYTHING, Form, Slot

__all__ = ["Staged"]

SECOND = 1_000_000


class Staged:
    """A stage with texts and rows of parameters, each text one query without PUBLISH."""

    def __init__(
        self,
        queries: Queries,
        without: Iterable[str] = (),
        sharable: Iterable[Iterable[str]] = (),
    ) -> None:
        self.types: dict[str, int] = {}
        classes = [[self.type_of(stream) for stream in sorted(some)] for some in sharable]
        self.stage = EventStage(without, classes)
        number = 0
        for text, rows in queries:
            [query], _ = parse(text)
            opened = Prepared(query).opened(rows[0], rows[0]) if rows else query
            compiled = compile_events(opened, lambda stream: None)
            types = [self.type_of(block.stream.text) for block in compiled.blocks]
            for row in rows:
                constants = [
                    one.make(row[one.name]) if isinstance(one, Open) else one
                    for one in compiled.constants
                ]
                self.stage.add(number, compiled.root, types, constants)
                number += 1

    def type_of(self, stream: str) -> int:
        """The number of a stream's events."""
        return self.types.setdefault(stream, len(self.types))

    def prepare(self, events: Iterable[Mapping[str, Any]]) -> list[tuple[int, tuple[Any, ...]]]:
        """Envelopes as the stage takes them."""
        slots = {stream: self.stage.slots(type_) for stream, type_ in self.types.items()}
        ready = []
        for number, event in enumerate(events):
            stream, values = event["stream"], event["json"]
            time = event["timestamp"] * SECOND
            columns = [_value(slot, values) for slot in slots[stream]]
            ready.append((self.types[stream], (time, time, number, *columns)))
        return ready

    def take(self, events: Sequence[tuple[int, tuple[Any, ...]]]) -> int:
        """The number of reported outputs."""
        self.stage.take(events)
        self.stage.advance(events[-1][1][END])
        return sum(self.stage.counts().values())


def _value(slot: Slot | None, values: Mapping[str, Any]) -> Any:
    if slot is None or slot == EVERYTHING:
        return values
    value = values.get(slot.attribute.steps[0])
    if value is None or slot.form is Form.VALUE:
        return value
    return float(value) if slot.form is Form.NUMBER else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the stage takes a workload.")
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("queries", type=int)
    parser.add_argument("events", type=int)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--profile", choices=["loading", "events"])
    parser.add_argument("--batch", type=int, default=1_000)
    arguments = parser.parse_args()
    queries, events = WORKLOADS[arguments.name]
    loaded, lines = [*queries(arguments.queries)], [*events(arguments.events)]
    sharable = [{f"S{place}" for place in range(1, 11)}] if arguments.name == "W3" else []
    profile = cProfile.Profile()
    before, started = resident(), time.process_time()
    if arguments.profile == "loading":
        profile.enable()
    staged = Staged(loaded, arguments.without, sharable)
    profile.disable()
    loading = time.process_time() - started
    each = (resident() - before) / arguments.queries
    xscl.collect_rarely()
    ready = staged.prepare(lines)
    if arguments.profile == "events":
        profile.enable()
    went = speed(staged.take, ready, 60, arguments.batch)
    profile.disable()
    if arguments.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    print(
        f"{arguments.name}: loaded in {loading:.1f} s, {each:,.0f} bytes a query; "
        f"{went.per_second:,.0f} events/s, {went.outputs:,} outputs; {staged.stage.stats()}"
    )


if __name__ == "__main__":
    main()
