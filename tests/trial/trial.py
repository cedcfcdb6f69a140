"""What a new user tries, over the sample feeds and the rows of `rows.py`, and what is shown: each
kind of query, run, checked and asked why, then misspelt.  `python -m tests.trial` plays it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from subprocess import CompletedProcess

from tests.commands import xscl
from tests.trial.rows import rows

__all__ = ["JOIN", "QUERIES", "ROWS", "Step", "lay_out", "play"]

QUERIES = sorted(Path(__file__).parent.glob("*.xscl"))
ROWS = ("--json", "R=rows.jsonl", "--id", "id", "--time", "time")
JOIN = (Path(__file__).parent / "queries.xscl").read_text("utf-8").partition(";")[0]
"""The first of the queries."""

_FEEDS = ("--feed", "S=first/feeds")


@dataclass(frozen=True)
class Step:
    """A command, and what it shows, on standard output or standard error."""

    arguments: tuple[str, ...]
    shows: tuple[str, ...]
    code: int = 0


STEPS = (
    Step(("sample", "first"), ("first",)),
    Step(
        ("run", "first/queries.xscl", *_FEEDS, "--format", "counts"),
        ("reviewed\t22", "retold\t4", "156 documents, 0 skipped, 106 matches"),
    ),
    Step(
        (
            "run",
            "-q",
            "EVENT SEQ(S/item[source = 'Pagewright Press'] a, !S/item[linked->link] b) "
            "WHERE [link] WITHIN 7 days",
            *_FEEDS,
            "--format",
            "text",
        ),
        ("“Small Hours, Large Telescopes”", "“Salt, Smoke, Sourdough”", "2 matches"),
    ),
    Step(
        (
            "run",
            "-q",
            "S/item[titel]",
            "-q",
            "EVENT SEQ(S/item a) WHERE a.titel = 'x' WITHIN 1 day",
            "-q",
            "SELECT titel FROM FILTER{}(S/item)",
            *_FEEDS,
        ),
        (
            "query 'q1' found nothing: ",
            "had `titel` below `item`; did you mean `title`?",
            "query 'q2' found nothing: ",
            "had `titel`; did you mean `title`?",
            "query 'q3': ",
        ),
    ),
    Step(
        ("run", "-q", "S/item", "--feed", "Feeds=first/feeds"),
        ("no source feeds stream 'S', which query 'q1' reads; did you mean 'Feeds'?",),
    ),
    Step(("check", "queries.xscl"), ("5 queries, no error",)),
    Step(
        ("check", "-q", "SELECT a FROM EVENT SEQ(R a, !R b) WITHIN 7 dayz"),
        ("line 1, column", "`dayz` is no unit of a window"),
        code=2,
    ),
    Step(
        ("run", "misspelt.xscl", *ROWS, "--format", "counts"),
        (
            "note: no source feeds stream 'Rows', which query 'stream' reads; fed: R",
            "query 'join' found nothing: no document of R had `parcle` below `json`; "
            "did you mean `parcel`?",
            "query 'join-value' found nothing: ",
            "no document of R met `[event = 'orderd']`",
            "query 'pattern' found nothing: ",
            "no document of R had `parcle`; did you mean `parcel`?",
            "1 more query found nothing",
            "6,000 documents, 0 skipped, 0 matches",
        ),
    ),
    Step(
        ("run", "misspelt-events.xscl", *ROWS, "--format", "counts"),
        (
            "query 'event-query': of ",
            "no document of R had `citty`; did you mean `city`?",
            "query 'event-query-filter' found nothing: of ",
            "no document of R had `evnt`; did you mean `event`?",
            "query 'automaton' found nothing: of ",
            "no document of R had `parcle`; did you mean `parcel`?",
        ),
    ),
    Step(
        ("why", "-q", JOIN, *ROWS),
        ("returned: 6,000 documents", "[event = 'returned']"),
    ),
    Step(
        ("why", "-q", JOIN, *ROWS, "e1", "e2"),
        ("[event = 'returned']", "'ordered'"),
    ),
)


def lay_out(folder: Path) -> None:
    """The files of the trial."""
    (folder / "rows.jsonl").write_text(rows(), encoding="utf-8")
    for file in QUERIES:
        copy(file, folder)


def play(folder: Path) -> Iterator[tuple[Step, CompletedProcess[str]]]:
    """Runs the commands, one after another, in a folder that is laid out."""
    for step in STEPS:
        yield step, xscl(*step.arguments, at=folder)
