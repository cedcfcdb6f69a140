"""What a power cut leaves: whatever a state says is on the disk was forced to it before, and a file
is put in another's place only when it is there whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from xscl.cli.main import cli
from xscl.durable.changes import Changes
from xscl.durable.state_file import StateFile

QUERY = "-- name: pair\nS//a->x FOLLOWED BY {x = y} S//b->y"
FORMS = ["jsonl", "atom", "jsonfeed"]
STATE = ["--state", "s.duckdb", "-o", "out"]


@dataclass
class Disk:
    """What was forced to the disk: the bytes of each file, by its inode; and in which order files
    were forced, put in place, and transactions written."""

    forced: dict[int, bytes] = field(default_factory=dict)
    steps: list[tuple[str, str]] = field(default_factory=list)

    def has(self, path: Path | str) -> bytes:
        """What a power cut would leave of a file, at least."""
        return self.forced.get(os.stat(path).st_ino, b"")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """All that is done is done, and noted."""
    disk = Disk()
    fsync: Callable[[int], None] = os.fsync
    commit: Callable[..., None] = StateFile.commit

    def forcing(number: int) -> None:
        fsync(number)
        path = os.readlink(f"/proc/self/fd/{number}")
        if os.path.isfile(path):
            disk.forced[os.fstat(number).st_ino] = Path(path).read_bytes()
            disk.steps.append(("forced", Path(path).name))

    def placing(place: Callable[..., None]) -> Callable[..., None]:
        def placed(source: str, target: str, **options: Any) -> None:
            assert disk.has(source) == Path(source).read_bytes(), f"{source} is not on the disk"
            place(source, target, **options)
            disk.steps.append(("placed", Path(target).name))

        return placed

    def committing(file: StateFile, changes: Changes, *more: Any) -> None:
        for path, length in changes.outputs.items():
            assert len(disk.has(path)) >= length, f"{path} is on the disk only in part"
            assert disk.has(path)[:length] == Path(path).read_bytes()[:length]
        commit(file, changes, *more)
        if changes.inputs:
            disk.steps.append(("written", file.path.name))

    monkeypatch.setattr(os, "fsync", forcing)
    for name in ("replace", "link"):
        monkeypatch.setattr(os, name, placing(getattr(os, name)))
    monkeypatch.setattr(StateFile, "commit", committing)
    return disk


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.xscl").write_text(QUERY)

    def run(form: str) -> None:
        with open("e.jsonl", "a") as file:
            for number in range(40):
                xml = f"<{'ab'[number % 2]}>{number // 4}</{'ab'[number % 2]}>"
                file.write(json.dumps({"timestamp": number, "xml": xml}) + "\n")
        done = CliRunner().invoke(
            cli,
            ["run", "q.xscl", "--events", "e.jsonl", "--batch", "10", "--format", form, *STATE],
        )
        assert done.exit_code == 0, done.output

    return run


@pytest.mark.parametrize("form", FORMS)
def test_matches_are_on_the_disk_before_the_state_says_so(
    form: str, run: Callable[[str], None], disk: Disk
) -> None:
    for _ in range(2):
        run(form)
        assert disk.has("out") == Path("out").read_bytes()
    steps = [kind for kind, name in disk.steps if name != "s.duckdb" or kind == "written"]
    steps = steps[steps.index("written") - (1 if form == "jsonl" else 2) :]
    each = ["forced", "written"] if form == "jsonl" else ["forced", "placed", "written"]
    assert steps == each * 8


def test_a_state_is_on_the_disk_before_it_has_its_name(
    run: Callable[[str], None], disk: Disk
) -> None:
    run("jsonl")
    assert ("placed", "s.duckdb") in disk.steps
    disk.steps.clear()
    assert CliRunner().invoke(cli, ["state", "s.duckdb", "--compact"]).exit_code == 0
    assert ("placed", "s.duckdb") in disk.steps
