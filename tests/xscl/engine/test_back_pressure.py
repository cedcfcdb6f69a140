"""A slow receiver of matches makes the engine wait: memory stays bounded, nothing is lost, and no
more documents are read than there is space for."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import orjson
import pytest

import xscl
from tests.drawn import turn
from tests.xscl.web.loopback import Reply, Request, Server, serving

COMMAND = [sys.executable, "-c", "from xscl.cli.main import main; main()"]
SLOW = 0.1
"""Seconds between two matches that are taken, as long as they are taken slowly."""

LARGE = 40_000
"""Characters of a document; so many that the matches of a test would show in memory."""

MOST = 128
"""MiB that a process may grow by, of the 160 that its matches have."""

DOCUMENTS = 4_000
BATCH = 50


def event(number: int) -> bytes:
    xml = f"<a>{str(number).ljust(LARGE, '.')}</a>"
    return orjson.dumps({"id": f"d{number}", "timestamp": number, "xml": xml}) + b"\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text("-- name: all\nS//a; S//b\n")
    return tmp_path


@contextmanager
def started(at: Path, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=at, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait(300)


def highest(process: subprocess.Popen[bytes]) -> int:
    """The MiB that a process has had at most."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def documents_of(lines: IO[bytes], *, at_most: int, pause: float = 0.0) -> list[str]:
    found: list[str] = []
    while len(found) < at_most and (line := lines.readline()):
        # The last line of a process that was killed may be torn.
        if line.endswith(b"\n"):
            found += orjson.loads(line)["documents"]
        time.sleep(pause)
    return found


@pytest.mark.drawn
@pytest.mark.parametrize("state", turn([("--state", "s.duckdb", "--memory", "64MiB"), ()]))
def test_standard_output_that_is_read_slowly(folder: Path, state: tuple[str, ...]) -> None:
    written = 0

    def feed(to: IO[bytes]) -> None:
        nonlocal written
        # It ends early where the test has failed.
        with suppress(BrokenPipeError, ValueError), to:
            for number in range(DOCUMENTS):
                to.write(event(number))
                written += 1

    run = ("run", "q.xscl", "--events", "-", "--batch", str(BATCH), "--lateness", "100", *state)
    with started(folder, *run, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        feeder = threading.Thread(target=feed, args=(process.stdin,))
        feeder.start()
        found = documents_of(process.stdout, at_most=20)
        found += documents_of(process.stdout, at_most=20, pause=SLOW)
        assert written < 250
        # So many that relations were written, for which libraries are loaded.
        found += documents_of(process.stdout, at_most=DOCUMENTS // 2)
        before = highest(process)
        found += documents_of(process.stdout, at_most=DOCUMENTS // 2 - 250)
        # Of the 67 MiB that these matches have.
        assert highest(process) - before < 50
        found += documents_of(process.stdout, at_most=DOCUMENTS)
        feeder.join(300)
        assert process.wait(300) == 0
    assert found == [f"d{number}" for number in range(DOCUMENTS)]


def test_a_kill_while_standard_output_is_blocked(folder: Path) -> None:
    count = 350
    (folder / "e.jsonl").write_bytes(b"".join(map(event, range(count))))
    run = ("run", "q.xscl", "--events", "e.jsonl", "--batch", str(BATCH), "--state", "s.duckdb")
    found: list[str] = []
    for read in (100, 120):
        with started(folder, *run) as process:
            assert process.stdout is not None
            found += documents_of(process.stdout, at_most=read)
            found += documents_of(process.stdout, at_most=5, pause=SLOW)
            process.send_signal(signal.SIGKILL)
            found += documents_of(process.stdout, at_most=count)
    with started(folder, *run) as process:
        assert process.stdout is not None
        found += documents_of(process.stdout, at_most=count)
        assert process.wait(300) == 0
    assert set(found) == {f"d{number}" for number in range(count)}
    # It continued where it was: except for a batch each time, none is reported again.
    assert len(found) <= count + 2 * BATCH


POLLS, ITEMS = 3, 400


def rss(poll: int) -> bytes:
    items = "".join(
        f"<item><guid>{poll}/{n}</guid><title>{n}</title>"
        f"<description>{str(n).ljust(LARGE // 4, '.')}</description></item>"
        for n in range(ITEMS)
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()


class Taker:
    """A feed that has new items on each request, and a webhook that takes four matches in parallel,
    slowly until it is told not to."""

    def __init__(self, server: Server) -> None:
        self.polls = 0
        self.taken: list[str] = []
        self.hurried = threading.Event()
        server.site["/feed"] = self.feed
        server.site["/take"] = self.take

    def feed(self, request: Request) -> Reply:
        self.polls += 1
        return Reply(body=rss(min(self.polls, POLLS)))

    def take(self, request: Request) -> Reply:
        self.hurried.wait(4 * SLOW)
        self.taken.append(request.headers["idempotency-key"].decode())
        return Reply()


def until(happened: Callable[[], bool]) -> None:
    for _ in range(6000):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it has not happened within five minutes")


def check_that_it_is_blocked(process: subprocess.Popen[bytes], taker: Taker) -> None:
    """1,000 matches are buffered, and others of the third poll wait for space."""
    until(lambda: taker.polls == 3)
    before = highest(process)
    time.sleep(3)
    assert taker.polls == 3
    assert highest(process) - before < MOST


@pytest.mark.drawn
@pytest.mark.parametrize("durable", turn([False, True]))
def test_a_webhook_that_takes_matches_slowly(folder: Path, durable: bool) -> None:
    (folder / "q.xscl").write_text("S//item")
    with serving() as server:
        taker = Taker(server)
        watch = (
            "watch", "q.xscl", "--feed", f"S={server.url('/feed')}", "--every", "1s",
            "--allow-private", "--webhook", server.url("/take"),
            *(("--state", "s.duckdb") if durable else ()),
        )  # fmt: skip
        with started(folder, *watch) as process:
            check_that_it_is_blocked(process, taker)
            if not durable:
                taker.hurried.set()
                until(lambda: len(set(taker.taken)) == POLLS * ITEMS)
                assert len(taker.taken) == POLLS * ITEMS
        if durable:
            # It was killed: what was pending is in the state.
            with started(folder, *watch):
                taker.hurried.set()
                until(lambda: len(set(taker.taken)) == POLLS * ITEMS)


def test_a_command_that_takes_matches_slowly(folder: Path) -> None:
    """10 a second, each by a process that takes 0.4 s; four are there in parallel."""
    (folder / "q.xscl").write_text("S//item")
    (folder / "take.sh").write_text(f"sleep {4 * SLOW}; echo >> taken")
    with serving() as server:
        taker = Taker(server)
        watch = (
            "watch", "q.xscl", "--feed", f"S={server.url('/feed')}", "--every", "1s",
            "--allow-private", "--exec", "sh take.sh",
        )  # fmt: skip
        with started(folder, *watch) as process:
            check_that_it_is_blocked(process, taker)
            taken = folder / "taken"
            until(lambda: taken.exists() and len(taken.read_text()) > 10)
            assert len(taken.read_text()) < 2 * ITEMS


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm", "tests.xscl.engine.test_back_pressure"])


def alone(what: Callable[..., tuple[int, int]], *arguments: object) -> tuple[int, int]:
    with _FORKS.Pool(1) as pool:
        return pool.apply(what, arguments)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def stream_read_slowly(state: Path | None) -> tuple[int, int]:
    """How many matches were read in order, and the MiB that the process has grown by since the
    first ones."""
    came = 0
    with xscl.Engine(state, lateness=100) as engine:
        engine.subscribe("SELECT * FROM S//a->x PUBLISH out", name="out")
        stream = engine.stream("out")
        read: list[str] = []
        grown = 0

        def take() -> None:
            nonlocal grown
            before = peak()
            for match in stream:
                if len(read) == 1:
                    before = peak()
                elif 1 < len(read) < 20:
                    time.sleep(SLOW)
                    # 1,000 are buffered, and those of a batch wait for these.
                    assert came <= len(read) + 1000 + BATCH
                read.extend(match.documents)
            grown = peak() - before

        reader = threading.Thread(target=take)
        reader.start()
        for came in range(0, DOCUMENTS, BATCH):
            engine.publish_many(orjson.loads(event(came + n)) for n in range(BATCH))
        stream.close()
        reader.join()
    assert read == [f"d{number}" for number in range(DOCUMENTS)]
    return len(read), grown


@pytest.mark.drawn
@pytest.mark.parametrize("durable", turn([True, False]))
def test_a_stream_that_is_read_slowly(durable: bool, tmp_path: Path) -> None:
    read, grown = alone(stream_read_slowly, tmp_path / "s.duckdb" if durable else None)
    assert read == DOCUMENTS
    assert grown < MOST
