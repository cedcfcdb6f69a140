"""Documents that are written to a state file together: pending ones are not promised, and what is
promised is written, whatever ends the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import xscl
from tests.commands import xscl as run_xscl
from tests.xscl.durable.crashes import as_after_a_kill
from tests.xscl.durable.test_run import QUERIES, events
from xscl.durable.state_file import looking_at

PAIR = "SELECT x FROM S//a->x FOLLOWED BY {x = y} S//b->y PUBLISH pairs"
DOCUMENTS = [("a0", "<a>1</a>"), ("a1", "<a>1</a>"), ("b", "<b>1</b>")]


def publish(engine: xscl.Engine) -> list[xscl.Match]:
    return [
        match
        for number, (id, text) in enumerate(DOCUMENTS)
        for match in engine.publish("S", text, id=id, timestamp=number)
    ]


def written(path: Path, to: Path) -> tuple[int, int]:
    """How many documents, and how many matches pending for a callback, a kill would leave."""
    as_after_a_kill(path, to)
    with looking_at(to) as connection:
        ((documents,),) = connection.execute("SELECT documents FROM counters").fetchall()
        ((waiting,),) = connection.execute("SELECT count(*) FROM undelivered").fetchall()
    return documents, waiting


def test_what_is_pending_is_handed_to_no_one(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    reported: list[str] = []
    with xscl.Engine(path, commit_every="1 h") as engine:
        engine.subscribe(PAIR, name="pair", on_match=lambda match: reported.append(match.id))
        with engine.stream("pairs") as pairs:
            found = [match.id for match in publish(engine)]
            assert len(found) == 2
            assert (reported, len(pairs)) == ([], 0)
            assert written(path, tmp_path / "before.duckdb") == (0, 0)
            engine.commit()
            assert reported == found
            assert [next(pairs).id for _ in found] == found
        # That the callback has returned is in the next transaction.
        assert written(path, tmp_path / "after.duckdb") == (3, 2)
        engine.commit()
        assert written(path, tmp_path / "later.duckdb") == (3, 0)
    with xscl.Engine(tmp_path / "before.duckdb") as engine:
        again: list[str] = []
        engine.subscribe(PAIR, name="pair", on_match=lambda match: again.append(match.id))
        assert [match.id for match in publish(engine)] == again == found


@pytest.mark.parametrize("every", [0, "1 h"])
def test_a_process_that_is_killed_after_a_commit_hands_over_at_its_next_start(
    every: float | str, tmp_path: Path
) -> None:
    path = tmp_path / "state.duckdb"
    with xscl.Engine(path, commit_every="1 h") as engine:
        engine.subscribe(
            PAIR, name="pair", on_match=lambda match: as_after_a_kill(path, tmp_path / "killed")
        )
        found = publish(engine)
    again: list[xscl.Match] = []
    with xscl.Engine(tmp_path / "killed", commit_every=every) as engine:
        engine.subscribe(PAIR, name="pair", on_match=again.append)
        assert engine.documents == 3
        assert again == found


def test_what_is_pending_is_written_without_a_call(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    reported, threads = threading.Event(), list[threading.Thread]()

    def take(match: xscl.Match) -> None:
        threads.append(threading.current_thread())
        reported.set()

    with xscl.Engine(path, commit_every=0.05) as engine:
        engine.subscribe(PAIR, name="pair", on_match=take)
        for number in range(2):
            # A second group begins a delay of its own.
            reported.clear()
            engine.publish("S", f"<a>{number}</a>", id=f"a{number}", timestamp=number)
            engine.publish("S", f"<b>{number}</b>", id=f"b{number}", timestamp=9)
            assert reported.wait(300)
            documents, _ = written(path, tmp_path / f"{number}.duckdb")
            assert documents == 2 * (number + 1)
    assert len(threads) == 2


def test_queries_are_written_together_with_what_is_pending(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    with xscl.Engine(path, commit_every="1 h") as engine:
        engine.subscribe(PAIR, name="pair")
        for number, change in enumerate(
            (lambda: engine.subscribe("S//a", name="other"), lambda: engine.cancel("other"))
        ):
            engine.publish("S", "<a>1</a>")
            assert written(path, tmp_path / f"before-{number}") == (number, 0)
            change()
            assert written(path, tmp_path / f"after-{number}") == (number + 1, 0)


def test_a_transaction_is_never_written_in_part(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    with xscl.Engine(path, commit_every=0.001) as engine:
        engine.subscribe(PAIR, name="pair")
        with engine.transaction():
            for number in range(3):
                engine.publish("S", "<a>1</a>", id=f"{number}")
                engine.commit()
                time.sleep(0.01)
                assert written(path, tmp_path / f"{number}.duckdb") == (0, 0)
        engine.commit()
        assert written(path, tmp_path / "after.duckdb") == (3, 0)


def test_all_is_handed_over_in_the_order_of_commits_and_never_two_at_once(tmp_path: Path) -> None:
    reported: list[str] = []
    together: list[str] = []
    one_at_a_time = threading.Lock()

    def take(match: xscl.Match) -> None:
        if not one_at_a_time.acquire(blocking=False):
            together.append(match.id)
            return
        # Longer than a delay: the next group is written meanwhile.
        time.sleep(0.004)
        reported.append(match.id)
        one_at_a_time.release()

    with (
        ThreadPoolExecutor(1) as pool,
        xscl.Engine(tmp_path / "state.duckdb", commit_every=0.002) as engine,
    ):
        engine.subscribe("SELECT x FROM S//a->x PUBLISH all", name="all", on_match=take)
        read = pool.submit(list, engine.stream("all"))
        found = [
            match.id
            for number in range(120)
            for match in engine.publish("S", "<a/>", id=f"{number}", timestamp=number)
        ]
        engine.close()
        # What is handed over after this is lost.
        reported = [*reported]
    assert (together, reported) == ([], found)
    assert [match.id for match in read.result()] == found


def test_close_waits_for_a_callback_in_another_thread(tmp_path: Path) -> None:
    reported: list[str] = []
    first, closing = threading.Event(), threading.Event()

    def take(match: xscl.Match) -> None:
        first.set()
        assert closing.wait(300)
        time.sleep(0.05)
        reported.append(match.id)

    with xscl.Engine(tmp_path / "state.duckdb", commit_every=0.01) as engine:
        engine.subscribe(PAIR, name="pair", on_match=take)
        found = [match.id for match in publish(engine)]
        assert first.wait(300)
        found += [match.id for match in engine.publish("S", "<b>1</b>", id="c", timestamp=9)]
        closing.set()
        engine.close()
        assert reported == found
    assert len(found) == 4


MANY = "<r>" + "<a/>" * 1500 + "</r>"


@pytest.mark.parametrize("ending", ["commit", "close"])
def test_who_reads_a_stream_may_end_what_another_thread_hands_over(
    tmp_path: Path, ending: str
) -> None:
    """A full buffer makes no thread wait for a reader who waits for that thread."""
    with xscl.Engine(tmp_path / "state.duckdb", commit_every=0.01) as engine:
        engine.subscribe("SELECT x FROM S//a->x PUBLISH all", name="all")
        stream = engine.stream("all")
        found = [match.id for match in engine.publish("S", MANY)]
        while len(stream) < 1000:
            time.sleep(0.01)
        getattr(engine, ending)()
        assert len(found) == len(stream) == 1500
        assert [next(stream).id for _ in found] == found


def test_who_publishes_may_hold_a_lock_that_a_callback_wants(tmp_path: Path) -> None:
    reported: list[str] = []
    lock = threading.RLock()

    def take(match: xscl.Match) -> None:
        with lock:
            reported.append(match.id)

    with xscl.Engine(tmp_path / "state.duckdb", commit_every=0.001) as engine:
        engine.subscribe("S//a", name="all", on_match=take)
        found = list[str]()
        with lock:
            for number in range(4):
                found += [match.id for match in engine.publish("S", "<a/>", id=f"{number}")]
                time.sleep(0.02)
        engine.commit()
        assert reported == found


def test_a_callback_may_publish_commit_and_close(tmp_path: Path) -> None:
    """What it publishes comes after what is being handed over."""
    path, reported = tmp_path / "state.duckdb", list[str]()
    with xscl.Engine(path, commit_every="1 h") as engine:

        def take(match: xscl.Match) -> None:
            reported.append(match.documents[0])
            if match.documents[0] == "0":
                engine.publish("S", "<a/>", id="new", timestamp=9)
                engine.commit()
            if match.documents[0] == "new":
                engine.close()

        engine.subscribe("S//a", name="all", on_match=take)
        for number in range(3):
            engine.publish("S", "<a/>", id=f"{number}", timestamp=number)
        engine.commit()
        assert reported == ["0", "1", "2", "new"]
        with pytest.raises(xscl.StateError, match="is closed"):
            engine.publish("S", "<a/>")
    assert written(path, tmp_path / "copy.duckdb")[0] == 4


@pytest.mark.parametrize("every", ["1 h", None])
def test_what_a_callback_raises(
    tmp_path: Path, every: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """An error is reported; all else closes the engine, and the next one hands over the rest."""
    path, reported = tmp_path / "state.duckdb", list[str]()

    def take(match: xscl.Match) -> None:
        reported.append(match.documents[0])
        if match.documents[0] != "2":
            raise SystemExit if match.documents[0] == "1" else ValueError

    def publish_three(engine: xscl.Engine) -> None:
        engine.publish_many([{"id": f"{n}", "timestamp": n, "xml": "<a/>"} for n in range(3)])
        engine.commit()

    with xscl.Engine(path, commit_every=every) as engine:
        engine.subscribe("S//a", name="all", on_match=take)
        with pytest.raises(SystemExit):
            publish_three(engine)
        assert reported == ["0", "1"]
        assert "raised on match" in caplog.text
        with pytest.raises(xscl.StateError, match="broken off"):
            engine.publish("S", "<a/>")
    again: list[str] = []
    with xscl.Engine(path) as engine:
        engine.subscribe(
            "S//a", name="all", on_match=lambda found: again.append(found.documents[0])
        )
    assert again == ["0", "1", "2"]


END = """
import sys, xscl
engine = xscl.Engine(sys.argv[1], commit_every=0.2)
engine.subscribe("S//a", name="all", on_match=lambda match: print(match.id, flush=True))
engine.publish("S", "<a/>", id="a")
"""


def test_a_process_that_ends_without_closing_its_engine_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.duckdb"
    command = [sys.executable, "-c", END, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) == 1, done.stderr
    assert written(path, tmp_path / "copy.duckdb")[0] == 1


@pytest.mark.parametrize("every", ["soon", "2 h", "INF", "-1 s"])
def test_a_delay_that_is_none(tmp_path: Path, every: str) -> None:
    with pytest.raises(xscl.XSCLError, match=r"^commit_every: "):
        xscl.Engine(tmp_path / "state.duckdb", commit_every=every)
    with pytest.raises(xscl.XSCLError, match="for a state file"):
        xscl.Engine(commit_every=1)


# Runs that are killed.

RUN = ("run", "q.xscl", "--events", "e.jsonl", "--batch", "5", "--lateness", "300")
KILLS = (
    ("evaluated:15", "1 h"), ("within output:12", "5 ms"), ("before commit:2", "5 ms"),
    ("within commit:2", "5 ms"), ("after output:20", "1 h"), ("before close", "1 h"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("form", "kills"), [(("-o", "out.jsonl"), KILLS), ((), KILLS[:2])], ids=["file", "output"]
)
def test_killed_while_batches_are_pending_nothing_is_lost(
    tmp_path: Path, form: tuple[str, ...], kills: Sequence[tuple[str, str]]
) -> None:
    """A file has each match once, byte for byte; standard output at least once."""
    (tmp_path / "q.xscl").write_text(QUERIES)
    (tmp_path / "e.jsonl").write_text(events(range(200)))
    expected = run_xscl(*RUN, at=tmp_path).stdout
    reported = set[str]()
    killed = 0
    for kill, every in (*kills, ("", "1 h")):
        state = ("--state", "s.duckdb", "--commit-every", every)
        environment = {**os.environ, "XSCL_CRASH_AT": kill}
        done = run_xscl(*RUN, *state, *form, at=tmp_path, environment=environment)
        # Late points are met by the runs that get so far.
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        killed += done.returncode != 0
        # A line that a kill has torn is written again.
        reported.update(line for line in done.stdout.splitlines(keepends=True) if line[-1] == "\n")
    assert done.returncode == 0
    assert killed
    if form:
        assert (tmp_path / "out.jsonl").read_text() == expected
    else:
        assert reported == set(expected.splitlines(keepends=True))


def test_a_delay_needs_a_state(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text(QUERIES)
    (tmp_path / "e.jsonl").touch()
    done = run_xscl(*RUN, "--commit-every", "1 s", at=tmp_path)
    assert done.returncode == 2
    assert "give --state" in done.stderr
    done = run_xscl(*RUN, "--state", "s.duckdb", "--commit-every", "1 day", at=tmp_path)
    assert done.returncode == 2
    assert "more than an hour" in done.stderr
