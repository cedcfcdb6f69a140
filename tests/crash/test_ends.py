"""A run that is stopped, interrupted or left by who reads it: it says so, and the next one goes
on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import Started, started, xscl
from tests.crash.harness import STATE, Undisturbed, reported

MORE = (*STATE, "-o", "out.jsonl")


@contextmanager
def under_way(whole: Undisturbed, folder: Path) -> Iterator[Started]:
    """A run that has written matches, and is far from its end."""
    with started(*whole.run, *MORE, at=folder) as one:
        output = folder / "out.jsonl"
        while not (output.exists() and output.stat().st_size):
            assert not one.ended(0.005)
        yield one


def continues(whole: Undisturbed, folder: Path) -> None:
    """The next run finds what is left, and nothing else."""
    done = xscl(*whole.run, *MORE, at=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "out.jsonl").read_bytes() == whole.output
    assert reported(folder) == whole.numbers


@pytest.fixture
def folder(undisturbed: Undisturbed, tmp_path: Path) -> Path:
    return undisturbed.with_same_input(tmp_path / "run")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_finishes_the_batch(
    undisturbed: Undisturbed, folder: Path, number: signal.Signals
) -> None:
    with under_way(undisturbed, folder) as one:
        one.send(number)
        done = one.done()
    assert done.returncode == 128 + number, done.stderr
    assert "Traceback" not in done.stderr
    state = json.loads(xscl("state", "s.duckdb", "--format", "json", at=folder).stdout)
    assert (state["taken"] + sum(state["skipped"].values())) % 200 == 0
    # Whatever is in the file, the state knows of.
    (output,) = state["outputs"].values()
    assert output["bytes"] == (folder / "out.jsonl").stat().st_size < len(undisturbed.output)
    continues(undisturbed, folder)


def test_a_second_interrupt_ends_it_immediately(middle: Undisturbed, tmp_path: Path) -> None:
    folder = middle.with_same_input(tmp_path / "run")
    with under_way(middle, folder) as one:
        # Two that come while the same call is under way are one.
        while not one.ended(0.005):
            one.send(signal.SIGTERM)
        done = one.done()
    # A third that comes before it has ended is nobody's.
    assert done.returncode in (130, -signal.SIGTERM), done.stderr
    assert "Traceback" not in done.stderr
    continues(middle, folder)


@pytest.mark.parametrize("killed", [False, True])
def test_one_that_is_stopped_keeps_the_state(
    undisturbed: Undisturbed, folder: Path, killed: bool
) -> None:
    with under_way(undisturbed, folder) as one:
        one.send(signal.SIGSTOP)
        second = xscl(*undisturbed.run, *STATE, "-o", "other.jsonl", at=folder)
        assert second.returncode == 1
        assert f"s.duckdb is in use by process {one.process.pid} on " in second.stderr
        assert "`xscl run q.xscl" in second.stderr
        looking = xscl("state", "s.duckdb", at=folder)
        assert looking.returncode == 1
        assert f"in use by process {one.process.pid} on " in looking.stderr
        assert not (folder / "other.jsonl").exists()
        one.send(signal.SIGKILL if killed else signal.SIGCONT)
        assert one.done().returncode == (-signal.SIGKILL if killed else 0)
    continues(undisturbed, folder)


_PIPE = 64 * 1024
"""The bytes that a pipe takes and its reader has at a time, at most."""


def test_who_reads_a_pipe_may_leave(undisturbed: Undisturbed, tmp_path: Path) -> None:
    folder = undisturbed.with_same_input(tmp_path / "run")
    command = [
        sys.executable,
        "-c",
        "from xscl.cli.main import main; main()",
        *undisturbed.run,
        *STATE,
    ]
    with (
        subprocess.Popen(command, cwd=folder, stdout=-1, stderr=-1, env=os.environ) as process,
        subprocess.Popen(["head", "-n", "3"], stdin=process.stdout, stdout=-1) as head,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        read = head.communicate()[0].splitlines()
        said = process.stderr.read().decode()
    assert process.returncode == 1
    assert "Traceback" not in said
    rest = xscl(*undisturbed.run, *STATE, at=folder).stdout.encode().splitlines()
    assert read == undisturbed.lines[:3]
    # What was in the pipe when its reader left had been reported.
    missing = {*undisturbed.lines} - {*read, *rest}
    assert sum(len(line) + 1 for line in missing) <= 2 * _PIPE
    assert {*read, *rest} <= {*undisturbed.lines}
