"""Matches that a webhook or a command takes late, or not at all: each is handed over until it is
taken, and the outcome of each is known.  A second is a millisecond here."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.xscl.sinks.pace import A_SECOND, QUICK
from tests.xscl.web.loopback import Reply, Request, Server, serving
from xscl.sinks import deliveries as deliveries_module
from xscl.sinks.command import Command
from xscl.sinks.deliveries import Deliveries, Delivery, NotDelivered, Pace, Parcel
from xscl.sinks.webhook import Webhook


@dataclass
class Outcomes:
    """What became of matches, by id; `file` has those that are kept."""

    file: list[Parcel] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    given_up: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def hand_over(self, deliveries: Deliveries, matches: range) -> None:
        for number in matches:
            self.file.append(self.parcel(number))
            deliveries.put(self.file[-1])

    def parcel(self, number: int) -> Parcel:
        match = str(number)
        return Parcel(
            match,
            f'{{"id": "{match}"}}',
            lambda: self.done.append(match),
            lambda problem: self.given_up.__setitem__(match, problem),
            number,
        )

    def read(self, after: int, most: int) -> list[Parcel]:
        return [parcel for parcel in self.file if parcel.number > after][:most]

    def each_once(self, matches: range) -> None:
        assert sorted([*self.done, *self.given_up], key=int) == list(map(str, matches))


def through(
    deliver: Delivery, matches: range = range(20), *, kept: bool, pace: Pace = QUICK
) -> Outcomes:
    outcomes = Outcomes()
    deliveries = Deliveries(
        deliver,
        lambda match, problem: outcomes.failed.append(match),
        kept=outcomes.read if kept else None,
        pace=pace,
    )
    outcomes.hand_over(deliveries, matches)
    deliveries.close()
    outcomes.each_once(matches)
    return outcomes


def down_for(seconds: float, reply: Reply) -> tuple[Callable[[Request], Reply], list[bytes]]:
    """What answers so for some seconds after it was first asked, then takes all."""
    taken: list[bytes] = []
    began: list[float] = []

    def answer(request: Request) -> Reply:
        began.append(time.monotonic())
        if time.monotonic() < began[0] + seconds * A_SECOND:
            return reply
        taken.append(request.body)
        return Reply()

    return answer, taken


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    "reply",
    [Reply(500), Reply(503, (("Retry-After", b"0"),)), Reply(429), Reply(raw=b""), Reply(raw=b"x")],
    ids=["500", "503", "429", "no answer", "no HTTP"],
)
def test_an_outage_of_a_minute_loses_nothing(server: Server, reply: Reply, kept: bool) -> None:
    server.site["/hook"], taken = down_for(60, reply)
    found = through(Webhook.at(server.url("/hook"), b"x"), kept=kept)
    assert (len(found.done), found.given_up) == (20, {})
    assert {*taken} == {b'{"id": "%d"}' % number for number in range(20)}
    # While it takes none, it is asked with pauses that grow, not by every match.
    assert len(server.asked("/hook")) < 20 + 4 + 10


def test_nobody_is_there_at_first(server: Server) -> None:
    with serving() as other:
        gone = other.port
    hook = Webhook.at(f"http://127.0.0.1:{gone}/hook", b"x")
    assert len(through(hook, kept=False).given_up) == 20


def test_what_is_down_for_good_gives_each_back_in_two_minutes(server: Server) -> None:
    server.site["/hook"] = Reply(500)
    began = time.monotonic()
    found = through(Webhook.at(server.url("/hook"), b"x"), range(500), kept=False)
    assert not found.done
    assert {*found.given_up.values()} == {"the webhook answered 500"}
    assert time.monotonic() - began > 120 * A_SECOND
    assert len(server.asked("/hook")) < 20


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_refused_is_pending_alone_and_blocks_nothing(server: Server, kept: bool) -> None:
    def answer(request: Request) -> Reply:
        return Reply(400 if b'"7"' in request.body else 200)

    server.site["/hook"] = answer
    found = through(
        Webhook.at(server.url("/hook"), b"x"), kept=kept, pace=Pace(first=30.0, longest=60.0)
    )
    assert (len(found.done), found.given_up) == (19, {"7": "the webhook answered 400"})
    assert len(server.asked("/hook")) == 20


def test_what_is_kept_is_tried_for_as_long_as_the_run_continues(server: Server) -> None:
    """Refused or not, and however much of it there is: nothing is delayed."""
    server.site["/hook"] = lambda request: Reply(400 if b"1" in request.body else 500)
    outcomes = Outcomes()
    deliveries = Deliveries(
        Webhook.at(server.url("/hook"), b"x"), lambda *_: None, kept=outcomes.read, pace=QUICK
    )
    many = range(1200)
    outcomes.hand_over(deliveries, many)
    until(lambda: len(server.asked("/hook")) > 20)
    assert not outcomes.done
    assert not outcomes.given_up
    assert deliveries.last < 1000, "too many of them are in memory"
    server.site["/hook"] = Reply()
    until(lambda: len(outcomes.done) == len(many))
    deliveries.close()
    outcomes.each_once(many)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("closing", [True, False])
def test_in_a_hurry_none_is_tried_twice(server: Server, kept: bool, closing: bool) -> None:
    server.site["/hook"] = Reply(500)
    outcomes = Outcomes()
    deliveries = Deliveries(
        Webhook.at(server.url("/hook"), b"x"),
        lambda *_: None,
        kept=outcomes.read if kept else None,
        pace=Pace(first=3600.0, longest=3600.0),
    )
    outcomes.hand_over(deliveries, range(20))
    until(lambda: server.asked("/hook"))
    asked = len(server.asked("/hook"))
    began = time.monotonic()
    if closing:
        threading.Timer(0.05, deliveries.hurry).start()
    else:
        deliveries.hurry()
    deliveries.close()
    assert time.monotonic() - began < 600
    assert len(server.asked("/hook")) <= asked + 4
    outcomes.each_once(range(20))
    assert len(outcomes.given_up) == 20


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("up", [True, False])
def test_no_more_than_so_many_are_in_memory(up: bool, readable: bool) -> None:
    """Those that are left out are read where they are kept; the others have an outcome."""
    outcomes, down, tried = Outcomes(), threading.Event(), threading.Event()
    down.set()

    def deliver(match: str, body: bytes) -> None:
        if down.is_set():
            tried.set()
            raise NotDelivered("down")

    def read(after: int, most: int) -> list[Parcel]:
        if not readable:
            raise NotDelivered("no file")
        return outcomes.read(after, most)

    many = range(40)
    with mock.patch.object(deliveries_module, "_WAITING", 8):
        deliveries = Deliveries(deliver, lambda *_: None, kept=read, pace=QUICK)
        outcomes.hand_over(deliveries, many[:1])
        until(tried.is_set)
        outcomes.hand_over(deliveries, many[1:])
        assert deliveries.last < 8
        if up:
            down.clear()
        deliveries.close()
    retained = range(deliveries.last + 1)
    outcomes.each_once(retained)
    assert len(outcomes.done) == (len(retained) if up else 0)
    assert len(retained) == (len(many) if up and readable else 8)


def test_matches_of_earlier_runs_come_first_and_once() -> None:
    outcomes, taken = Outcomes(), list[str]()
    outcomes.file += map(outcomes.parcel, range(10))
    deliveries = Deliveries(
        lambda match, body: taken.append(match), lambda *_: None, kept=outcomes.read, at_once=1
    )
    deliveries.put_kept()
    outcomes.hand_over(deliveries, range(10, 15))
    deliveries.close()
    assert taken == list(map(str, range(15)))


def test_a_slow_taker_blocks_the_producer() -> None:
    go = threading.Event()
    handed: list[int] = []
    outcomes = Outcomes()
    deliveries = Deliveries(
        lambda match, body: go.wait() and None, lambda *_: None, kept=outcomes.read
    )

    def hand_over() -> None:
        for number in range(1500):
            outcomes.hand_over(deliveries, range(number, number + 1))
            handed.append(number)

    thread = threading.Thread(target=hand_over)
    thread.start()
    until(lambda: len(handed) == 1000)
    go.set()
    thread.join()
    deliveries.close()
    outcomes.each_once(range(1500))
    assert len(outcomes.done) == 1500


def test_a_command_is_run_again(tmp_path: Path) -> None:
    (tmp_path / "take.py").write_text(
        "import json, sys, pathlib\n"
        "match = json.load(sys.stdin)['id']\n"
        f"tried = pathlib.Path({str(tmp_path)!r}, match)\n"
        "tried.open('a').write('x')\n"
        "sys.exit(len(tried.read_text()) < 3)\n"
    )
    found = through(Command((sys.executable, f"{tmp_path}/take.py")), range(2), kept=False)
    assert sorted(found.done) == ["0", "1"]
    assert sorted(found.failed) == ["0", "1"]
    never = through(Command.of("false"), range(2), kept=True)
    assert never.given_up == dict.fromkeys("01", "false ended with 1")


def test_what_breaks_is_not_delivered() -> None:
    def broken(match: str, body: bytes) -> None:
        raise ValueError("a password")

    assert through(broken, range(2), kept=False).given_up == dict.fromkeys(
        "01", "ValueError while it was handed over"
    )


@drawn(100)
@given(
    st.lists(st.sampled_from(["taken", "refused", "down"]), min_size=1, max_size=40),
    st.integers(1, 30),
    st.booleans(),
    st.booleans(),
)
def test_each_has_one_outcome(fates: list[str], count: int, kept: bool, hurry: bool) -> None:
    """However the other side answers: done is what it took, given up what it did not take."""
    answers, lock = iter(fates), threading.Lock()
    taken: Counter[str] = Counter()

    def deliver(match: str, body: bytes) -> None:
        with lock:
            fate = next(answers, "taken")
            if fate == "taken":
                taken[match] += 1
                return
        raise NotDelivered(fate, refused=fate == "refused")

    pace = Pace(0.00001, 0.0001, tries=3)
    outcomes = Outcomes()
    read = outcomes.read if kept else None
    deliveries = Deliveries(deliver, lambda *_: None, kept=read, pace=pace)
    outcomes.hand_over(deliveries, range(count))
    if hurry:
        deliveries.hurry()
    deliveries.close()
    outcomes.each_once(range(count))
    assert taken == Counter(outcomes.done)


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not true():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.002)


@drawn(30)
@given(
    matches=st.lists(st.integers(0, 4), max_size=40),
    fails=st.lists(st.integers(0, 39), max_size=12),
    kept=st.booleans(),
)
def test_what_is_of_one_match_comes_in_its_order(
    matches: list[int], fails: list[int], kept: bool
) -> None:
    """A match, that it is taken back, and the match again."""
    taken: list[tuple[str, int]] = []
    left = Counter(fails)
    outcomes: list[int] = []
    lock = threading.Lock()

    def take(match: str, body: bytes) -> None:
        number = int(body)
        with lock:
            if left[number]:
                left[number] -= 1
                raise NotDelivered("busy")
            taken.append((match, number))

    file = [
        Parcel(f"m{match}", f"{number}", partial(outcomes.append, number), print, number)
        for number, match in enumerate(matches)
    ]
    deliveries = Deliveries(
        take,
        lambda match, problem: None,
        kept=(lambda after, most: [one for one in file if one.number > after][:most])
        if kept
        else None,
        pace=QUICK,
    )
    for one in file:
        deliveries.put(one)
    deliveries.close()
    assert sorted(outcomes) == [*range(len(matches))]
    for match in {one for one, _ in taken}:
        of = [number for one, number in taken if one == match]
        assert of == sorted(of)


def test_a_command_is_over_when_it_ends(capfd: pytest.CaptureFixture[str]) -> None:
    """Not when all that it has begun has; what it says is said."""
    began = time.monotonic()
    Command(("sh", "-c", "cat; echo note >&2; sleep 60 & exit 0"), 30.0)("m", b"{}")
    assert time.monotonic() - began < 25
    said = capfd.readouterr().err
    assert "{}" in said
    assert "note" in said
    with pytest.raises(NotDelivered, match="sh ended with 3: no") as refused:
        Command(("sh", "-c", "echo no >&2; exit 3"), 30.0)("m", b"{}")
    assert refused.value is not None


def test_a_command_that_is_ended_takes_along_what_it_has_begun(tmp_path: Path) -> None:
    there = tmp_path / "there"
    script = f"(sleep 3; touch {there}) & sleep 60"
    with pytest.raises(NotDelivered, match=r"ran for more than 0\.5 s"):
        Command(("sh", "-c", script), 0.5)("m", b"{}")
    time.sleep(4)
    assert not there.exists()
