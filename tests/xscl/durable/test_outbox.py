"""What a webhook or a command has not taken: it stays in the state, is shown, and is tried again;
without a state it becomes a dead letter, or is said to be lost.  Never is the exit code 0."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner, Result

import xscl
from tests.xscl.cli.test_watch import FIRST, SECOND
from tests.xscl.sinks.pace import quickly
from tests.xscl.sinks.test_deliveries import down_for
from tests.xscl.web.loopback import Reply, Request, Server, serving
from xscl.cli.main import cli
from xscl.durable.outbox import Outbox
from xscl.sinks import deliveries
from xscl.sinks.deliveries import Delivery, NotDelivered

QUERIES = """\
-- name: follow-up
SELECT <pair>{a/title}{b/title}</pair> FROM
S//item->a[./link->x] FOLLOWED BY {x = y, 7 days} R//item->b[./link->y];
-- name: all
S//item
"""
BOTH = {"all", "follow-up"}
SECRET = "s3cr3t"

TAKE = """\
import pathlib, sys
if not pathlib.Path("up").exists():
    sys.exit("not now")
with open("taken.jsonl", "a") as file:
    file.write(sys.stdin.read() + "\\n")
"""


@dataclass
class Place:
    """A folder with queries, a server with feeds and a webhook, and a command: both takers are up
    or down."""

    folder: Path
    server: Server
    posted: list[Request] = field(default_factory=list)

    def take(self, request: Request) -> Reply:
        if not (self.folder / "up").exists():
            return Reply(500)
        self.posted.append(request)
        return Reply()

    def taker(self, sink: str) -> tuple[str, str]:
        if sink == "webhook":
            return "--webhook", self.server.url("/hook")
        return "--exec", f"{sys.executable} take.py"

    def taken(self) -> list[dict[str, object]]:
        file = self.folder / "taken.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in [*(one.body for one in self.posted), *lines]]

    def watch(self, *more: str) -> Result:
        feeds = (f"S={self.server.url('/s')}", f"R={self.server.url('/r', 'localhost')}")
        arguments = ["watch", "q.xscl", "--feed", feeds[0], "--feed", feeds[1], "--allow-private"]
        with quickly():
            done = CliRunner().invoke(cli, [*arguments, *more], standalone_mode=False)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    def once(self, *more: str) -> Result:
        return self.watch("--once", *more)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.xscl").write_text(QUERIES)
    (tmp_path / "take.py").write_text(TAKE)
    with serving() as server:
        place = Place(tmp_path, server)
        server.site |= {"/s": Reply(body=FIRST), "/r": Reply(body=SECOND), "/hook": place.take}
        yield place


def state() -> tuple[dict[str, object], str]:
    reported = CliRunner().invoke(cli, ["state", "s.duckdb", "--format", "json"]).stdout
    shown = CliRunner().invoke(cli, ["state", "s.duckdb"], env={"COLUMNS": "200"}).stdout
    return json.loads(reported), shown


@pytest.mark.parametrize("sink", ["exec", "webhook"])
def test_what_was_not_taken_is_in_the_state_for_the_next_start(place: Place, sink: str) -> None:
    arguments = ("--state", "s.duckdb", *place.taker(sink))
    for _ in range(2):
        done = place.once(*arguments)
        assert done.return_value == 4
        kept = f"not delivered by --{sink}: 2 matches, kept in the state; the next run tries again"
        assert kept in done.stderr
        reported, shown = state()
        assert reported["undelivered"] == 2
        assert reported["waiting"] == [
            {"sink": sink, "query": query, "matches": 1} for query in sorted(BOTH)
        ]
        assert all(query in shown and sink in shown for query in BOTH)
        assert not place.taken()
    # A run without it leaves them pending, and says so.
    done = place.once("--state", "s.duckdb")
    assert done.return_value == 0
    assert f"waiting for --{sink}, which is not given: 2 matches" in done.stderr
    (place.folder / "up").touch()
    done = place.once(*arguments)
    assert (done.return_value, state()[0]["undelivered"]) == (0, 0), done.stderr
    assert {match["query"] for match in place.taken()} == BOTH
    assert place.once(*arguments).return_value == 0
    assert len(place.taken()) == 2


def test_an_outage_leaves_all_but_some_in_the_state_alone(tmp_path: Path) -> None:
    """A run while the other side is down, one with more of them, then one when it is up."""
    taken: list[str] = []
    tried = threading.Event()

    def down(match: str, body: bytes) -> None:
        tried.set()
        raise NotDelivered("down")

    def run(taker: Delivery, documents: range) -> tuple[int, list[str]]:
        said: list[str] = []
        with xscl.Engine(tmp_path / "s.duckdb") as engine, quickly():
            if not engine.subscriptions:
                engine.subscribe("S//item", name="all")
            outbox = Outbox(engine.keeper, {"webhook": taker}, said.append)
            outbox.hand_over_again()
            for number in documents:
                with engine.transaction():
                    waiting = outbox.keep(engine.publish("S", f"<item>{number}</item>"))
                outbox.hand_over(waiting)
                tried.wait()
            return outbox.close(), said

    with mock.patch.object(deliveries, "_WAITING", 4):
        assert run(down, range(20))[0] == 20
        left, said = run(down, range(20, 30))
        assert left == 30
        assert "30 matches, kept in the state" in said[-1]
        assert run(lambda match, body: taken.append(match), range(30, 40)) == (0, [])
    assert len({*taken}) == len(taken) == 40


@pytest.mark.parametrize("kept", [("--state", "s.duckdb"), ()])
def test_a_webhook_that_is_down_for_a_minute_gets_all(place: Place, kept: tuple[str, ...]) -> None:
    place.server.site["/hook"], taken = down_for(60, Reply(503))
    done = place.once(*kept, *place.taker("webhook"))
    assert done.return_value == 0, done.stderr
    assert "is not delivered by --webhook yet: the webhook answered 503" in done.stderr
    assert {json.loads(body)["query"] for body in taken} == BOTH


def test_what_is_down_for_longer_is_tried_while_the_watch_runs(place: Place) -> None:
    """For longer than a match would be tried at the end of a run."""
    tries = 0

    def take(request: Request) -> Reply:
        nonlocal tries
        tries += 1
        if tries < 30:
            return Reply(500)
        place.posted.append(request)
        if len(place.posted) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return Reply()

    place.server.site["/hook"] = take
    done = place.watch("--state", "s.duckdb", *place.taker("webhook"))
    assert done.return_value == 130, done.stderr
    assert {match["query"] for match in place.taken()} == BOTH
    assert state()[0]["undelivered"] == 0


@pytest.mark.parametrize("sink", ["exec", "webhook"])
def test_without_a_state_it_becomes_a_dead_letter(place: Place, sink: str) -> None:
    done = place.once(*place.taker(sink), "--dead-letters", "dead.jsonl")
    assert done.return_value == 4
    assert f"not delivered by --{sink}: 2 matches, written to dead.jsonl" in done.stderr
    letters = [json.loads(line) for line in Path("dead.jsonl").read_text().splitlines()]
    problem = "the webhook answered 500" if sink == "webhook" else "not now"
    assert {letter["match"]["query"] for letter in letters} == BOTH
    assert all(letter["sink"] == sink and problem in letter["reason"] for letter in letters)


@pytest.mark.parametrize("dead", [(), ("--dead-letters", "/dev/full")])
def test_without_either_it_is_lost_and_that_is_said(place: Place, dead: tuple[str, ...]) -> None:
    done = place.once(*place.taker("webhook"), *dead)
    assert done.return_value == 4
    lost = "not delivered by --webhook: 2 matches, lost; --state keeps them for the next run"
    assert lost in done.stderr


def test_one_that_is_refused_is_in_the_state(place: Place) -> None:
    place.server.site["/hook"] = lambda request: Reply(410 if b"follow-up" in request.body else 200)
    done = place.once("--state", "s.duckdb", *place.taker("webhook"))
    assert done.return_value == 4
    assert state()[0]["waiting"] == [{"sink": "webhook", "query": "follow-up", "matches": 1}]


def secretly(place: Place, by: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    lines = f"# Ours.\n\nAuthorization: Bearer {SECRET}\nX-Channel: news\n"
    if by == "environment":
        monkeypatch.setenv("XSCL_WEBHOOK_HEADERS", lines)
        return ()
    Path("headers.txt").write_text(lines)
    return "--webhook-headers", "headers.txt"


@pytest.mark.parametrize(("by", "up"), [("file", True), ("environment", False)])
def test_headers_are_sent_and_never_shown(
    place: Place, by: str, up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = secretly(place, by, monkeypatch)
    if up:
        (place.folder / "up").touch()
    hook = ("--webhook", place.server.url("/hook").replace("//", f"//me:{SECRET}@"))
    done = place.once("--state", "s.duckdb", *hook, *arguments)
    assert done.return_value == (0 if up else 4)
    for request in place.server.asked("/hook"):
        assert request.headers["authorization"] == f"Bearer {SECRET}".encode()
        assert request.headers["x-channel"] == b"news"
        assert request.headers["content-type"] == b"application/json"
    assert SECRET not in done.output + done.stderr + state()[1]
    for file in place.folder.iterdir():
        if file.name != "headers.txt":
            assert SECRET.encode() not in file.read_bytes()


def test_the_note_of_who_holds_a_state_shows_no_password(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = place.server.url("/hook").replace("//", f"//me:{SECRET}@")
    notes: list[str] = []

    def take(request: Request) -> Reply:
        notes.append(Path("s.duckdb.holder").read_text())
        return Reply()

    place.server.site["/hook"] = take
    monkeypatch.setattr(sys, "argv", ["xscl", "watch", "--webhook", hook])
    assert place.once("--state", "s.duckdb", "--webhook", hook).return_value == 0
    assert "xscl watch --webhook http://127" in notes[0]
    assert SECRET not in notes[0]


@pytest.mark.parametrize(
    ("form", "headers", "check"),
    [
        (
            '{"text": "$query: ${result}", "all": "$match", "when": "$time", "n": [1, "$$"]}',
            "",
            lambda sent, match: (
                json.loads(sent)
                == {
                    "text": f"{match['query']}: {match['result']}",
                    "all": match,
                    "when": match["time"],
                    "n": [1, "$"],
                }
            ),
        ),
        (
            "$query at $time\n",
            "Content-Type: text/plain",
            lambda sent, match: sent == f"{match['query']} at {match['time']}\n".encode(),
        ),
    ],
)
def test_a_body_has_the_form_that_is_given(
    place: Place, form: str, headers: str, check: Callable[[bytes, dict[str, object]], bool]
) -> None:
    (place.folder / "up").touch()
    Path("form").write_text(form)
    Path("headers").write_text(headers)
    files = ("--webhook-body", "form", "--webhook-headers", "headers")
    assert place.once(*place.taker("webhook"), *files, "-o", "m.jsonl").return_value == 0
    for request in place.posted:
        id = request.headers["idempotency-key"].decode()
        lines = map(json.loads, Path("m.jsonl").read_text().splitlines())
        (match,) = (match for match in lines if match["id"] == id)
        assert check(request.body, match), request.body


WRONG = {
    "no header": ("headers", f"A: b\n{SECRET}", "line 2: it is no header; write Name: value"),
    "a control character": ("headers", f"A: {SECRET}\x01", "line 1: it is no header"),
    "a letter beyond ASCII": ("headers", f"A: {SECRET}é", "line 1: it is no header"),
    "ours": ("headers", f"Host: {SECRET}", "the header Host is not yours to set"),
    "twice": ("headers", f"A: {SECRET}\na: {SECRET}", "the header a is there twice"),
    "no JSON": ("body", '{"text": $query}', "is no JSON"),
    "an unknown name": ("body", '{"text": "$title"}', "a match has no 'title'; there are: id"),
    "a lone dollar": ("body", '{"text": "5 $"}', "a $ is no placeholder"),
    "no text": ("body", "\udcff", "is no UTF-8 text"),
}


@pytest.mark.parametrize(("option", "content", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_sent_is_reported_before_anything_is(
    place: Place, option: str, content: str, said: str
) -> None:
    Path("wrong").write_bytes(content.encode("utf-8", "surrogateescape"))
    arguments = ["watch", "q.xscl", "--feed", "S=http://a.invalid/", "--once"]
    option = f"--webhook-{option}"
    done = CliRunner().invoke(cli, [*arguments, "--webhook", "http://b.invalid", option, "wrong"])
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert f"{option} wrong" in done.stderr
    assert SECRET not in done.stderr
    lone = CliRunner().invoke(cli, [*arguments, option, "wrong"])
    assert (lone.exit_code, f"{option} is for --webhook" in lone.stderr) == (2, True)
    none = CliRunner().invoke(cli, [*arguments, "--webhook", "http://b.invalid", option, "none"])
    assert (none.exit_code, f"{option} none cannot be read" in none.stderr) == (2, True)
