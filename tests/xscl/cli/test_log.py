"""What commands say on standard error: as JSON lines, less of it, more of it; and what shells are
given to complete words with."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime
from pathlib import Path

import click
import pytest

from tests.commands import xscl
from tests.xscl.web.loopback import Reply, rss, serving
from xscl.cli.exits import run_command
from xscl.cli.log import LOG_FORMAT

GOOD = '{"id": "d1", "timestamp": 0, "xml": "<a/>"}\n'
BAD = '{"id": ":smile:", "timestamp": 1, "xml": "<a>"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text("-- name: q\nS//a", encoding="utf-8")
    (tmp_path / "e.jsonl").write_text(GOOD + BAD, encoding="utf-8")
    return tmp_path


def said(errors: str) -> list[tuple[str, str]]:
    """The lines of a log: level and message."""
    lines = [json.loads(line) for line in errors.splitlines()]
    for line in lines:
        assert datetime.fromisoformat(line["time"]).tzinfo is not None
    return [(line["level"], line["message"]) for line in lines]


def test_messages_are_lines_of_json(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--log-format", "json", "-v", at=folder)
    plain = xscl("run", "q.xscl", "--events", "e.jsonl", at=folder)
    assert done.stdout == plain.stdout
    skip, batch, summary = said(done.stderr)
    assert (skip[0], summary[0]) == ("warning", "info")
    assert batch == ("debug", "batch: 2 documents, 1 match")
    assert plain.stderr.splitlines()[0] == skip[1]
    assert "document ':smile:'" in skip[1]
    assert summary[1].startswith("1 document, 1 skipped (1 malformed), 1 match, ")


def test_what_the_package_logs_is_a_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("xscl")

    @click.command()
    @LOG_FORMAT
    def failing() -> None:
        try:
            raise ValueError("odd")
        except ValueError:
            logger.exception("a fault")

    monkeypatch.setattr(sys, "argv", ["failing", "--log-format", "json"])
    monkeypatch.setattr(logger, "handlers", [])
    with pytest.raises(SystemExit):
        run_command(failing)
    ((level, message),) = said(capsys.readouterr().err)
    assert level == "error"
    assert message.startswith("a fault\nTraceback")


def test_quiet_says_only_what_went_wrong(folder: Path) -> None:
    done = xscl("run", "q.xscl", "--events", "e.jsonl", "--quiet", "-o", "out", at=folder)
    assert done.stderr.startswith("skipped: ")
    assert len(done.stderr.splitlines()) == 1
    (folder / "e.jsonl").write_text(GOOD, encoding="utf-8")
    done = xscl(*("run", "q.xscl", "--events", "e.jsonl", "--quiet", "--format", "text"), at=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("q.xscl", "--events", "none"), 2, "none"),
        (("q.xscl", "--events", "e.jsonl", "-o", "none/f"), 1, "none"),
        (("q.xscl", "--events", "e.jsonl", "--batch", "x"), 2, "x"),
        (("-q", "S//a[", "--events", "e.jsonl"), 2, "-q: query 'q1', line 1"),
        (("q.xscl", "--events", "e.jsonl", "-v", "--quiet"), 2, "exclude"),
    ],
)
def test_an_error_is_a_line_of_json(
    folder: Path, words: tuple[str, ...], code: int, problem: str
) -> None:
    done = xscl("run", *words, "--log-format", "json", at=folder)
    ((level, message),) = said(done.stderr)
    assert (done.returncode, level) == (code, "error")
    assert problem in message


def test_a_watch_says_what_came_of_each_fetch(folder: Path) -> None:
    with serving() as server:
        server.site["/s"] = Reply(body=rss(channel="<item><title>a</title></item>"))
        feeds = [f"S={server.url('/s')}", f"S={server.url('/gone', 'localhost')}"]
        words = ["watch", "-q", "S/item", "--feeds-db", "f.duckdb", "--allow-private", "--once"]
        words += ["--feed", feeds[0], "--feed", feeds[1], "--log-format", "json"]
        lines = said(xscl(*words, "-v", at=folder).stderr)
        assert ("debug", "poll: 1 new item, 1 match") in lines
        (read,) = (text for level, text in lines if level == "debug" and "/s: read" in text)
        (failed,) = (text for level, text in lines if level == "warning")
        assert "/gone: " in failed
        assert "next at" in read


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wa", {"watch"}),
        ("feeds ", {"add", "show"}),
        ("run --format ", {"text", "jsonl", "counts", "atom", "jsonfeed"}),
        ("watch --webhook-", {"--webhook-headers", "--webhook-body"}),
        ("wach --f", set()),
        ("nothing x", set()),
    ],
)
def test_words_are_completed(tmp_path: Path, words: str, offered: set[str]) -> None:
    asked = {
        "_XSCL_COMPLETE": "bash_complete",
        "COMP_WORDS": f"xscl {words}",
        "COMP_CWORD": str(words.count(" ") + 1),
    }
    done = xscl(at=tmp_path, environment=asked)
    assert done.stderr == ""
    assert {line.partition(",")[2] for line in done.stdout.split()} == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script(tmp_path: Path, shell: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "commands.md"
    assert f"_XSCL_COMPLETE={shell}_source xscl" in page.read_text(encoding="utf-8")
    environment = {"_XSCL_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"}
    assert "_xscl_completion" in xscl(at=tmp_path, environment=environment).stdout
