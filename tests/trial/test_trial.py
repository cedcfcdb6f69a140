"""The trial of a new user shows what it is to show, and its matches are those of the rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.trial.rows import PARCELS
from tests.trial.trial import JOIN, ROWS, STEPS, lay_out, play
from tests.xscl.serve.asking import serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trial")
    lay_out(folder)
    return folder


@pytest.fixture(scope="module")
def parcels(folder: Path) -> dict[str, dict[str, datetime]]:
    """The moments of each parcel's events."""
    found = defaultdict[str, dict[str, datetime]](dict)
    for line in (folder / "rows.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found[row["parcel"]][row["event"]] = datetime.fromisoformat(row["time"])
    assert sum(map(len, found.values())) == 4 * PARCELS == 6_000
    return found


def test_what_is_shown(folder: Path) -> None:
    played = [*play(folder)]
    assert [step for step, _ in played] == [*STEPS]
    for step, done in played:
        assert done.returncode == step.code, done.stderr
        said = done.stdout + done.stderr
        assert [part for part in step.shows if part not in said] == [], said


def test_what_is_found(folder: Path, parcels: dict[str, dict[str, datetime]]) -> None:
    done = xscl("run", "queries.xscl", *ROWS, "-o", "found.jsonl", "--format", "jsonl", at=folder)
    assert done.returncode == 0, done.stderr
    assert "found nothing" not in done.stderr
    matches = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    counts = Counter(match["query"] for match in matches)
    back = {name for name, one in parcels.items() if "returned" in one}
    assert {m["result"]["parcel"] for m in matches if m["query"] == "returned"} == back
    most = timedelta(hours=47)
    late = {name for name, one in parcels.items() if one["shipped"] - one["packed"] > most}
    assert {m["result"]["parcel"] for m in matches if m["query"] == "stuck"} == late
    quick = [one for name, one in parcels.items() if name in back]
    quick = [one for one in quick if one["returned"] - one["ordered"] <= timedelta(days=4)]
    assert counts["steps"] == len(quick)
    assert {m["result"]["steps"] for m in matches if m["query"] == "steps"} == {4}
    busy = [m["result"]["orders"] for m in matches if m["query"] == "busy"]
    assert {*busy} == {50}
    times = [match["time"] for match in matches if match["query"] == "pace"]
    assert all(one <= other for one, other in pairwise(times))


def test_what_ask_shows(folder: Path) -> None:
    lines = (folder / "rows.jsonl").read_text("utf-8").splitlines()
    values = map(json.loads, lines)
    envelopes = [
        {"stream": "R", "id": one["id"], "timestamp": one["time"], "json": one} for one in values
    ]
    with serving(JOIN) as asking:
        asking.engine.publish_many(envelopes)
        tried = asking.post("/dry-run", text=JOIN)
        assert tried["matches"]
        assert tried["shown"]
        assert tried["problems"] == []
        assert tried["retained"] >= tried["documents"] > 0
        assert asking.post("/dry-run", text=JOIN.replace("parcel->p", "parcle->p"))["matches"] == []
        bad = asking.post("/check", text="EVENT SEQ(R a, !R b) WITHIN 7 dayz")
        assert [one["query"] for one in bad["errors"]] == ["q1"]
