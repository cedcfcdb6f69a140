"""A file that is written again: it has its old content until the new content is complete, however
that ends; other readers of it, and targets that are no files, are served as data come."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import threading
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.commands import xscl
from tests.crash.test_room import limited
from xscl.cli.main import cli
from xscl.files.whole import drafted, replace_file

OLD = "what was there\n"
FORMS = ["jsonl", "counts", "atom", "jsonfeed"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.xscl").write_text("-- name: all\nS//a")
    lines = (json.dumps({"timestamp": n, "xml": f"<a>{n}</a>"}) for n in range(500))
    (tmp_path / "e.jsonl").write_text("\n".join(lines))
    return tmp_path


def run(*more: str) -> Result:
    return CliRunner().invoke(cli, ["run", "q.xscl", *more], standalone_mode=False)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_there_is_replaced_at_the_end(folder: Path) -> None:
    (folder / "out").write_text(OLD)
    (folder / "out").chmod(0o600)
    (folder / "link").symlink_to("out")
    done = run("--events", "e.jsonl", "-o", "link")
    assert (done.return_value, done.stderr.splitlines()[-1]) == (0, "link: rewritten")
    assert (folder / "link").is_symlink()
    assert stat.S_IMODE((folder / "out").stat().st_mode) == 0o600
    assert len((folder / "out").read_text().splitlines()) == 500
    assert names(folder) == ["e.jsonl", "link", "out", "q.xscl"]
    (folder / "out").unlink()
    for fate in ("written", "added to"):
        done = run("--events", "e.jsonl", "-o", "out", "--state", "s")
        assert done.stderr.splitlines()[-1] == f"out: {fate}"
        assert len((folder / "out").read_text().splitlines()) == 500


@pytest.mark.parametrize("form", ["jsonl", "atom", "jsonfeed"])
def test_a_run_that_fails_leaves_it(folder: Path, form: str) -> None:
    before = run("--events", "e.jsonl", "--format", form).stdout
    (folder / "out").write_text(before)
    arguments = ("run", "q.xscl", "--events", "e.jsonl", "--batch", "100", "--format", form)
    arguments = (*arguments, "-o", "out")
    done = xscl(*arguments, at=folder, around=partial(limited, 8192))
    assert (done.returncode, (folder / "out").read_text()) == (1, before)
    assert "out" in done.stderr
    assert ".draft" not in done.stderr
    assert "Traceback" not in done.stderr
    assert names(folder) == ["e.jsonl", "out", "q.xscl"]


@pytest.mark.parametrize("form", ["jsonl", "counts"])
def test_an_interrupt_leaves_it(folder: Path, form: str) -> None:
    (folder / "out").write_text(OLD)
    (folder / "1.xml").write_text("<a/>")
    os.mkfifo(folder / "2.xml")

    def interrupt() -> None:
        with open(folder / "2.xml", "w") as fifo:
            os.kill(os.getpid(), signal.SIGINT)
            fifo.write("<a/>")

    writer = threading.Thread(target=interrupt, daemon=True)
    writer.start()
    done = run("--docs", "S=*.xml", "--batch", "1", "--format", form, "-o", "out")
    writer.join(300)
    assert done.return_value == 130, done.stderr
    assert (folder / "out").read_text() == OLD
    assert "out: as it was" in done.stderr
    assert names(folder) == ["1.xml", "2.xml", "e.jsonl", "out", "q.xscl"]


@pytest.mark.parametrize("form", FORMS)
def test_a_pipe_is_written_as_it_is(folder: Path, form: str) -> None:
    os.mkfifo(folder / "out")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((folder / "out").read_text()), daemon=True)
    reader.start()
    done = run("--events", "e.jsonl", "--format", form, "-o", "out")
    reader.join(300)
    assert done.return_value == 0, done.stderr
    assert stat.S_ISFIFO((folder / "out").stat().st_mode)
    assert read[0] == run("--events", "e.jsonl", "--format", form).stdout


@pytest.mark.parametrize("state", [(), ("--state", "s.duckdb")])
def test_standard_output_by_name_is_not_replaced(folder: Path, state: tuple[str, ...]) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "-o", "/dev/stdout", *state, at=folder)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 500


def test_a_folder_that_is_not_there_is_named(folder: Path) -> None:
    done = run("--events", "e.jsonl", "-o", "no/such/out")
    assert "no/such/out" in str(done.exception)


class Broken(Exception):
    pass


@pytest.mark.parametrize("there", [False, True])
def test_what_breaks_off_leaves_no_draft(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "file"
    if there:
        target.write_text(OLD)

    with contextlib.suppress(Broken), drafted(target) as draft:
        draft.write_text("half")
        draft.with_name(f"{draft.name}.wal").write_text("beside")
        raise Broken
    assert names(tmp_path) == (["file"] if there else [])
    assert not there or target.read_text() == OLD


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", OLD, new=True)
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "file", "another", new=True)
    assert (tmp_path / "file").read_text() == OLD
    assert names(tmp_path) == ["file"]
