"""Files that cannot be written or read: one line that names the file, and the exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import xscl
from xscl.cli.exits import run_command
from xscl.cli.main import cli

OPML = '<opml version="2.0"><body><outline xmlUrl="http://127.0.0.1:9/"/></body></opml>'
RUN = ("run", "q.xscl", "--events", "e.jsonl")
WATCH = ("watch", "q.xscl", "--feed", "S=o.opml", "--once")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    Path("q.xscl").write_text("-- name: q\nS//a[. = 'v']")
    Path("e.jsonl").write_text('{"id": "d1", "xml": "<a>v</a>"}\n{"id": "bad", "xml": "<a"}\n')
    Path("o.opml").write_text(OPML)
    return tmp_path


def typed(*arguments: str) -> tuple[int, str]:
    """The exit code of a command, and the last line of what it says."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", ["xscl", *arguments])
        with (
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())),
            pytest.raises(SystemExit) as ended,
        ):
            run_command(cli)
    assert "Traceback" not in said.getvalue()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.getvalue().splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *((RUN, option) for option in ("-o", "--dead-letters", "--state")),
        *((WATCH, option) for option in ("-o", "--dead-letters", "--state", "--feeds-db")),
    ],
)
def test_a_missing_folder_is_reported_before_anything_is_done(
    command: tuple[str, ...], option: str
) -> None:
    code, line = typed(*command, option, "no/file")
    assert (code, line) == (
        1,
        f"xscl: {option} no/file: the folder 'no' does not exist; make it, or name another file",
    )
    assert typed(*command, option, "q.xscl/file")[1].startswith(f"xscl: {option} q.xscl/file: ")
    assert sorted(path.name for path in Path().iterdir()) == ["e.jsonl", "o.opml", "q.xscl"]


@pytest.mark.parametrize("form", ["jsonl", "counts", "atom", "jsonfeed"])
@pytest.mark.parametrize("state", [(), ("--state", "s.duckdb")])
def test_a_full_disk_names_the_file_of_matches(form: str, state: tuple[str, ...]) -> None:
    code, line = typed(*RUN, "--format", form, "-o", "/dev/full", *state)
    reason = ": No space left on device"
    if state and form in ("atom", "jsonfeed"):
        reason = " is no file that a feed could be kept in; name a file"
    assert (code, line) == (1, f"xscl: /dev/full{reason}")


@pytest.mark.parametrize("state", [(), ("--state", "s.duckdb")])
def test_a_dead_letter_that_cannot_be_written_is_a_failure(state: tuple[str, ...]) -> None:
    code, line = typed(*RUN, "--dead-letters", "/dev/full", *state)
    assert (code, line) == (1, "xscl: /dev/full: No space left on device")
    if state:
        # What was not reported is read again.
        assert "1 document, 1 skipped (1 malformed), 1 match," in typed(*RUN, *state)[1]


def full() -> contextlib.AbstractContextManager[object]:
    """Standard output is a disk that is full."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    return contextlib.nullcontext()


@pytest.mark.parametrize("command", [RUN, (*RUN, "--format", "counts"), ("explain", "q.xscl")])
def test_a_full_disk_names_standard_output(command: tuple[str, ...], tmp_path: Path) -> None:
    done = xscl(*command, at=tmp_path, around=full)
    assert done.returncode == 1
    assert done.stderr.endswith("xscl: standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("file", "reason"), [("no.csv", "No such file or directory"), (".", "Is a directory")]
)
def test_a_table_of_parameters_that_cannot_be_read_is_wrong_usage(file: str, reason: str) -> None:
    code, line = typed(*RUN, "--params", f"q={file}")
    assert (code, line) == (2, f"Error: --params q={file}: it cannot be read: {reason}")


def test_an_ingestion_that_has_no_folder_is_reported() -> None:
    code, line = typed("ingest", "--sources", "o.opml", "--to", "e.jsonl/out", "--once")
    assert code == 1
    assert line.endswith("e.jsonl/out: Not a directory")
