"""Joins on Spark compared with the embedded engine: a backfill as it grows, a stream, and a hot
string."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.measure import agree
from benchmarks.peers.cells import cost
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from benchmarks.spark.inputs import SHARED, shared_strings, write
from benchmarks.spark.ways import Batch, Joined, read
from benchmarks.users.turns import HERE
from datasets import feed_stream, random_queries

NAME = "spark_joins"
LIMIT = 1_800
"""Seconds that one process may take."""
STEPS = {True: (1 / 25, 1 / 5, 1), False: (1 / 4, 1)}
"""Parts of the items of a scale, by whether it is the full one: the backfill is 1."""
DAYS = 153
STREAMED = 4 / 3
STREAM_QUERIES = 1_000
FILE = {True: 2_500, False: 375}
"""Documents of a file; two are a batch of a stream."""
SHARING = 100_000
STARTING = 2
"""Batches that a stream takes to start."""
KEPT = 1.25
"""Times the middle third's state at most that the last third's may have: what a portion more or
less makes."""

EMBEDDED, HALVES = ("embedded", "1"), ("embedded", "2")
ONE, TWO = ("batch", "local[1]"), ("batch", "local[2]")
STREAM = ("stream", "local[2]")
Way = tuple[str, str]


@dataclass(slots=True)
class Measured:
    """What each way took over so many documents, or why it took nothing."""

    documents: int
    ways: dict[Way, Joined | str] = field(default_factory=dict)

    def of(self, way: Way) -> Joined | None:
        """What a way took, where it came to its end."""
        joined = self.ways.get(way)
        return joined if isinstance(joined, Joined) else None

    def times(self, way: Way, other: Way) -> float | None:
        """How many times as long as the other a way took, without the start."""
        one, two = self.of(way), self.of(other)
        return one.seconds / two.seconds if one and two else None

    def found(self) -> Joined | None:
        """What the first way that came to its end found."""
        return next((one for one in self.ways.values() if isinstance(one, Joined)), None)


def run(scale: Scale) -> Report:
    full = scale.full
    size = FILE[full]
    backfill = random_queries(scale.many)
    grown = []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for number_, part in enumerate(STEPS[full]):
            folder = write(root / f"grown{number_}", items(scale, part), backfill, size)
            several = [EMBEDDED, HALVES, ONE, TWO]
            grown.append(measured(folder, int(scale.items * part), several))
        few = random_queries(min(STREAM_QUERIES, scale.many))
        folder = write(root / "stream", items(scale, STREAMED), few, size)
        stream = measured(folder, int(scale.items * STREAMED), [EMBEDDED, STREAM])
        sharing = min(SHARING, scale.items)
        hot, even = (
            measured(
                write(root / name, shared_strings(sharing, name == "hot"), SHARED, size),
                sharing,
                [EMBEDDED, TWO],
            )
            for name in ("hot", "even")
        )
    return report(scale, grown, stream, hot, even)


def items(scale: Scale, part: float) -> list[dict[str, object]]:
    """The first items of the stream, or a longer stream that is as dense."""
    days = max(1, int(DAYS * max(1, part)))
    stream = feed_stream(int(scale.items * max(1, part)), days=days)
    return list(stream)[: int(scale.items * part)]


def measured(
    folder: Path,
    documents: int,
    ways: Sequence[Way],
    module: str = "benchmarks.spark.ways",
    apart: Way = HALVES,
) -> Measured:
    """Each way of a module in a process of its own; AssertionError if two found something
    different, but for the one that may."""
    result = Measured(documents)
    for way in ways:
        command = [sys.executable, "-P", "-m", module, way[0], str(folder), way[1]]
        print(f"{module}: {documents:,} documents, {' '.join(way)}: ", end="", flush=True)
        run = cost(command, LIMIT, {"PYTHONPATH": str(HERE)})
        result.ways[way] = run.failed or read(run.printed)
        joined = result.of(way)
        print(
            f"{joined.matches:,} matches in {joined.start:.1f} s and {joined.seconds:.1f} s"
            if joined
            else run.failed,
            flush=True,
        )
        first = result.found()
        if joined and first and way != apart:
            agree(" ".join(way), counts(joined), counts(first))
    return result


def counts(joined: Joined) -> dict[str, int]:
    return {"rows": joined.rows, "matches": joined.matches}


def report(
    scale: Scale, grown: Sequence[Measured], stream: Measured, hot: Measured, even: Measured
) -> Report:
    """What was measured, as a section of the page."""
    few = min(STREAM_QUERIES, scale.many)
    return Report(
        NAME,
        "Joins on Spark",
        f"Items in the shape of section 6.6.3 under {scale.many:,} queries with windows of 7 days, "
        "from Parquet and query text to the numbers of groups and matches, which are the embedded "
        f"engine's. Each cell is a process, once, within {LIMIT:,} s; times are start + work (of "
        "the embedded engine: loading the queries + work). *Two processes*: two embedded engines "
        "at the same time with half of the stream each, the most that both cores give. The stream "
        f"has {few:,} queries and comes {2 * FILE[scale.full]:,} items a batch, the first "
        f"{STARTING} not timed; its matches go to Parquet; state is the largest in each third. "
        f"Hot: half of {hot.documents:,} documents have one string in common; even: each has one "
        "of four.",
        (backfill_table(grown), stream_table(stream), hot_table(hot, even)),
        (plot(grown),),
        statements(scale, grown, stream, hot, even),
    )


def backfill_table(grown: Sequence[Measured]) -> Table:
    columns = ("items", "matches", "embedded", "Spark, local[1]", "local[2]")
    more = (
        "local[1] : local[2]",
        "one : two processes",
        "processor s, embedded",
        "processor s, Spark",
    )
    rows: list[tuple[Cell, ...]] = []
    for one in grown:
        found, spark = one.found(), one.of(TWO)
        rows.append(
            (
                one.documents,
                found.matches if found else None,
                *(seconds(one.ways.get(way)) for way in (EMBEDDED, ONE, TWO)),
                one.times(ONE, TWO),
                one.times(EMBEDDED, HALVES),
                *(joined.processor if joined else None for joined in (one.of(EMBEDDED), spark)),
                f"{number(spark.shuffled / 2**20)} MiB" if spark else None,
            )
        )
    return Table((*columns, *more, "shuffled"), tuple(rows))


def stream_table(stream: Measured) -> Table:
    embedded, spark = stream.of(EMBEDDED), stream.of(STREAM)
    columns = ("items", "batches", "matches", "items/s", "embedded items/s", "processor s")
    thirds = ("state: first third", "second", "last")
    row: tuple[Cell, ...] = (stream.documents, *[None] * 8)
    if spark:
        row = (
            stream.documents,
            len(spark.batches),
            spark.matches,
            number(sustained(spark.batches)),
            number(stream.documents / embedded.seconds) if embedded else None,
            spark.processor,
            *state_in_thirds(spark.batches),
        )
    return Table((*columns, *thirds), (row,))


def hot_table(hot: Measured, even: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, one in (("half in one string", hot), ("even", even)):
        found = one.found()
        matches = found.matches if found else None
        rows.append((name, matches, *(seconds(one.ways.get(way)) for way in (EMBEDDED, TWO))))
    return Table(("strings", "matches", "embedded", "Spark, local[2]"), tuple(rows))


def plot(grown: Sequence[Measured]) -> Plot:
    ways = {"embedded": EMBEDDED, "Spark, local[1]": ONE, "Spark, local[2]": TWO}
    lines = {
        name: [
            (float(one.documents), joined.start + joined.seconds)
            for one in grown
            if (joined := one.of(way))
        ]
        for name, way in ways.items()
    }
    return Plot("items", "seconds, with the start", lines, log_x=True)


def statements(
    scale: Scale, grown: Sequence[Measured], stream: Measured, hot: Measured, even: Measured
) -> tuple[Statement, ...]:
    """The goals; only the full size can show them."""
    backfill = next(one for one in grown if one.documents == scale.items)
    two, flow = backfill.of(TWO), stream.of(STREAM)
    whole = two.start + two.seconds if two else None
    cores = backfill.times(ONE, TWO)
    speed = sustained(flow.batches) if flow else None
    kept = growth(flow.batches) if flow else None
    one, other = hot.of(TWO), even.of(TWO)
    skew = one.seconds / other.seconds if one and other else None

    def goal(text: str, value: float | None, holds: bool, here: str) -> Statement:
        return goal_of("joins on Spark", scale, text, value, holds, here)

    return (
        goal(
            f"the backfill of {scale.items:,} items and {scale.many:,} queries takes less than "
            "60 s with `local[2]`, and finds what the embedded engine does",
            whole,
            (whole or 0) < 60,
            said(whole, "s with the start of Spark"),
        ),
        goal(
            "`local[2]` is at least 1.6 times as fast as `local[1]`",
            cores,
            (cores or 0) >= 1.6,
            f"{said(cores, 'times')}; two plain processes: "
            f"{said(backfill.times(EMBEDDED, HALVES), 'times')}",
        ),
        goal(
            f"a stream of {stream.documents:,} items is joined at 1,900 items/s or more",
            speed,
            (speed or 0) >= 1_900,
            said(speed, "items/s"),
        ),
        goal(
            "its state does not grow after the window",
            kept,
            (kept or 0) <= KEPT,
            said(kept, "times the middle third's in the last"),
        ),
        goal(
            "half of the stream in one hot string takes at most 1.5 times an even stream's time",
            skew,
            (skew or 0) <= 1.5,
            said(skew, "times"),
        ),
    )


def goal_of(
    of: str, scale: Scale, text: str, value: float | None, holds: bool, here: str
) -> Statement:
    """A goal, of which a smaller size does not say whether it is reached."""
    known = scale.full and value is not None
    return Statement(f"goal, {of}", text, holds if known else None, here)


def said(value: float | None, unit: str) -> str:
    return "—" if value is None else f"{number(value)} {unit}"


def state_in_thirds(batches: Sequence[Batch]) -> list[str]:
    """The most state in each third of a stream."""
    return [
        f"{most(third, 'state_rows'):,} rows, {number(most(third, 'state_bytes') / 2**20)} MiB"
        for third in in_thirds(batches)
    ]


def seconds(joined: Joined | str | None) -> Cell:
    if isinstance(joined, Joined):
        return f"{number(joined.start)} + {number(joined.seconds)} s"
    return joined


def sustained(batches: Sequence[Batch]) -> float:
    """Documents a second after the start; NaN where there is nothing after it."""
    rest = batches[STARTING:]
    spent = sum(one.seconds for one in rest)
    return sum(one.documents for one in rest) / spent if spent else float("nan")


def in_thirds(batches: Sequence[Batch]) -> list[Sequence[Batch]]:
    return [batches[len(batches) * n // 3 : len(batches) * (n + 1) // 3] for n in range(3)]


def most(batches: Sequence[Batch], what: str) -> int:
    return max((int(asdict(one)[what]) for one in batches), default=0)


def growth(batches: Sequence[Batch]) -> float:
    """How many times as much state, in rows or in bytes, the last third has as the middle one."""
    _, middle, last = in_thirds(batches)
    return max(
        most(last, what) / max(1, most(middle, what)) for what in ("state_rows", "state_bytes")
    )
