"""What users do, each compared with the join by hand and the floor, in processor time, in turns;
with `--against` another checkout of the project takes its turns, too."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import nan
from pathlib import Path

from benchmarks.machine import commit
from benchmarks.report import Cell, Report, Statement, Table, number, time_text
from benchmarks.scale import Scale
from benchmarks.users import rows
from benchmarks.users.rows import (
    ALONE,
    DELAYED,
    DIFFERENT,
    ENDLESS,
    GROUPS,
    HELP,
    IMPORT,
    JSON,
    SELF_JOINS,
    TAB,
    TOTAL,
    Row,
)
from benchmarks.users.turns import HERE, Run, Runs, Worker, in_rounds, ratio

ROUNDS = 5
LONGER = 4
"""A row may take so many times the limit."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A row's runs: of this checkout, and where there were some of the other, by hand, of the
    floor."""

    row: Row
    now: Runs
    then: Runs | None
    hand: Runs | None
    floor: Runs | None

    @property
    def ratio_to_hand(self) -> float:
        return nan if self.hand is None else ratio(self.now, self.hand)

    def times(self, other: Runs | None) -> float | None:
        return ratio(self.now, other) if other else None

    def cells(self) -> tuple[Cell, ...]:
        row, now = self.row, self.now
        p99 = None if now.p99 is None else time_text(now.p99)
        many = row.amount > 1
        return (
            row.name,
            f"{row.amount:,} {row.unit}" if many else None,
            now.matches if many else None,
            time_text(self.floor.seconds) if self.floor else None,
            time_text(self.hand.seconds) if self.hand else None,
            time_text(now.seconds),
            number(row.amount / now.seconds) if many else None,
            self.times(self.hand),
            self.times(self.floor),
            p99,
            time_text(self.then.seconds) if self.then else None,
            ratio(self.then, now) if self.then else None,
            len(now.runs),
        )


COLUMNS = (
    "what a user does",
    "with",
    "matches",
    "floor",
    "by hand",
    "XSCL",
    "a second",
    "times by hand",
    "times the floor",
    "p99",
    "then",
    "then : now",
    "rounds",
)


def run(scale: Scale) -> Report:
    measured: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as place:
        for group in rows.groups(Path(place), scale):
            if wanted := [row for row in group if scale.rows in row.name]:
                measured |= in_turn(wanted, scale)
    columns = [n for n, name in enumerate(COLUMNS) if scale.against or not name.startswith("then")]
    cells = [one.cells() for one in measured.values()]
    absent = "" if scale.rows or "links, as lines" in measured else (
        "The archives of real feeds (shared/data/feed-archives) are absent, and so are the rows "
        "of links, authors and titles. "
    )  # fmt: skip
    then = (
        f"*Then* is commit {commit(Path(scale.against))} (`--against`), in the same turns."
        if scale.against
        else ""
    )
    return Report(
        "user_table",
        "What users do",
        "Processor time of one core, from text to what a user reads or writes; medians of up to "
        f"{ROUNDS} rounds in which all ways take turns, none of which begins when "
        f"{scale.limit * LONGER:g} s of the clock have gone. Items in the shape of section 6.6.3, "
        f"windows of 7 days, {scale.many:,} queries where nothing else is said, in batches of "
        f"5,000, one by one under {min(rows.FEWER, scale.many):,}, and durably under "
        f"{min(rows.SOME, scale.many):,}; below them real items. *By hand* is what one would write "
        "for exactly these documents and queries: a join in dictionaries, regular expressions for "
        "the texts of queries, SQL in DuckDB for links, authors and titles, SQLite with a "
        "transaction a document for the state file; for the last rows a Python that does nothing. "
        f"{absent}{then}",
        (
            Table(
                tuple(COLUMNS[n] for n in columns),
                tuple(tuple(row[n] for n in columns) for row in cells),
            ),
        ),
        (),
        goals(measured, scale),
    )


def in_turn(group: Sequence[Row], scale: Scale) -> dict[str, Measured]:
    """The rows of a group, all ways of all of them in turns."""
    gc.collect()
    gc.freeze()
    checkouts = {"now": HERE} | ({"then": Path(scale.against)} if scale.against else {})
    with ExitStack() as stack:
        ways: dict[tuple[str, str], Callable[[], Run]] = {}
        for row in group:
            ways |= {
                (row.name, name): way
                for name, way in (("floor", row.floor), ("hand", row.hand))
                if way
            }
            for name, checkout in checkouts.items():
                worker = Worker(checkout, row.work, row.folder)
                stack.callback(worker.close)
                ways[row.name, name] = worker
        runs = in_rounds(ways, min(ROUNDS, 2 * scale.rounds - 1), scale.limit * LONGER)
    gc.unfreeze()
    result = {
        row.name: Measured(
            row,
            runs[row.name, "now"],
            *(runs.get((row.name, n)) for n in ("then", "hand", "floor")),
        )
        for row in group
    }
    for one in result.values():
        check(one)
    return result


def check(one: Measured) -> None:
    """Raises AssertionError unless all ways found the same."""
    for other in (one.then, one.hand):
        if other and other.matches is not None and other.matches != one.now.matches:
            raise AssertionError(
                f"{one.row.name}: different numbers of matches: {one.now.matches} and "
                f"{other.matches}"
            )


GOALS: tuple[tuple[str, str, Callable[[Measured], tuple[float, float]]], ...] = (
    (SELF_JOINS, "100,000 are loaded within 6 s", lambda one: (one.now.seconds, 6)),
    (DIFFERENT, "100,000 are loaded within 20 s", lambda one: (one.now.seconds, 20)),
    (GROUPS, "at most 1.3 times the join by hand", lambda one: (one.ratio_to_hand, 1.3)),
    (ALONE, "at most 2.5 times the join by hand", lambda one: (one.ratio_to_hand, 2.5)),
    (ALONE, "p99 under 0.5 ms", lambda one: (one.now.p99 or nan, 0.5e-3)),
    (ENDLESS, "at most 1.25 times the join by hand", lambda one: (one.ratio_to_hand, 1.25)),
    (
        DELAYED,
        "3,000 documents a second",
        lambda one: (one.now.seconds / one.row.amount, 1 / 3_000),
    ),
    ("authors, as lines", "1 s for 100,000 matches", lambda one: (one.now.seconds, 1)),
    ("authors, as counts", "0.3 s", lambda one: (one.now.seconds, 0.3)),
    ("a chain of three titles, as lines", "5 s", lambda one: (one.now.seconds, 5)),
    (HELP, "0.25 s", lambda one: (one.now.seconds, 0.25)),
    (IMPORT, "0.25 s", lambda one: (one.now.seconds, 0.25)),
    (TAB, "0.25 s", lambda one: (one.now.seconds, 0.25)),
)
"""What is to be reached with 100,000 queries: a row, the goal, and what is there and at most may
be."""


def goals(measured: Mapping[str, Measured], scale: Scale) -> tuple[Statement, ...]:
    statements = [
        Statement(
            "goal, users", f"{name}: {text}", there <= most if scale.full else None, here(one)
        )
        for name, text, reached in GOALS
        if (one := measured.get(name))
        for there, most in [reached(one)]
    ]
    if TOTAL in measured and GROUPS in measured:
        share = ratio(measured[TOTAL].now, measured[GROUPS].now)
        statements.append(
            Statement(
                "goal, users",
                "groups are read no slower than 0.8 of asking for their number",
                share >= 0.8 if scale.full else None,
                number(share),
            )
        )
    if JSON in measured and GROUPS in measured:
        share = ratio(measured[GROUPS].now, measured[JSON].now)
        statements.append(
            Statement(
                "goal, users",
                "items of JSON are faster than of XML",
                share > 1 if scale.full else None,
                f"{number(share)} times as fast",
            )
        )
    return tuple(statements)


def here(one: Measured) -> str:
    tail = f", p99 {time_text(one.now.p99)}" if one.now.p99 else ""
    times = "" if one.hand is None else f", {number(one.ratio_to_hand)} times by hand"
    of = f" for {one.row.amount:,} {one.row.unit}" if one.row.amount > 1 else ""
    return f"{time_text(one.now.seconds)}{of}{times}{tail}"
