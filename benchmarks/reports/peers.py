"""Other engines over the same items and queries, from text to the counted matches of each query."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xscl
from benchmarks.peers.cells import Cost, cost
from benchmarks.peers.environments import NotInstalled, python_of, version_of
from benchmarks.peers.queries import queries, write
from benchmarks.report import Cell, Plot, Report, Table, number, time_text
from benchmarks.scale import Scale
from benchmarks.users.turns import HERE

SCRIPTS = HERE / "benchmarks" / "peers"
ITEMS = 20_000
SIZES = (1, 10, 100, 1_000)
FEWEST = 10
"""Items of a run that hardly does more than start."""
LIMIT = 300
XSCL = "XSCL"


@dataclass(frozen=True, slots=True)
class Peer:
    """A package, the script that uses it and how, and whether its queries are standing: answered as
    items come, not once for all."""

    name: str
    requirement: str
    script: str
    way: str = ""
    standing: bool = True


PEERS = (
    Peer("Flink SQL, local", "apache-flink", "flink_sql.py"),
    Peer("Spark Structured Streaming", "pyspark[sql]", "spark_streams.py"),
    Peer("Pathway", "pathway", "pathway_tables.py"),
    Peer("Bytewax with dictionaries", "bytewax", "bytewax_flow.py"),
    Peer("DuckDB, a SELECT a query", "duckdb", "duckdb_sql.py", "statements", standing=False),
    Peer("DuckDB, queries in a table", "duckdb", "duckdb_sql.py", "table", standing=False),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What each number of queries cost a peer, the start alone under 0; a text is why not."""

    version: str
    costs: Mapping[int, Cost | str]

    def seconds(self, size: int) -> float | None:
        found = self.costs.get(size)
        return found.processor if isinstance(found, Cost) else None

    def cell(self, size: int) -> Cell:
        found = self.costs.get(size, "")
        return time_text(found.processor) if isinstance(found, Cost) else found


def run(scale: Scale) -> Report:
    sizes = SIZES if scale.full else [n for n in SIZES if n <= scale.many // 10]
    items = min(ITEMS, scale.items)
    with tempfile.TemporaryDirectory() as place:
        folders = {}
        for size in (0, *sizes):
            folders[size] = Path(place) / str(size)
            folders[size].mkdir()
            write(folders[size], items if size else FEWEST, queries(max(size, 1)))
        own = {size: of_xscl(folder, LIMIT) for size, folder in folders.items()}
        found = {
            size: {
                name: int(n) for name, n in (line.split("\t") for line in one.printed.splitlines())
            }
            for size, one in own.items()
        }
        measured = {XSCL: Measured(f"xscl {xscl.__version__}", own)}
        for peer in PEERS:
            measured[peer.name] = of_peer(peer, folders, found, LIMIT)
    return report(measured, sizes, items, LIMIT, found)


def of_xscl(folder: Path, limit: float) -> Cost:
    """The command over the rows of the file; RuntimeError if it fails."""
    rows = ["--json", f"S={folder / 'items.jsonl'}", "--id", "id", "--time", "time"]
    command = [sys.executable, "-P", "-m", "xscl", "run", str(folder / "queries.xscl"), *rows]
    one = cost([*command, "--format", "counts", "--quiet"], limit, {"PYTHONPATH": str(HERE)})
    if one.failed:
        raise RuntimeError(one.failed)
    return one


def counted(printed: str) -> dict[str, int]:
    """The matches of each query, as the command prints them."""
    return {name: int(n) for name, n in (line.split("\t") for line in printed.splitlines())}


def of_peer(
    peer: Peer, folders: Mapping[int, Path], found: Mapping[int, Mapping[str, int]], limit: float
) -> Measured:
    """What a peer costs, from few queries to many; after a failure no more are tried."""
    try:
        python, version = python_of(peer.requirement), version_of(peer.requirement)
    except NotInstalled as error:
        return Measured(peer.requirement, dict.fromkeys(folders, f"not installable: {error}"))
    costs: dict[int, Cost | str] = {}
    for size, folder in folders.items():
        command = [str(python), "-P", str(SCRIPTS / peer.script), str(folder)]
        one = cost([*command, peer.way] if peer.way else command, limit)
        costs[size] = one.failed or other(one, found[size]) or one
        if one.failed:
            costs |= {more: "not tried" for more in folders if more > size}
            break
    return Measured(version, costs)


def other(one: Cost, expected: Mapping[str, int]) -> str:
    """Of how many queries a peer finds other matches; nothing where there is none."""
    results = json.loads(one.printed.splitlines()[-1])
    different = sum(results.get(name) != count for name, count in expected.items())
    return f"other matches of {different:,} queries" if different else ""


def report(
    measured: Mapping[str, Measured],
    sizes: Sequence[int],
    items: int,
    limit: float,
    found: Mapping[int, Mapping[str, int]],
) -> Report:
    own = measured[XSCL]
    columns = [f"{size:,} quer{'y' if size == 1 else 'ies'}" for size in sizes]
    times = tuple(
        (name, one.version, *(one.cell(size) for size in (0, *sizes)))
        for name, one in measured.items()
    )
    ratios = tuple(
        (name, *(_ratio(one.seconds(size), own.seconds(size)) for size in sizes))
        for name, one in measured.items()
        if name != XSCL
    )
    memory = tuple(
        (name, *(_memory(one.costs.get(size)) for size in sizes)) for name, one in measured.items()
    )
    matches = ", ".join(f"{sum(found[size].values()):,}" for size in sizes)
    batch = " and ".join(peer.name for peer in PEERS if not peer.standing)
    return Report(
        "peers",
        "Peers: other engines over the same items and queries",
        f"{items:,} items in the shape of section 6.6.3 as lines of JSON, and queries of the "
        "cookbook's kind (the same title elsewhere, re-posts, another title for the same link, a "
        "title that comes back), each beyond the fourth about a channel of its reader's and within "
        "a number of days of its own. Each engine reads the file and counts the matches of each "
        f"query, {matches} in all; they are compared with XSCL's. Each is used as its own "
        "documentation recommends, on one core where it lets itself be asked: interval joins in "
        "Flink SQL (one statement set), Spark (a streaming query each) and Pathway; in Bytewax a "
        "keyed step with its state for each query; in DuckDB a SELECT each, or all queries of a "
        f"form as a table of what they say. {batch} answer once, over all items; the queries of "
        "the others stand. Figures are processor time of all processes of an engine together, its "
        f"start included (the column *start*: one query, {FEWEST} items). A cell has {limit:g} s "
        "of the clock; an engine that cannot is not tried with more queries. The scripts are in "
        "`benchmarks/peers`; each engine is installed from PyPI into an environment of its own.\n"
        f"\n{winners(measured, sizes)}",
        (
            Table(("engine", "version", "start", *columns), times),
            Table(("times XSCL's processor time", *columns), ratios),
            Table(("memory of the largest process", *columns), memory),
        ),
        (
            Plot(
                "queries",
                f"processor seconds for {items:,} items",
                {
                    name: [(n, y) for n in sizes if (y := one.seconds(n)) is not None]
                    for name, one in measured.items()
                },
                log_x=True,
            ),
        ),
    )


def winners(measured: Mapping[str, Measured], sizes: Sequence[int]) -> str:
    """Who is fastest at each number of queries, in sentences."""
    sentences = []
    for size in sizes:
        times = {name: s for name, one in measured.items() if (s := one.seconds(size)) is not None}
        order = sorted(times, key=lambda name: times[name])
        texts = [f"{name} ({time_text(times[name])})" for name in order]
        label = "With 1 query" if size == 1 else f"With {size:,} queries"
        sentences.append(f"{label} the order is: {', '.join(texts)}.")
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _ratio(theirs: float | None, own: float | None) -> Cell:
    return None if theirs is None or own is None else theirs / own


def _memory(found: Cost | str | None) -> Cell:
    return f"{number(found.memory / 2**20)} MiB" if isinstance(found, Cost) else None
