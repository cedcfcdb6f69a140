"""A run that takes matches back while it is killed, over and over, writes what an undisturbed one
does: each match and each retraction once in a file, whatever came between the two."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.crash.harness import Undisturbed, courses
from tests.drawn import turn

QUERIES = """\
-- name: join
S/json[./k->k] FOLLOWED BY {k = l, 1 h} T/json[./k->l];
-- name: quiet
EVENT SEQ(S a, !S b, T c) WHERE a.k = b.k AND a.k = c.k WITHIN 1 h;
-- name: told
SELECT a.k AS k, c.v AS v FROM EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 30 min PUBLISH P;
-- name: over
EVENT SEQ(P a, !T b, S c) WHERE a.k = c.k WITHIN 1 h;
-- name: next
FILTER{v > 5}(S) NEXT{$1.k = $2.k} (SELECT k, v AS w FROM T);
-- name: counted
SELECT k, COUNT(*) AS n FROM WINDOW{10 min}(T) GROUP BY k PUBLISH N;
-- name: many
FILTER{n > 2}(N);
-- name: up
AUTOMATON {"events": {"s": "S", "t": "T"}, "by": ["k"], "within": "30 min", "final": ["high"],
  "register": {"n": 0}, "arcs": [
    {"from": "begin", "to": "on", "event": "s", "when": "s.v < 3", "set": "n = s.v"},
    {"from": "on", "to": "on", "event": "s", "kind": "ignore", "when": "s.v < 6"},
    {"from": "on", "to": "high", "event": "t", "when": "t.v > n + 5", "set": "n = t.v"}]}
"""
OPTIONS = ("--consistency", "middle", "--revisable", "S", "--revisable", "T")
PARTS = [
    [
        "evaluated:3", "within output:2", "before output:2", "before commit:3", "after commit:2",
        "after commit", "within commit:2", "within output:3", "after output", "evaluated",
        "before close",
    ],
    [
        "before output:2", "after output:3", "within commit:2", "within output", "evaluated:2",
        "after output:2", "after commit:3", "within commit:3", "before commit", "before close",
    ],
]  # fmt: skip
"""The points of two tests, each of which has all kinds."""


def write(folder: Path, documents: int) -> None:
    draw = random.Random(30)
    (folder / "q.xscl").write_text(QUERIES)
    recent: list[tuple[str, str]] = []
    with (folder / "e.jsonl").open("w") as lines:
        for number in range(documents):
            if recent and draw.random() < 0.08:
                stream, id = recent.pop(draw.randrange(len(recent)))
                lines.write(json.dumps({"retract": id, "stream": stream}) + "\n")
                continue
            stream, id = draw.choice("ST"), f"d{number}"
            time = 1_000_000 + 60 * number - draw.choice([0, 0, 0, 600, 3_000])
            value = {"k": draw.choice("xyz"), "v": draw.randrange(10)}
            line = {"id": id, "stream": stream, "timestamp": time, "json": value}
            lines.write(json.dumps(line) + "\n")
            recent = [*recent, (stream, id)][-40:]


@pytest.mark.drawn
@pytest.mark.parametrize("part", turn(range(2)))
def test_killed_runs_take_each_match_back_once(part: int, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    undisturbed = Undisturbed.of(tmp_path / "plain", 400, 28, write, OPTIONS)
    back = {json.loads(line)["query"] for line in undisturbed.lines if b'"retract"' in line}
    assert back == {"join", "quiet", "told", "over", "next", "counted", "many", "up"}
    points = PARTS[part]
    kills = 0
    for course in courses(undisturbed, tmp_path, points):
        assert course.faults(undisturbed) == []
        kills += len(course.kills)
    assert kills == len(points)
