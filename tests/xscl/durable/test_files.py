"""State files: made, refused, locked, looked at, rewritten."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import xscl
from tests.xscl.durable.crashes import as_after_a_kill
from xscl.cli.main import cli
from xscl.durable import migration
from xscl.durable.schema import VERSION

PAIR = "S//a->x FOLLOWED BY {x = y} S//b->y"


def filled(path: Path) -> Path:
    with xscl.Engine(path, lateness=100) as engine:
        engine.subscribe(PAIR, name="pair")
        engine.publish("S", "<a>1</a>", id="d1", timestamp=1)
        engine.publish("S", {"a": 1}, id="d2", timestamp=2)
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return filled(tmp_path / "state.duckdb")


def test_a_relative_path_is_that_of_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    engine = xscl.Engine("s.duckdb")
    monkeypatch.chdir(tmp_path / "b")
    with xscl.Engine("s.duckdb"):
        engine.subscribe(PAIR, name="pair")
        engine.close()
        with pytest.raises(xscl.StateError, match="in use by another engine of this process"):
            xscl.Engine("s.duckdb")
    monkeypatch.chdir(tmp_path / "a")
    with xscl.Engine("s.duckdb") as again:
        assert [one.name for one in again.subscriptions] == ["pair"]
    assert sorted(one.name for one in tmp_path.glob("*/*")) == ["s.duckdb", "s.duckdb"]


def refused(path: Path, because: str) -> None:
    """Refused with a reason, and left as it is."""
    before = path.read_bytes()
    with pytest.raises(xscl.StateError, match=because):
        xscl.Engine(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("something else, and longer than a header\n" * 9)
    refused(path, "is no DuckDB file, and no state of ours; it is left as it is")
    path.write_bytes(b"")
    refused(path, "is empty")
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    refused(path, "is an SQLite database")
    path.unlink()
    with duckdb.connect(path) as other:
        other.execute("CREATE TABLE t (a INTEGER)")
    refused(path, "is a DuckDB database of something else")


@pytest.mark.parametrize("part", [0.001, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(state: Path, part: float) -> None:
    whole = state.read_bytes()
    state.write_bytes(whole[: max(20, int(len(whole) * part))])
    refused(state, "cannot be read .*restore it from a copy")


def test_a_damaged_file_is_refused(state: Path) -> None:
    whole = bytearray(state.read_bytes())
    for block in range(12_288, len(whole), 4096):
        whole[block + 40 : block + 60] = b"x" * 20
    state.write_bytes(whole)
    refused(state, "cannot be read .*restore it from a copy")


def test_a_newer_version_is_refused(state: Path) -> None:
    with duckdb.connect(state) as connection:
        connection.execute("UPDATE xscl_state SET version = ?, made_by = 'xscl 9.9'", [VERSION + 1])
    refused(state, "made by xscl 9.9; this program reads up to version")


def of_version(version: int | None, path: Path) -> Path:
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE xscl_state SET version = ?, made_by = 'xscl 0.0'", [version])
    return path


def test_an_unknown_older_version_or_none_is_refused(state: Path) -> None:
    refused(of_version(0, state), "made by xscl 0.0, which .* continue with xscl 0.0, or name")
    with pytest.raises(xscl.StateError, match="is a state of version 0, made by"):
        run("state", str(state))
    refused(of_version(None, state), "does not state its version")


def test_an_older_version_is_brought_to_this_one(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a version before the first, in which lateness was missing."""
    with duckdb.connect(of_version(0, state)) as connection:
        connection.execute("ALTER TABLE counters DROP lateness")
        connection.execute("ALTER TABLE counters DROP advanced")
        connection.execute("ALTER TABLE counters DROP flushed")
        connection.execute("ALTER TABLE counters DROP unknown")
        connection.execute("ALTER TABLE documents DROP start")
        for relation in ("patterns", "tallies", "floors"):
            connection.execute(f"DROP TABLE {relation}")

    def step(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("ALTER TABLE counters ADD lateness BIGINT")
        connection.execute("UPDATE counters SET lateness = 7000000")

    def bad_step(connection: duckdb.DuckDBPyConnection) -> None:
        step(connection)
        connection.execute("INSERT INTO nothing VALUES (1)")

    monkeypatch.setattr(migration, "STEPS", {**migration.STEPS, 0: bad_step})
    with pytest.raises(
        xscl.StateError, match=rf"cannot be brought to version {VERSION} .*it is as it was"
    ):
        xscl.Engine(state)
    monkeypatch.setattr(migration, "STEPS", {**migration.STEPS, 0: step})
    with pytest.raises(
        xscl.StateError, match=rf"the next run on it .* brings it to version {VERSION}"
    ):
        run("state", str(state))
    with xscl.Engine(state) as engine:
        assert engine.documents == 2
        found = engine.publish("S", "<b>1</b>", id="b", timestamp=5)
        assert [match.documents for match in found] == [("d1", "b"), ("d2", "b")]
    shown = json.loads(run("state", str(state), "--format", "json")[1])
    assert (shown["version"], shown["lateness"]) == (VERSION, 7)


def test_a_folder_or_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(xscl.StateError, match="is a folder"):
        xscl.Engine(tmp_path)
    with pytest.raises(xscl.StateError, match="there is no such folder"):
        xscl.Engine(tmp_path / "none" / "state.duckdb")


def test_a_second_engine_is_refused(state: Path) -> None:
    with xscl.Engine(state):
        with pytest.raises(xscl.StateError, match="in use by another engine of this process"):
            xscl.Engine(state)
        look = f"import xscl; xscl.Engine({str(state)!r})"
        done = subprocess.run(
            [sys.executable, "-c", look], capture_output=True, text=True, check=False
        )
        assert f"is in use by process {os.getpid()} on " in done.stderr
        assert " since 20" in done.stderr
    xscl.Engine(state).close()


def test_a_note_that_a_killed_process_left_is_nobodys(state: Path) -> None:
    state.with_name("state.duckdb.holder").write_text("{")
    with xscl.Engine(state) as engine:
        assert engine.documents == 2


def test_a_note_that_cannot_be_written_refuses_the_file(state: Path) -> None:
    note = state.with_name("state.duckdb.holder")
    note.mkdir()
    for _ in range(2):
        with pytest.raises(xscl.StateError, match=r"state\.duckdb\.holder cannot be written: "):
            xscl.Engine(state)
    note.rmdir()
    with xscl.Engine(state) as engine:
        assert engine.documents == 2


def test_an_engine_is_closed_for_good(state: Path) -> None:
    engine = xscl.Engine(state)
    engine.close()
    engine.close()
    with pytest.raises(xscl.StateError, match="the engine is closed"):
        engine.publish("S", "<a/>")


def test_queries_that_come_and_go_leave_nothing_behind(state: Path) -> None:
    with xscl.Engine(state) as engine:
        for number in range(20):
            text = f"S//a->x[b = {number}] JOIN {{x = y}} S//b->y"
            engine.subscribe(text, name="guest", history=number % 2 == 0).cancel()
    with duckdb.connect(state, read_only=True) as connection:
        for relation, rows in (("texts", 1), ("subscriptions", 1), ("documents", 2)):
            assert connection.execute(f"SELECT count(*) FROM {relation}").fetchall() == [(rows,)]


LIVES = {
    "a window that has passed": "S//a->x FOLLOWED BY {x = y, 3} S//b->y",
    "a member of a composite": (
        "S//a->x JOIN {x = y, 2} S//b->y FOLLOWED BY {y = z, 9} S//c->z; S//c->x JOIN {, 1} S//d"
    ),
    "a result that is read": (
        "SELECT <r>{x}</r> FROM S//a->x JOIN {x = y, 4} S//b->y PUBLISH R;"
        "R//a->x JOIN {x = y, 6} S//c->y"
    ),
    "queries that differ in constants": "; ".join(
        f"S//a->x[. = '{n}'] FOLLOWED BY {{x = y, {n + 1}}} S//b->y" for n in range(3)
    ),
}


@pytest.mark.parametrize("queries", LIVES.values(), ids=LIVES.keys())
def test_a_file_has_the_documents_that_are_retained_and_no_others(
    tmp_path: Path, queries: str
) -> None:
    """After any call, as a kill would leave it; also of queries that are cancelled, and in an
    engine that is opened again."""
    random_ = random.Random(queries)
    path, retained = tmp_path / "state.duckdb", tmp_path / "as it is.duckdb"
    came: list[str] = []
    gone = 0

    def check(engine: xscl.Engine) -> int:
        as_after_a_kill(path, retained)
        with duckdb.connect(retained) as connection:
            rows = connection.execute("SELECT id FROM documents").fetchall()
        written = {id for (id,) in rows if id in came}
        assert written == {id for id in came if engine.holds(id)}
        return len(came) - len(written)

    for life in range(2):
        with xscl.Engine(path, lateness=2) as engine:
            if not life:
                engine.load(queries)
            for step in range(12):
                batch = []
                for _ in range(random_.choice([1, 1, 3])):
                    came.append(str(len(came)))
                    xml = f"<{(name := random_.choice('aabcd'))}>{random_.randint(0, 2)}</{name}>"
                    time = len(came) + random_.randint(-1, 1)
                    batch.append({"id": came[-1], "timestamp": time, "xml": xml})
                engine.publish_many(batch)
                if step % 4 == 3:
                    gone = check(engine)
            if life:
                for subscription in engine.subscriptions:
                    subscription.cancel()
                check(engine)
    assert gone
    with duckdb.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM documents").fetchall() == [(0,)]


# xscl state.


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


def test_xscl_state_shows_its_contents(state: Path) -> None:
    shown = json.loads(run("state", str(state), "--format", "json")[1])
    assert shown["queries"] == ["pair"]
    assert (shown["version"], shown["subscriptions"], shown["documents"]) == (
        VERSION,
        1,
        2,
    )
    assert shown["streams"]["S"]["documents"] == 2
    assert shown["lateness"] == 100
    assert shown["bytes_of_documents"] == len('<a>1</a>{"a":1}')
    text = run("state", str(state))[1]
    assert "1: pair" in text
    assert "undelivered  0 matches" in text
    assert [line.split()[:2] for line in text.splitlines()[-2:]] == [
        ["stream", "documents"],
        ["S", "2"],
    ]


def test_xscl_state_shows_what_is_pending_and_how_far_sources_were_read(state: Path) -> None:
    with xscl.Engine(state) as engine:
        engine.subscribe(PAIR, name="pair", on_match=print)
        with engine.transaction():
            engine.publish("S", "<b>1</b>", id="b", timestamp=3)
            # As by a kill after the transaction.
            engine._transactions._postponed.clear()
    shown = json.loads(run("state", str(state), "--format", "json")[1])
    assert shown["waiting"] == [{"sink": "callback", "query": "pair", "matches": 2}]
    assert shown["undelivered"] == 2
    assert run("state", str(state))[1].splitlines()[-1].split() == ["callback", "pair", "2"]


def test_xscl_state_of_something_else_is_an_error() -> None:
    with pytest.raises(xscl.StateError, match="no DuckDB file"):
        run("state", __file__)


def test_compaction_gives_free_space_back(tmp_path: Path) -> None:
    path = tmp_path / "it's a state.duckdb"
    with xscl.Engine(path, lateness=0) as engine:
        engine.subscribe("S//a->x FOLLOWED BY {x = y, 10} S//b->y", name="pair")
    body = "".join(f"<c>{number * 7919 % 100_003}</c>" for number in range(5000))
    sizes = list[int]()
    for round in range(8):
        if round > 3 and sizes[-1] > min(sizes[-2:]):
            # There is free space in it, which comes and goes by turns.
            break
        # What an engine has written it brings into order when it is closed.
        with xscl.Engine(path) as engine:
            engine.publish_many(
                {"id": f"{round}.{n}", "timestamp": round * 20 + n, "xml": f"<a>{n}{body}</a>"}
                for n in range(20)
            )
            kept = {
                key: engine.stats(exact=True)[key] for key in ("documents", "taken", "witnesses")
            }
        sizes.append(path.stat().st_size)
    before = path.stat().st_size
    code, _ = run("state", str(path), "--compact")
    assert code == 0
    assert path.stat().st_size < before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    with xscl.Engine(path) as engine:
        assert {key: engine.stats(exact=True)[key] for key in kept} == kept
        with pytest.raises(xscl.StateError, match="in use by"):
            run("state", str(path), "--compact")
