"""`xscl serve` that is killed while it takes matches back: at named points of its transactions, so
between a match and its retraction, too.

Documents, late ones, and retractions are sent one a request, again where a request was not
answered.  After each start a reader continues behind the last event that it has.  In the end it has
had each match and each retraction, and lists and feeds have the matches that stand.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from tests.crash.harness import crashing
from tests.xscl.serve.asking import PATIENCE
from tests.xscl.serve.process import Served, served

__all__ = ["Served", "Serving", "kills", "lines", "run"]

QUERIES = """\
-- name: join
S/json[./k->k] FOLLOWED BY {k = l, 1 h} T/json[./k->l];
-- name: quiet
EVENT SEQ(S a, !S b, T c) WHERE a.k = b.k AND a.k = c.k WITHIN 1 h;
-- name: told
SELECT a.k AS k, c.v AS v FROM EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 30 min PUBLISH P;
-- name: over
EVENT SEQ(P a, !T b, S c) WHERE a.k = c.k WITHIN 1 h;
-- name: up
AUTOMATON {"events": {"s": "S", "t": "T"}, "by": ["k"], "within": "30 min", "final": ["high"],
  "register": {"n": 0}, "arcs": [
    {"from": "begin", "to": "on", "event": "s", "when": "s.v < 5", "set": "n = s.v"},
    {"from": "on", "to": "on", "event": "s", "kind": "ignore", "when": "s.v < 6"},
    {"from": "on", "to": "high", "event": "t", "when": "t.v > n", "set": "n = t.v"}]}
"""
OPTIONS = (
    "q.xscl", "--state", "s.duckdb", "--lateness", "INF", "--consistency", "middle",
    "--revisable", "S", "--revisable", "T",
)  # fmt: skip
POINTS = ("evaluated", "before commit", "within commit", "after commit")


def kills(number: int, of: int) -> list[str]:
    """So many points: each of them in turn, somewhere in a run of `of` lines."""
    draw = random.Random(number)
    most = max(2, of // number)
    return [f"{POINTS[at % len(POINTS)]}:{draw.randrange(2, most + 1)}" for at in range(number)]


def lines(number: int) -> list[dict[str, Any]]:
    """Documents of two streams, a third of them late, and retractions."""
    draw = random.Random(31)
    made: list[dict[str, Any]] = []
    recent: list[tuple[str, str]] = []
    for at in range(number):
        if recent and draw.random() < 0.15:
            stream, id = recent.pop(draw.randrange(len(recent)))
            made.append({"retract": id, "stream": stream})
            continue
        stream = draw.choice("ST")
        when = 1_000_000 + 60 * at - draw.choice([0, 0, 300])
        value = {"k": draw.choice("xy"), "v": draw.randrange(10)}
        made.append({"id": f"d{at}", "stream": stream, "timestamp": when, "json": value})
        recent = [*recent, (stream, f"d{at}")][-12:]
    return made


@dataclass
class Serving:
    """What was found: events by their places, and how often a place came; the ids that lists and
    the feed have in the end; how often the server was killed."""

    events: dict[str, str] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    listed: list[str] = field(default_factory=list)
    fed: set[str] = field(default_factory=set)
    killed: int = 0

    @property
    def reported(self) -> Counter[str]:
        """The matches and retractions of all places."""
        return Counter(self.events.values())

    @property
    def back(self) -> list[dict[str, Any]]:
        """The retractions."""
        some = map(json.loads, self.events.values())
        return [one for one in some if "retract" in one]

    @property
    def standing(self) -> Counter[str]:
        """The ids of the matches that are not taken back."""
        there = Counter[str]()
        for one in map(json.loads, self.events.values()):
            there[one.get("retract") or one["id"]] += -1 if "retract" in one else 1
        return +there

    def faults(self, undisturbed: Serving) -> list[str]:
        """In what it is other than what nothing has disturbed."""
        missing = undisturbed.reported - self.reported
        more = self.reported - undisturbed.reported
        found = [f"missing: {one}" for one in missing] + [f"too much: {one}" for one in more]
        if sorted(self.listed) != sorted(undisturbed.listed):
            found.append(f"a list of {len(self.listed)}, not {len(undisturbed.listed)}")
        if self.fed != undisturbed.fed:
            found.append(f"a feed of {len(self.fed)}, not {len(undisturbed.fed)}")
        return found


def run(folder: Path, sent: Sequence[dict[str, Any]], points: Sequence[str] = ()) -> Serving:
    """Serves in an empty folder, is killed at each of the points in turn, and sends all lines."""
    folder.mkdir()
    (folder / "q.xscl").write_text(QUERIES)
    found, left = Serving(), [*sent]
    waiting = [*points]
    last = ""
    while True:
        point = waiting[0] if waiting else ""
        with served(folder, *OPTIONS, environment=crashing(point)) as server:
            while left:
                if not _sent(server, left[0]):
                    break
                del left[0]
                # The reader keeps pace, at times: what it has not had, it has after the next start.
                if len(left) % 5 == 0:
                    last = _read(server, found, last)
            if server.command.ended(PATIENCE if left else 0.0):
                assert point, "the server has ended"
                found.killed += 1
                del waiting[0]
                continue
            assert not waiting, f"never at {waiting[0]}: too few lines"
            _read(server, found, last)
            found.listed = [*_listed(server)]
            entries = _get(server, "/streams/P/feed.json")["items"]
            found.fed = {one["id"] for one in entries}
            return found


def _sent(server: Served, line: dict[str, Any]) -> bool:
    """Sends a line; whether it was answered."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        try:
            body, headers = json.dumps(line) + "\n", {"Content-Type": "application/x-ndjson"}
            connection.request("POST", f"/streams/{line['stream']}", body.encode(), headers)
            answer = connection.getresponse()
            reported = answer.read()
        except (OSError, HTTPException):
            return False
    assert answer.status == 200, reported
    return True


def _get(server: Served, path: str) -> Any:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        reported = answer.read()
        assert answer.status == 200, reported
        return json.loads(reported)


def _listed(server: Served) -> Iterator[str]:
    """The ids of the matches of all pages; a page takes back what those before it had."""
    after, there = "", dict[str, None]()
    while (page := _get(server, f"/matches?limit=1000{after}"))["matches"]:
        for one in page["matches"]:
            if "retract" in one:
                there.pop(one["retract"], None)
            else:
                assert one["id"] not in there
                there[one["id"]] = None
        after = f"&after={page['next']}"
    yield from there


def _read(server: Served, found: Serving, last: str) -> str:
    """Reads the events behind a place, until none comes for a while; returns the last place."""
    after = last or "0-0"
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=0.3)) as connection:
        try:
            connection.request("GET", "/matches?live=1", headers={"Last-Event-ID": after})
            answer = connection.getresponse()
            for place, data in _events(answer):
                if data:
                    assert found.events.setdefault(place, data) == data
                    found.times[place] += 1
                last = place
        except (TimeoutError, OSError, HTTPException):
            pass
    return last


def _events(lines: Any) -> Iterator[tuple[str, str]]:
    """The place and the data of each event."""
    place, data = "", ""
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "id":
            place = value
        elif name == "data":
            data = value
        elif not name:
            if place:
                yield place, data
            place, data = "", ""
