"""Runs of `xscl run --state` that are killed again and again, until one comes to its end.

A run is killed at a named point, by itself, or from outside at a moment after its start.  Where a
kill comes too late, since the rest of the run was short, another run begins in a new folder.  So
each course of runs comes to its end, and is compared with a run that nothing has disturbed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from subprocess import CompletedProcess

from click.testing import CliRunner

from tests.commands import started, xscl
from tests.crash import workload
from xscl.cli.main import cli

__all__ = [
    "STATE",
    "Course",
    "Undisturbed",
    "courses",
    "crashing",
    "moments",
    "reported",
    "turn",
]

STATE = ("--state", "s.duckdb")
_SECONDS = "seconds"
_SIZES = ("taken", "skipped", "latest", "documents")


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The results of an undisturbed run: the directory with its input, how it was started (without
    state and output), the bytes of its file of matches, the output of `xscl state`, and its
    processor seconds."""

    folder: Path
    run: tuple[str, ...]
    output: bytes
    numbers: dict[str, object]
    seconds: float

    @classmethod
    def of(
        cls,
        folder: Path,
        documents: int,
        batch: int,
        write: Callable[[Path, int], object] = workload.write,
        more: Sequence[str] = (),
    ) -> Undisturbed:
        """Runs it in a folder, with `more` options."""
        write(folder, documents)
        source = ("run", "q.xscl", "--events", "e.jsonl", *more)
        arguments = (*source, "--batch", str(batch), "--lateness", workload.LATENESS)
        done = xscl(*arguments, *STATE, "-o", "out.jsonl", at=folder, around=_timed)
        seconds = float((folder / _SECONDS).read_text())
        assert done.returncode == 0, done.stderr
        output = (folder / "out.jsonl").read_bytes()
        return cls(folder, arguments, output, reported(folder), seconds)

    @property
    def lines(self) -> list[bytes]:
        """The matches, a line each."""
        return self.output.splitlines()

    def with_same_input(self, folder: Path) -> Path:
        """Makes a directory with the same input."""
        folder.mkdir()
        for name in ("q.xscl", "e.jsonl"):
            copyfile(self.folder / name, folder / name)
        return folder


@dataclass(frozen=True, slots=True)
class Course:
    """A folder in which a run has come to its end; what the runs wrote to standard output that
    were killed before, and the last one; and how many documents were in the state at each kill."""

    folder: Path
    outputs: tuple[str, ...]
    kills: tuple[int, ...]

    def faults(self, undisturbed: Undisturbed) -> list[str]:
        """In what the file and the numbers of the state are other than undisturbed ones."""
        found = []
        if (output := (self.folder / "out.jsonl").read_bytes()) != undisturbed.output:
            there, expected = sorted(output.splitlines()), sorted(undisturbed.lines)
            how = "in another order" if there == expected else f"{len(there)}, not {len(expected)}"
            found.append(f"{self.folder}: matches {how}")
        if (numbers := reported(self.folder)) != undisturbed.numbers:
            found.append(f"{self.folder}: {numbers}, not {undisturbed.numbers}")
        return found


def reported(folder: Path) -> dict[str, object]:
    """The numbers that `xscl state` reports, nothing if there is no state yet."""
    if not (folder / "s.duckdb").exists():
        return {}
    done = CliRunner().invoke(cli, ["state", str(folder / "s.duckdb"), "--format", "json"])
    assert done.exit_code == 0, done.stderr
    numbers = json.loads(done.stdout)
    return {name: numbers[name] for name in _SIZES}


def crashing(point: str) -> dict[str, str]:
    """The environment of a run that is to end at a point."""
    return {**os.environ, "XSCL_CRASH_AT": point}


def turn(arguments: Sequence[str], folder: Path, kill: str | float | None) -> CompletedProcess[str]:
    """Runs it once: to its end, to a named point, or for some processor seconds: those of the clock
    are other ones on a busy machine."""
    environment = crashing(kill if isinstance(kill, str) else "")
    with started(*arguments, at=folder, environment=environment) as one:
        while isinstance(kill, float) and not one.ended(0.002):
            if one.processor >= kill:
                one.send(signal.SIGKILL)
        return one.done()


@contextmanager
def _timed() -> Iterator[None]:
    """Around a command, in its process."""
    try:
        yield
    finally:
        Path(_SECONDS).write_text(str(time.process_time()))


def courses(
    undisturbed: Undisturbed,
    folder: Path,
    kills: Iterable[str | float],
    more: Sequence[str] = (*STATE, "-o", "out.jsonl"),
) -> Iterator[Course]:
    """Courses of runs, until there was each kill; the last one goes undisturbed to its end."""
    arguments = (*undisturbed.run, *more)
    waiting = iter([*kills, None])
    kill = next(waiting)
    for number in itertools.count(1):
        at = undisturbed.with_same_input(folder / f"course-{number}")
        outputs, met = [], []
        while True:
            done = turn(arguments, at, kill)
            outputs.append(done.stdout)
            if done.returncode != -signal.SIGKILL:
                assert done.returncode == 0, done.stderr
                break
            met.append(int(str(reported(at).get("taken", 0))))
            kill = next(waiting)
        yield Course(at, tuple(outputs), tuple(met))
        if not met:
            # It comes later than a whole run ends.
            kill = next(waiting, None)
        if kill is None:
            return


def moments(number: int, seconds: float, seed: int) -> list[float]:
    """Seeded moments of a run that takes some processor seconds undisturbed, most of them soon: its
    start, where it reads what was before, is met as often as what follows."""
    random_ = random.Random(seed)
    return [random_.triangular(0.0, 0.7 * seconds, 0.0) for _ in range(number)]
