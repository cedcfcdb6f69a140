"""A run whose automata change while it is killed, over and over, finds what an undisturbed one
does: the arcs with their lives, and what punctuations promise, are in the state file."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.crash.harness import Undisturbed, courses

AUTOMATON = {
    "events": {"e": "S"},
    "by": ["k"],
    "within": "2 h",
    "register": {"n": 0},
    "start": "begin",
    "final": ["high"],
    "arcs": [
        {"from": "begin", "to": "on", "event": "e", "when": "e.v < 3", "set": "n = e.v"},
        {"from": "on", "to": "on", "event": "e", "kind": "ignore", "when": "e.v < 6"},
        {"from": "on", "to": "high", "event": "e", "when": "e.v > n + 5", "set": "n = e.v"},
    ],
}
POINTS = ["evaluated:3", "before commit:3", "within commit:2", "after commit:3", "before close"]


def write(folder: Path, documents: int) -> None:
    draw = random.Random(11)
    (folder / "q.xscl").write_text(f"-- name: up\nAUTOMATON {json.dumps(AUTOMATON)}")
    lines = []
    for number in range(documents):
        time = 1_000_000 + 60 * number
        if number % 25 == 24:
            arc = {"from": "on", "to": "high", "event": "e", "when": f"e.v > n + {number % 4 + 3}"}
            if number % 50 == 49:
                arc["when"] += f" AND e.a{number} = 1"
            line = {"automaton": "up", "replace": "a2", "with": arc}
        elif number % 40 == 39:
            line = {"advance": time + 6_000, "where": f"S/json[v = {number % 9}]"}
        else:
            late = draw.choice([0, 0, 0, 3_000])
            value = {
                "k": draw.choice("xyz"),
                "v": draw.randrange(10),
                f"a{number // 50 * 50 - 1}": 1,
            }
            line = {"stream": "S", "timestamp": time - late, "json": value}
        lines.append(f"{json.dumps(line)}\n")
    (folder / "e.jsonl").write_text("".join(lines))


def test_killed_runs_know_the_arcs(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    undisturbed = Undisturbed.of(tmp_path / "plain", 1_000, 100, write)
    assert len(undisturbed.lines) > 50
    skipped = undisturbed.numbers["skipped"]
    assert isinstance(skipped, dict)
    assert skipped["late"] > 100
    assert not skipped["malformed"]
    kills = 0
    for course in courses(undisturbed, tmp_path, POINTS):
        assert course.faults(undisturbed) == []
        kills += len(course.kills)
    assert kills == len(POINTS)
