"""`xscl sample`: what it says to run next runs as it is pasted, and finds what the demo finds."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import xscl
from datasets import FEEDS
from xscl.cli.main import cli
from xscl.sources.feed_files import read_feeds


@pytest.mark.parametrize("name", ["a b/c'd", "."])
def test_what_comes_next_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["sample", name])
    assert done.exit_code == 0
    lines = re.findall("^  (xscl .*)$", done.stdout, re.MULTILINE)
    assert {line.split()[1] for line in lines} == {"run", "explain", "why"}
    for line in lines:
        words = shlex.split(line)
        ran = CliRunner().invoke(cli, words[1:])
        assert (ran.exit_code, ran.stdout != "") == (0, True), f"{line}\n{ran.output}"
        assert "0 matches" not in ran.stderr


def test_it_finds_what_the_demo_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(cli, ["sample", "try"])
    done = CliRunner().invoke(cli, ["run", "try/queries.xscl", "--feed", "S=try/feeds"])
    with xscl.Engine() as engine:
        engine.load((FEEDS / "queries.xscl").read_text())
        moment = 1_781_481_600
        expected = engine.publish_many(list(read_feeds(FEEDS, "S", arrival=moment)))
    reported = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert sorted(map(str, reported)) == sorted(str(match.result) for match in expected)
    # The line in the query file itself, from its folder.
    (line,) = re.findall("^--  *(xscl run .*)$", Path("try/queries.xscl").read_text(), re.MULTILINE)
    monkeypatch.chdir("try")
    again = CliRunner().invoke(cli, shlex.split(line)[1:])
    assert len(again.stdout.splitlines()) == len(reported) > 10


@pytest.mark.parametrize("there", ["queries.xscl", "feeds/books-pagewright.xml"])
def test_nothing_is_written_over(there: str, tmp_path: Path) -> None:
    mine = tmp_path / there
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    done = CliRunner().invoke(cli, ["sample", str(tmp_path)])
    assert (done.exit_code, "is there already; name another folder" in done.stderr) == (2, True)
    assert mine.read_text() == "mine"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert CliRunner().invoke(cli, ["sample", str(tmp_path / "f")]).exit_code == 2
