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
    together = rates["both"].per_second
    return Report(
        "event_joins",
        "Event queries and joins in one engine",
        f"{many:,} queries of RUMOR's workload 1 (figure 5.8) and {many:,} joins (`{JOIN}`) over "
        f"the same {len(lines):,} documents: each kind in an engine of its own, and both in one. "
        "If one engine shared nothing between the kinds, an event would take the sum of what it "
        "takes in the two.",
        (
            Table(
                ("queries", "events/s", "outputs an event"),
                tuple((name, way.per_second, way.outputs_per_event) for name, way in rates.items()),
            ),
        ),
        (),
        (
            Statement(
                "goal, chapter 5",
                "both in one engine have at least 0.8 of the events/s of the two engines one after "
                "the other, (1/a + 1/b)^-1",
                together >= 0.8 * separate,
                f"{number(together / separate)}: {number(together)} and {number(separate)}",
            ),
        ),
    )


def of(queries: Queries, lines: Sequence[str], scale: Scale) -> Speed:
    return counted(queries, lines, scale.limit)
