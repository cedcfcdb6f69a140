"""Ingestions that are killed: `xscl ingest` reads feeds that scroll by, dies of SIGKILL at chosen
moments with Java and all workers, starts again and ends in order at last; then what is there is
counted against what was served.

The moments are stages in the processing of a body, each with a seeded delay: the two jobs are met
in all they do, whatever the machine's speed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.xscl.spark.java import QUICK
from tests.xscl.spark.landed import (
    Body,
    committed,
    landed_bodies,
    spooled_bodies,
    spooled_upto,
)
from tests.xscl.spark.scrolling_feeds import ScrollingFeeds, scrolling

__all__ = ["STAGES", "Account", "Kill", "Moment", "Running", "highest", "killed", "moments"]

STAGES = ("fetched", "spooled", "landed", "planned", "written", "done")
"""A feed was served; its body spooled, landed; a batch of items planned, begun to be written (its
folder is there), done."""

_XSCL = Path(sys.executable).with_name("xscl")
_CONTINUING = ["--every", "1s", "--trigger", "1s"]
_MARK = "XSCL_KILLED_TOGETHER"
_PATIENCE = 300.0
"""Seconds after which an ingestion that does nothing is given up; far beyond what is needed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: `delay` seconds after a stage is first reached in a run, which is one with
    `--once` or continues by itself."""

    stage: str
    delay: float
    once: bool = False


@dataclass(frozen=True, slots=True)
class Kill:
    """What was killed, and how far it was: bodies spooled and landed, items in whole batches,
    batches that were planned and are not done."""

    moment: Moment
    processes: int
    spooled: int
    landed: int
    items: int
    open_batches: int


@dataclass(frozen=True, slots=True)
class Account:
    """Where the items are in the end: in the output exactly once (`ingested`), in responses alone
    that never reached the spool (`in_flight`), or in none (`never_served`).  `faults` is what must
    not be, in words."""

    bodies: int
    ingested: int
    in_flight: int
    never_served: int
    kills: tuple[Kill, ...]
    faults: tuple[str, ...]

    @property
    def total(self) -> int:
        """All items, if each is in one of the three places."""
        return self.ingested + self.in_flight + self.never_served

    def __str__(self) -> str:
        return (
            f"{self.bodies:,} bodies spooled; of {self.total:,} items {self.ingested:,} in them, "
            f"{self.in_flight:,} served in responses that were under way at a kill alone, "
            f"{self.never_served:,} never served"
        )


def moments(count: int, *, seed: int, once: int = 0) -> list[Moment]:
    """As many moments, spread over the stages; `once` of them in runs with `--once`."""
    chance = random.Random(seed)
    stages = (list(STAGES) * (1 + count // len(STAGES)))[:count]
    if count < len(STAGES):
        stages = chance.sample(STAGES, count)
    chance.shuffle(stages)
    found = [
        Moment(stage, round(chance.uniform(0.0, 0.6), 3), number < once)
        for number, stage in enumerate(stages)
    ]
    chance.shuffle(found)
    return found


def killed(
    folder: Path,
    feeds: ScrollingFeeds,
    at: Sequence[Moment],
    *,
    lapse: int,
    seed: int,
    continuing: bool = True,
    on_kill: Callable[[Kill], object] = lambda kill: None,
    last: Callable[[Sequence[str]], object] | None = None,
) -> Account:
    """Ingests the feeds into a folder, killed at these moments; at each, up to `lapse` items
    appear before the next start, half of them at least; the others by equal parts in the runs, of
    which the last but one is ended by SIGTERM; unless it is `continuing`, the rest at once.  The
    `last` run is the caller's, from the options of `xscl ingest`, or a process as the others are.
    """
    chance = random.Random(seed)
    to = folder / "to"
    kills: list[Kill] = []
    spooled: list[Body] = []
    with scrolling(feeds):
        subscriptions = folder / "feeds.opml"
        subscriptions.write_text(_opml(feeds.addresses))

        common = ("--sources", str(subscriptions), "--to", str(to), "--allow-private")
        common = (*common, "--master", "local[1]", *QUICK)

        def run(*options: str) -> Running:
            return Running(["ingest", *common, *options], folder / "stderr")

        for number, moment in enumerate(at, 1):
            feeds.continue_(upto=feeds.total * number // (len(at) + 1))
            reached = _stage(moment.stage, to, feeds)
            with run(*(["--once"] if moment.once else _CONTINUING)) as running:
                running.until(reached)
                time.sleep(moment.delay)
                processes = running.kill()
            feeds.halt(chance.randint(lapse // 2, lapse))
            spooled += spooled_bodies(to)
            kills.append(_kill(moment, processes, to))
            on_kill(kills[-1])
        feeds.continue_(upto=feeds.total)
        if continuing:
            with run(*_CONTINUING) as running:
                running.until(lambda: feeds.appeared == feeds.total)
                running.end(signal.SIGTERM, expected=0)
        feeds.halt(0 if continuing else feeds.total)
        if last is not None:
            last([*common, "--once"])
        else:
            with run("--once") as running:
                running.end(None, expected=0)
    return _account(to, feeds, spooled, tuple(kills))


def _stage(name: str, to: Path, feeds: ScrollingFeeds) -> Callable[[], bool]:
    """Whether a stage has been reached from now on: its count is higher than it is."""
    checkpoint = to / "checkpoints" / "items"
    counts: dict[str, Callable[[], int]] = {
        "fetched": lambda: len(feeds.responses),
        "spooled": lambda: spooled_upto(to),
        "landed": lambda: highest(to / "landing" / "_spark_metadata"),
        "planned": lambda: highest(checkpoint / "offsets"),
        "written": lambda: len(list(to.glob("items/batch=*"))),
        "done": lambda: highest(checkpoint / "commits"),
    }
    count = counts[name]
    before = count()
    return lambda: count() > before


class Running:
    """A command of `xscl`, as a context manager; all processes that it starts have a mark in their
    environment, even if their parent has changed."""

    def __init__(self, words: Sequence[str], said: Path) -> None:
        self._mark = f"{_MARK}={uuid.uuid4().hex}"
        self._said = said
        self._command = [str(_XSCL), *words]

    def __enter__(self) -> Running:
        name, _, value = self._mark.partition("=")
        proxies = ("http_proxy", "https_proxy", "all_proxy")
        environment = {k: v for k, v in os.environ.items() if k.lower() not in proxies}
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                self._command,
                env={**environment, name: value},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def until(self, reached: Callable[[], bool]) -> None:
        """Waits; the ingestion must not end before."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            # Asked first: it may do both together.
            ended = self._process.poll() is not None
            if reached():
                return
            assert not ended, self._message("it ended by itself")
            assert time.monotonic() < deadline, self._message("it does nothing")
            time.sleep(0.005)

    def end(self, number: signal.Signals | None, *, expected: int) -> None:
        """Waits for its end, which a signal may bring about, and all its processes'."""
        if number is not None:
            self._process.send_signal(number)
        code = self._process.wait(_PATIENCE)
        assert code == expected, self._message(f"it ended with {code}")
        deadline = time.monotonic() + _PATIENCE
        while _marked(self._mark):
            assert time.monotonic() < deadline, self._message("processes are left")
            time.sleep(0.05)

    def kill(self) -> int:
        """Kills all of its processes together; returns how many there were."""
        killed = set()
        while found := _marked(self._mark):
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            killed |= found
            time.sleep(0.01)
        self._process.wait()
        return len(killed)

    def _message(self, problem: str) -> str:
        return f"{problem}: {' '.join(self._command)}\n{self._said.read_text()}"


def _marked(mark: str) -> set[int]:
    """The processes that live with this in their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


def _kill(moment: Moment, processes: int, to: Path) -> Kill:
    checkpoint = to / "checkpoints" / "items"
    return Kill(
        moment,
        processes,
        spooled_upto(to),
        len(landed_bodies(to)),
        len(committed(to, "items")),
        highest(checkpoint / "offsets") - highest(checkpoint / "commits"),
    )


def highest(log: Path) -> int:
    """How many entries one of Spark's logs has had."""
    names = (path.name.removesuffix(".compact") for path in log.glob("[0-9]*"))
    return 1 + max((int(name) for name in names if name.isdecimal()), default=-1)


def _account(
    to: Path, feeds: ScrollingFeeds, spooled: Sequence[Body], kills: tuple[Kill, ...]
) -> Account:
    landed = landed_bodies(to)
    items = [(row["feed"], row["guid"]) for row in committed(to, "items")]
    every, counted = set(feeds.items()), Counter(items)
    in_spool = {(body.feed, guid) for body in landed for guid in body.guids}
    served = {(response.feed, guid) for response in feeds.responses for guid in response.items}
    return Account(
        bodies=len(landed),
        ingested=len(in_spool & counted.keys()),
        in_flight=len(served - in_spool),
        never_served=len(every - served),
        kills=kills,
        faults=(
            *_faults_of_landing(to, feeds, landed, spooled),
            *_some("items of spooled bodies are missing", in_spool - counted.keys()),
            *_some("items are of no spooled body", counted.keys() - in_spool),
            *_some("items come twice", {item for item, n in counted.items() if n > 1}),
            *_some("items were never served", in_spool - served),
            *_some("items that are still shown are missing", feeds.showing() - in_spool),
            *_some("items are dead letters", committed(to, "dead")),
        ),
    )


def _faults_of_landing(
    to: Path, feeds: ScrollingFeeds, landed: Sequence[Body], spooled: Sequence[Body]
) -> Iterator[str]:
    numbers = sorted(body.sequence for body in landed)
    if numbers != list(range(1, spooled_upto(to) + 1)):
        yield f"bodies landed are not 1 to {spooled_upto(to)}, each once: {numbers}"
    by_number = {body.sequence: body for body in landed}
    other = {body.sequence for body in spooled if by_number.get(body.sequence) != body}
    yield from _some("bodies landed that were not those in the spool", other)
    served = {(response.feed, response.etag): response for response in feeds.responses}
    marks = Counter((body.feed, body.etag) for body in landed)
    yield from _some("responses landed twice", {mark for mark, n in marks.items() if n > 1})
    for body in landed:
        response = served.get((body.feed, body.etag))
        if response is None or response.items != body.guids:
            yield f"body {body.sequence} was never served"
    # What is in flight when a run ends comes last, of each feed: nothing before it is lost.
    lost: set[tuple[int, str]] = set()
    for response in feeds.responses:
        if (response.feed, response.etag) not in marks:
            lost.add((response.run, response.feed))
        elif (response.run, response.feed) in lost:
            yield f"{response.feed} lost a response before {response.etag}, which landed"


def _some(problem: str, what: Collection[object]) -> Iterator[str]:
    if what:
        yield f"{problem}: {what}"


def _opml(addresses: Sequence[str]) -> str:
    outlines = "".join(f'<outline type="rss" xmlUrl="{address}"/>' for address in addresses)
    return f'<opml version="2.0"><body>{outlines}</body></opml>'
