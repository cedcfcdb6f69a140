"""The same feeds read by XSCL, feedparser and reader, each as a process of its own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.peers.cells import Cost, cost
from benchmarks.peers.environments import NotInstalled, python_of, version_of
from benchmarks.report import Cell, Report, Table, number, time_text
from benchmarks.scale import Scale
from benchmarks.users.turns import HERE
from datasets import feed_archive

SCRIPT = HERE / "benchmarks" / "peers" / "feed_files.py"
ITEMS = 20_000
PER_FEED = 20
LIMIT = 300
PEERS = {"feedparser": "feedparser", "reader": "reader sgmllib3k"}
"""What to install: reader 3.26 imports sgmllib3k, which none of its dependencies brings any
more."""
COMMAND = "`xscl run --feed`, a query for all items"
PARSED = "XSCL, items as documents"


def run(scale: Scale) -> Report:
    items = min(ITEMS, scale.items)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "feeds"
        folder.mkdir()
        size = 0
        for name, body in feed_archive(items // PER_FEED, items):
            size += (folder / name).write_bytes(body)
        costs, versions = measured(folder, min(3, scale.rounds))
    rows = [row(name, versions.get(name), one, costs) for name, one in costs.items()]
    return Report(
        "feed_readers",
        "Feeds read: XSCL, feedparser, reader",
        f"{items // PER_FEED:,} feeds of all formats, {size / 1e6:.1f} MB with {items:,} items, "
        f"from their files, each way a process of its own; processor time with its start, medians "
        f"of {min(3, scale.rounds)}. XSCL's items have their texts, links in canonical form, dates "
        "and categories; the command evaluates a query on each and counts its matches. feedparser "
        "reads no JSON feeds; reader puts items into a database in memory and serves what XSCL "
        "does not: marks, tags, a search.",
        (
            Table(
                ("way", "version", "items", "time", "items/s", "times XSCL's command"), tuple(rows)
            ),
        ),
    )


def measured(folder: Path, rounds: int) -> tuple[dict[str, list[Cost] | str], dict[str, str]]:
    """The runs of each way, in turns, or why there are none; and the versions of peers."""
    here = {"PYTHONPATH": str(HERE)}
    run_all = ["-m", "xscl", "run", "-q", "S/item", "--feed", f"S={folder}", "--format", "counts"]
    commands = {
        COMMAND: [sys.executable, "-P", *run_all, "--quiet"],
        PARSED: [sys.executable, "-P", str(SCRIPT), "xscl", str(folder)],
        "lxml, trees alone": [sys.executable, "-P", str(SCRIPT), "lxml", str(folder)],
    }
    costs: dict[str, list[Cost] | str] = {name: [] for name in commands}
    versions = {}
    for peer, requirement in PEERS.items():
        try:
            python = str(python_of(requirement))
        except NotInstalled as error:
            costs[peer] = f"not installable: {error}"
            continue
        commands[peer] = [python, "-P", str(SCRIPT), peer, str(folder)]
        costs[peer] = []
        versions[peer] = version_of(requirement)
    for _ in range(rounds):
        for name, command in commands.items():
            each = costs[name]
            if isinstance(each, list):
                one = cost(command, LIMIT, here if name in (COMMAND, PARSED) else {})
                each.append(one)
                if one.failed:
                    costs[name] = one.failed
    return costs, versions


def row(
    name: str, version: str | None, runs: list[Cost] | str, costs: dict[str, list[Cost] | str]
) -> tuple[Cell, ...]:
    if isinstance(runs, str):
        return name, version, None, runs, None, None
    items = int(runs[0].printed.split()[-1])
    own = costs[COMMAND]
    taken = median(run.processor for run in runs)
    times = taken / median(run.processor for run in own) if isinstance(own, list) else None
    return name, version, items, time_text(taken), number(items / taken), times
