"""A run that is killed anywhere, over and over, finds what an undisturbed one does: byte for byte
in a file, each match once in counts, each match at least once on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.crash.conftest import DOCUMENTS
from tests.crash.harness import STATE, Undisturbed, courses, moments
from tests.drawn import turn
from xscl.durable.points import POINTS

EARLY = [
    "making", "opened", "evaluated", "before output", "within output", "after output",
    "before commit", "before commit:2", "before commit:3", "within commit", "within commit:2",
    "within commit:3", "after commit", "after commit:2", "before delivery", "after delivery",
]  # fmt: skip
"""At the start: the first transactions are those of the queries and of an empty file."""

LATER = [
    "evaluated:3", "before output:2", "within output:3", "after output:4", "before commit:2",
    "within commit:2", "after commit:3", "before delivery:2", "after delivery:2", "opened",
    "before close", "before close",
]  # fmt: skip


def test_each_point_is_met() -> None:
    met = {point.partition(":")[0] for point in (*EARLY, *LATER)}
    assert met == set(POINTS)


def test_killed_at_each_point_a_file_has_each_match_once(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    (course,) = courses(undisturbed, tmp_path, [*EARLY, *LATER])
    assert course.faults(undisturbed) == []
    assert len(course.kills) == len(EARLY) + len(LATER)
    # It continues, never goes back.
    assert list(course.kills) == sorted(course.kills)


def test_killed_at_any_moment_a_file_has_each_match_once(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Whether each batch is written immediately, or several together."""
    kills: list[int] = []
    more = (*STATE, "-o", "out.jsonl")
    for name, delay in (("each", ()), ("together", ("--commit-every", "1 s"))):
        (tmp_path / name).mkdir()
        some = moments(4, undisturbed.seconds, seed=8)
        for course in courses(undisturbed, tmp_path / name, some, (*more, *delay)):
            assert course.faults(undisturbed) == []
            kills += course.kills
    # Some fall into the midst, where there are documents in the state and others to come.
    assert any(0 < taken < DOCUMENTS for taken in kills), kills


@pytest.mark.drawn
@pytest.mark.parametrize("point", turn(["within output", "within commit:2", "after commit:2"]))
def test_killed_at_one_point_in_run_after_run(
    undisturbed: Undisturbed, tmp_path: Path, point: str
) -> None:
    (course,) = courses(undisturbed, tmp_path, [point] * 4)
    assert course.faults(undisturbed) == []


def test_killed_runs_count_each_match_once(undisturbed: Undisturbed, tmp_path: Path) -> None:
    counts = ("--format", "counts")
    plain = xscl(*undisturbed.run, *counts, at=undisturbed.folder).stdout
    kills = ["before commit:2", "within commit:3", "after commit:3", "before close"]
    (course,) = courses(undisturbed, tmp_path, kills, (*STATE, *counts))
    # They are written out before the state is closed.
    assert course.outputs == (*[""] * 3, plain, plain)


def test_killed_runs_report_each_match_at_least_once(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    kills = ["evaluated", "before commit:2", "within commit:3", "after commit:3", "before close"]
    (course,) = courses(undisturbed, tmp_path, kills, STATE)
    # A line that a kill has torn is written whole by the run after it.
    lines = "".join(output[: output.rfind("\n") + 1] for output in course.outputs).splitlines()
    assert {json.loads(line)["id"]: line.encode() for line in lines} == {
        json.loads(line)["id"]: line for line in undisturbed.lines
    }
    assert len(lines) > len(undisturbed.lines)
