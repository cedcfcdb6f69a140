"""Event queries and joins over the same documents."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.events.ways import Speed, counted, lines_of, sized
from benchmarks.events.workloads import Queries
from benchmarks.report import Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import rumor_benchmark, rumor_events

JOIN = "S/*[a0 = :first][./a2->a] FOLLOWED BY {a = b, 100 s} T/*[./a2->b]"


def run(scale: Scale) -> Report:
    lines = lines_of(rumor_events(sized(scale, 60_000, 9_000, 60)))
    many = sized(scale, 1_000, 1_000, 20)
    patterns = [*rumor_benchmark(1, many)]
    joins = [(JOIN, [{"first": str(value)} for value in range(many)])]
    rates = {
        name: of(queries, lines, scale)
        for name, queries in {
            "event queries": patterns,
            "joins": joins,
            "both": [*patterns, *joins],
        }.items()
    }
    separate = 1 / sum(1 / rates[name].per_second for name in ("event queries", "joins"))
    together = rates["both"].per_second / separate
    return Report(
        "event_joins",
        "Event queries beside joins",
        f"{many:,} queries of RUMOR's workload 1 and {many:,} joins (`{JOIN}`) over the same "
        f"{len(lines):,} documents: each alone, and both in one engine. From lines of JSON to "
        "numbers of outputs, processor time, the first sixth not timed.",
        (
            Table(
                ("", "events/s", "outputs an event"),
                tuple((name, way.per_second, way.outputs_per_event) for name, way in rates.items()),
            ),
        ),
        (),
        (
            Statement(
                "goal, chapter 5",
                "event queries and joins together: at least 0.8 of (1/a + 1/b)^-1",
                together >= 0.8,
                f"{number(together)}, {many:,} of each",
            ),
        ),
    )


def of(queries: Queries, lines: Sequence[str], scale: Scale) -> Speed:
    return counted(queries, lines, scale.limit)
