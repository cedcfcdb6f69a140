"""Joins that are killed: `xscl join` reads files that come, dies of SIGKILL at chosen moments with
Java and all workers, starts again and ends in order at last; then its output is compared with what
an undisturbed engine finds."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xscl
from tests.xscl.spark.java import QUICK
from tests.xscl.spark.joining import events, rows
from tests.xscl.spark.kills import Moment, Running, highest

__all__ = ["JOIN_STAGES", "JoinAccount", "join_killed", "join_moments"]

_ONCE, _CONTINUING = ("--once",), ("--every", "1s")

JOIN_STAGES = ("begun", "planned", "found", "written", "noted", "done")
"""The queries are kept; a batch is planned, its matches begun to be written, and all there, what it
brought is noted, its end is noted by Spark."""

QUERIES = """
-- name: pairs
S//a->x FOLLOWED BY {x = y, 1 day} S//b->y;
-- name: endless
S//b->x JOIN {x = y} S//c->y;
-- name: news
SELECT x FROM S//a->x JOIN {x = y, 1 day} S//c->y PUBLISH out;
-- name: of-news
out//a->x JOIN {x = y, 1 day} S//b->y;
-- name: repeated
EVENT SEQ(S p, S q) WHERE [a] WITHIN 1 hour;
-- name: unanswered
EVENT SEQ(S p, !(S q)) WHERE p.a >= 0 AND p.a = q.b WITHIN 2 hours;
-- name: counted
SELECT c, COUNT(*) AS n FROM WINDOW{1 day}(S) GROUP BY c;
"""

_LATEST = 100_000
_CLOCK = {"id": "clock", "stream": "no query's", "timestamp": 10 * _LATEST, "xml": "<d/>"}
"""The last document, after which nothing waits: no other is late by `--lateness`."""


@dataclass(frozen=True, slots=True)
class JoinAccount:
    """The number of matches in the end, the processes of each kill, and in words what must not
    be."""

    matches: int
    processes: tuple[int, ...]
    faults: tuple[str, ...]


def join_moments(count: int, *, seed: int) -> list[Moment]:
    """As many moments, spread over the stages."""
    chance = random.Random(seed)
    stages = (list(JOIN_STAGES) * (1 + count // len(JOIN_STAGES)))[:count]
    if count < len(JOIN_STAGES):
        stages = chance.sample(JOIN_STAGES, count)
    chance.shuffle(stages)
    return [
        Moment(stage, round(chance.uniform(0.0, 0.4), 3), once=number % 2 == 0)
        for number, stage in enumerate(stages)
    ]


def join_killed(
    folder: Path,
    at: Sequence[Moment],
    *,
    seed: int,
    documents: int = 60,
    continuing: bool = True,
    on_kill: Callable[[Moment, int], object] = lambda moment, processes: None,
    last: Callable[[Sequence[str]], object] | None = None,
) -> JoinAccount:
    """Joins files into a folder, killed at these moments; so many documents come before each start.
    The last run but one is ended by SIGTERM, if it is to be `continuing`; the `last` one is the
    caller's, from the options of `xscl join`, or a process as the others."""
    chance = random.Random(seed)
    to, queries = folder / "to", folder / "q.xscl"
    queries.write_text(QUERIES)
    common = (str(queries), "--events", str(folder / "in" / "*"), "--to", str(to))
    common = (*common, "--lateness", "2 days", "--quiet", "--master", "local[1]", *QUICK)
    every: list[dict[str, Any]] = []
    processes = []
    files = itertools.count()

    def more(*ends: dict[str, Any]) -> None:
        number = next(files)
        some = [_document(chance, len(every) + n) for n in range(documents)]
        some += ends
        every.extend(some)
        events(folder / "in" / f"{number}.jsonl", [*some, f"no json {number}"])

    def run(*options: str) -> Running:
        return Running(["join", *common, *options], folder / "stderr")

    for moment in at:
        more()
        reached = _stage(moment.stage, to)
        with run(*_ONCE if moment.once else _CONTINUING) as running:
            running.until(reached)
            time.sleep(moment.delay)
            processes.append(running.kill())
        on_kill(moment, processes[-1])
    if continuing:
        more()
        reached = _stage("done", to)
        with run(*_CONTINUING) as running:
            running.until(reached)
            running.end(signal.SIGTERM, expected=0)
    more(_CLOCK)
    if last is not None:
        last([*common, *_ONCE])
    else:
        with run(*_ONCE) as running:
            running.end(None, expected=0)
    return _account(to, every, next(files), processes)


def _document(chance: random.Random, number: int) -> dict[str, Any]:
    name = chance.choice("abc")
    xml = f"<d><{name}>{chance.randrange(12)}</{name}></d>"
    return {"id": f"d{number}", "timestamp": chance.randrange(_LATEST), "xml": xml}


def _stage(name: str, to: Path) -> Callable[[], bool]:
    """Whether a stage has been reached from now on."""

    counts: dict[str, Callable[[], int]] = {
        "begun": lambda: int((to / "queries" / "revision-0.json").exists()),
        "planned": lambda: highest(to / "checkpoint" / "offsets"),
        "found": lambda: len([*to.glob("matches/batch=*")]),
        "written": lambda: len([*to.glob("matches/batch=*/_SUCCESS")]),
        "noted": lambda: len([*to.glob("batches/*.json")]),
        "done": lambda: highest(to / "checkpoint" / "commits"),
    }
    count = counts[name]
    before = count()
    if name == "begun":
        return lambda: count() > 0
    return lambda: count() > before


def _account(
    to: Path, every: Sequence[dict[str, Any]], files: int, processes: Sequence[int]
) -> JoinAccount:
    with xscl.Engine(lateness="INF") as engine:
        engine.load(QUERIES)
        expected = Counter(match.id for match in engine.run(every))
    found = Counter(row["id"] for row in rows(to / "matches"))
    letters = Counter(row["body"] for row in rows(to / "dead"))
    lines = Counter(f"no json {number}" for number in range(files))
    faults = [
        f"{problem}: {sum(some.values())}"
        for problem, some in (
            ("matches are missing", expected - found),
            ("matches are too many", found - expected),
            ("dead letters are missing", lines - letters),
            ("dead letters are too many", letters - lines),
        )
        if some
    ]
    return JoinAccount(found.total(), tuple(processes), tuple(faults))
