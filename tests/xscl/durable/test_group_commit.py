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


def test_a_process_that_is_killed_after_a_commit_hands_over_at_its_next_start(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.duckdb"
    with xscl.Engine(path, commit_every="1 h") as engine:
        engine.subscribe(
            PAIR, name="pair", on_match=lambda match: as_after_a_kill(path, tmp_path / "killed")
        )
        found = publish(engine)
    again: list[xscl.Match] = []
    with xscl.Engine(tmp_path / "killed") as engine:
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
    for kill, every in (*kills, ("", "1 h")):
        state = ("--state", "s.duckdb", "--commit-every", every)
        environment = {**os.environ, "XSCL_CRASH_AT": kill}
        done = run_xscl(*RUN, *state, *form, at=tmp_path, environment=environment)
        # Late points are met by the runs that get so far.
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        # A line that a kill has torn is written again.
        reported.update(line for line in done.stdout.splitlines(keepends=True) if line[-1] == "\n")
    assert done.returncode == 0
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
