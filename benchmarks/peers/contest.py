"""A contest: other engines over the same documents and queries, from text to the counted matches of
each query, which are compared with XSCL's."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xscl
from benchmarks.peers.cells import Cost, cost
from benchmarks.peers.environments import NotInstalled, python_of, version_of
from benchmarks.report import Cell, Plot, Table, number, time_text
from benchmarks.users.turns import HERE

SCRIPTS = HERE / "benchmarks" / "peers"
FEWEST = 10
"""Items of a run that hardly does more than start."""
LIMIT = 300
XSCL = "XSCL"
RATIOS = "times XSCL's processor time, beyond the start"
"""The first column of the table that compares."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A package, the script that uses it and how, and whether its queries are standing: answered as
    items come, not once for all."""

    name: str
    requirement: str
    script: str
    way: str = ""
    standing: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """What each number of queries cost a peer, the start alone under 0; a text is why not."""

    version: str
    costs: Mapping[int, Cost | str]

    def seconds(self, size: int) -> float | None:
        """With the start."""
        found = self.costs.get(size)
        return found.processor if isinstance(found, Cost) else None

    def beyond_start(self, size: int) -> float | None:
        """What the documents and queries took: those who ask standing queries start once."""
        whole, start = self.seconds(size), self.seconds(0)
        return None if whole is None or start is None else whole - start

    def cell(self, size: int) -> Cell:
        found = self.costs.get(size, "")
        return time_text(found.processor) if isinstance(found, Cost) else found


@dataclass(frozen=True, slots=True)
class Contest:
    """Peers that do the same: `write` makes a folder with so many documents and queries,
    `documents` of its files has them (documents of a run; `FEWEST` of one that hardly does more
    than start)."""

    peers: tuple[Peer, ...]
    write: Callable[[Path, int, int], None]
    file: str
    documents: int

    def held(self, sizes: Sequence[int]) -> Outcome:
        """Each peer with each number of queries."""
        with tempfile.TemporaryDirectory() as place:
            folders = {}
            for size in (0, *sizes):
                folders[size] = Path(place) / str(size)
                folders[size].mkdir()
                self.write(folders[size], self.documents if size else FEWEST, max(size, 1))
            own = {size: of_xscl(folder, self.file, LIMIT) for size, folder in folders.items()}
            found = {size: counted(one.printed) for size, one in own.items()}
            measured = {XSCL: Measured(f"xscl {xscl.__version__}", own)}
            for peer in self.peers:
                measured[peer.name] = of_peer(peer, folders, found, LIMIT)
        return Outcome(tuple(sizes), self.documents, measured, found)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What each peer took for each number of queries, and what is to be found."""

    sizes: tuple[int, ...]
    documents: int
    measured: Mapping[str, Measured]
    found: Mapping[int, Mapping[str, int]]

    @property
    def matches(self) -> str:
        """How many matches there are, by number of queries."""
        return ", ".join(f"{sum(self.found[size].values()):,}" for size in self.sizes)

    def tables(self) -> tuple[Table, ...]:
        """Times, those beyond the start by XSCL's, and memory."""
        own = self.measured[XSCL]
        columns = [f"{size:,} quer{'y' if size == 1 else 'ies'}" for size in self.sizes]
        times = tuple(
            (name, one.version, *(one.cell(size) for size in (0, *self.sizes)))
            for name, one in self.measured.items()
        )
        ratios = tuple(
            (name, *(_ratio(one.beyond_start(n), own.beyond_start(n)) for n in self.sizes))
            for name, one in self.measured.items()
            if name != XSCL
        )
        memory = tuple(
            (name, *(_memory(one.costs.get(size)) for size in self.sizes))
            for name, one in self.measured.items()
        )
        return (
            Table(("engine", "version", "start", *columns), times),
            Table((RATIOS, *columns), ratios),
            Table(("memory of the largest process", *columns), memory),
        )

    def plot(self, what: str) -> Plot:
        """Seconds by number of queries."""
        lines = {
            name: [(float(n), y) for n in self.sizes if (y := one.seconds(n)) is not None]
            for name, one in self.measured.items()
        }
        return Plot(
            "queries", f"processor seconds for {self.documents:,} {what}", lines, log_x=True
        )


def of_xscl(folder: Path, file: str, limit: float) -> Cost:
    """The command over the rows of a file; RuntimeError if it fails."""
    rows = ["--json", f"S={folder / file}", "--id", "id", "--time", "time"]
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


def _ratio(theirs: float | None, own: float | None) -> Cell:
    return None if theirs is None or own is None else theirs / own


def _memory(found: Cost | str | None) -> Cell:
    return f"{number(found.memory / 2**20)} MiB" if isinstance(found, Cost) else None
