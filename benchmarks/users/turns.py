"""Ways to do the same in turns, so that all meet the same disturbances, and what they took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

__all__ = ["HERE", "Run", "Runs", "Worker", "in_rounds", "ratio"]

HERE = Path(__file__).parents[2]
Way = TypeVar("Way", bound=Hashable)
WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Run:
    """Processor seconds, matches, and the seconds within which 99 of 100 documents are done."""

    seconds: float
    matches: int | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one way, in the order of the rounds."""

    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        return median(run.seconds for run in self.runs)

    @property
    def p99(self) -> float | None:
        each = [run.p99 for run in self.runs if run.p99 is not None]
        return median(each) if each else None

    @property
    def matches(self) -> int | None:
        return self.runs[0].matches


class Worker:
    """A process that does one thing with the package of a checkout whenever it is called."""

    def __init__(self, checkout: Path, work: str, folder: Path) -> None:
        self._place = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), work, str(folder)],
            env=os.environ | {"PYTHONPATH": str(checkout.resolve())},
            cwd=self._place.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self) -> Run:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        return Run(*json.loads(answer))

    def close(self) -> None:
        self._process.communicate()
        self._place.cleanup()


def in_rounds(ways: Mapping[Way, Callable[[], Run]], rounds: int, limit: float) -> dict[Way, Runs]:
    """Each way once a round; no round but the first begins when `limit` seconds have gone."""
    started = time.perf_counter()
    runs: dict[Way, list[Run]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            runs[name].append(run())
        if time.perf_counter() - started > limit:
            break
    return {name: Runs(tuple(each)) for name, each in runs.items()}


def ratio(one: Runs, other: Runs) -> float:
    """How many times the other's time one takes: the median of the rounds."""
    return median(a.seconds / b.seconds for a, b in zip(one.runs, other.runs, strict=True))
