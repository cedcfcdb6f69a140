"""A disk that is full, or a file that may not grow: the run says so and ends with 1, the state is
as it was before the batch, and when there is space the next run continues."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import pytest

from tests.commands import xscl
from tests.crash.harness import STATE, Undisturbed, reported
from tests.drawn import turn

MORE = (*STATE, "-o", "out.jsonl")


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file grows beyond a size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    yield


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB, until it is mounted again."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.call(mount, stderr=-3):
        pytest.skip("no tmpfs can be mounted here: that takes root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def make_space(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def failed(done: CompletedProcess[str], *words: str) -> None:
    """It says what could not be written, and no more."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (message,) = (line for line in done.stderr.splitlines() if line.startswith("xscl: "))
    for word in words:
        assert word in message


def continues(undisturbed: Undisturbed, folder: Path) -> None:
    done = xscl(*undisturbed.run, *MORE, at=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "out.jsonl").read_bytes() == undisturbed.output
    assert reported(folder) == undisturbed.numbers


@pytest.mark.parametrize("limit", [1_000, 100_000])
def test_no_space_for_a_new_state(undisturbed: Undisturbed, tmp_path: Path, limit: int) -> None:
    folder = undisturbed.with_same_input(tmp_path / "run")
    done = xscl(*undisturbed.run, *MORE, at=folder, around=partial(limited, limit))
    failed(done, "s.duckdb cannot be made", "File too large")
    assert {one.name for one in folder.iterdir()} == {"q.xscl", "e.jsonl"}
    continues(undisturbed, folder)


# The log of the state grows nearly as fast: not at every size the matches are the first to fail.
@pytest.mark.drawn
@pytest.mark.parametrize("part", turn([0.74, 0.87]))
def test_no_space_for_matches(middle: Undisturbed, tmp_path: Path, part: float) -> None:
    folder = middle.with_same_input(tmp_path / "run")
    limit = int(len(middle.output) * part)
    done = xscl(*middle.run, *MORE, at=folder, around=partial(limited, limit))
    failed(done, "out.jsonl", "File too large")
    before = reported(folder)
    # As often as it is tried again: nothing changes.
    failed(xscl(*middle.run, *MORE, at=folder, around=partial(limited, limit)))
    assert reported(folder) == before
    continues(middle, folder)


def test_no_space_for_the_log_of_the_state(middle: Undisturbed, tmp_path: Path) -> None:
    folder = middle.with_same_input(tmp_path / "run")
    run = (*middle.run, *STATE, "--format", "counts")
    failed(
        xscl(*run, at=folder, around=partial(limited, 700_000)),
        "s.duckdb cannot be written",
        "it is as it was before this batch: make room and run again",
    )
    assert 0 < int(str(reported(folder)["taken"])) < int(str(middle.numbers["taken"]))
    done = xscl(*run, at=folder)
    assert done.returncode == 0, done.stderr
    assert sum(int(line.split()[1]) for line in done.stdout.splitlines()) == len(middle.lines)
    assert reported(folder) == middle.numbers


@pytest.mark.parametrize("limit", [600_000, 1_000_000])
def test_no_space_for_the_state_at_the_end(
    undisturbed: Undisturbed, tmp_path: Path, limit: int
) -> None:
    """The run is done, and what it says is in the log."""
    folder = undisturbed.with_same_input(tmp_path / "run")
    done = xscl(*undisturbed.run, *MORE, at=folder, around=partial(limited, limit))
    assert done.returncode == 0, done.stderr
    assert (folder / "s.duckdb.wal").stat().st_size > 0
    assert reported(folder) == undisturbed.numbers
    continues(undisturbed, folder)


def test_a_full_disk(middle: Undisturbed, disk: Path) -> None:
    for name in ("q.xscl", "e.jsonl"):
        (disk / name).symlink_to(middle.folder / name)
    failed(xscl(*middle.run, *MORE, at=disk), "No space left on device", "make room")
    make_space(disk, "64m")
    continues(middle, disk)


@contextmanager
def written_at(size: int) -> Iterator[None]:
    """The log is written to the file whenever it has so many bytes."""
    with mock.patch("xscl.durable.state_file._CHECKPOINT", size):
        yield


def test_a_disk_that_is_full_when_the_log_is_written_to_the_file(disk: Path) -> None:
    folder = disk.parent
    (folder / "q.xscl").write_text("-- name: pair\nS//a->x FOLLOWED BY {x = y} S//a->y")
    random_ = random.Random(8)
    with open(folder / "e.jsonl", "w") as events:
        for number in range(180):
            xml = f"<d><a>{number // 2}</a><t>{random_.randbytes(62_500).hex()}</t></d>"
            events.write(json.dumps({"id": f"d{number}", "timestamp": number, "xml": xml}) + "\n")
    run = ("run", "q.xscl", "--events", "e.jsonl", "--batch", "10", "-o", "out.jsonl")
    run = (*run, "--state", "disk/s.duckdb")
    make_space(disk, "23m")
    around = partial(written_at, 16 << 20)
    failed(
        xscl(*run, at=folder, around=around),
        "s.duckdb cannot be written",
        "No space left on device",
    )
    make_space(disk, "64m")
    done = xscl(*run, at=folder, around=around)
    assert done.returncode == 0, done.stderr
    lines = (folder / "out.jsonl").read_text().splitlines()
    pairs = [json.loads(line)["documents"] for line in lines]
    assert pairs == [[f"d{number}", f"d{number + 1}"] for number in range(0, 180, 2)]
