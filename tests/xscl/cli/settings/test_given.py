"""`xscl.toml` and the environment: what comes from where, as `xscl config` shows it and as commands
do it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest

from tests.commands import xscl
from xscl.cli.main import cli
from xscl.cli.settings.given import COMMANDS, Configured, options_of, variable_of

EVENTS = '{"id": "1", "timestamp": 0, "xml": "<a>1</a>"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "q.xscl").write_text("-- name: all\nS//a")
    (tmp_path / "set" / "e.jsonl").write_text(EVENTS)
    return tmp_path


def shown(folder: Path, *arguments: str, **environment: str) -> dict[str, tuple[object, str, str]]:
    """The settings of `xscl run`, less the defaults."""
    done = xscl(
        "config",
        "--format",
        "json",
        "run",
        *arguments,
        at=folder,
        environment={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["commands"]["run"]
    return {
        key: (one["value"], one["from"], one["place"])
        for key, one in found.items()
        if one["from"] != "default"
    }


def test_those_that_read_a_file_are_named() -> None:
    context = click.Context(cli)
    assert isinstance(cli, click.Group)
    for name in cli.list_commands(context):
        assert isinstance(cli.get_command(context, name), Configured) == (name in COMMANDS)


def test_the_variable_of_headers_keeps_its_meaning() -> None:
    watch = cli.get_command(click.Context(cli), "watch")  # type: ignore[attr-defined]
    options = options_of(watch)
    assert variable_of(options["webhook-headers"]) is None
    assert variable_of(options["dead-letters"]) == "XSCL_DEAD_LETTERS"


def test_an_option_is_before_the_environment_and_that_before_the_file(folder: Path) -> None:
    (folder / "xscl.toml").write_text('format = "text"\nlateness = 0\nbatch = 7\n')
    given = shown(folder, "--batch", "9", XSCL_FORMAT="counts", XSCL_BATCH="8")
    assert given == {
        "batch": ("9", "option", "command line"),
        "format": ("counts", "environment", "XSCL_FORMAT"),
        "lateness": ("0", "file", "xscl.toml, line 2"),
    }


def test_the_table_of_a_command_is_before_what_is_above(folder: Path) -> None:
    text = 'feed = { S = "a" }\n[run]\nevents = ["e", "f"]\nquiet = true\n[watch]\nonce = true\n'
    (folder / "xscl.toml").write_text(text)
    assert shown(folder) == {
        "events": (["e", "f"], "file", "xscl.toml, line 3"),
        "quiet": (True, "file", "xscl.toml, line 4"),
    }


def test_what_is_given_replaces_all_that_stands_for_the_same(folder: Path) -> None:
    (folder / "xscl.toml").write_text(
        'queries = "q.xscl"\nquiet = true\n[feed]\nS = ["a", "b"]\nR = "c"\n'
    )
    assert shown(folder)["feed"][0] == ["S=a", "S=b", "R=c"]
    assert set(shown(folder, "-q", "S//a", "--events", "e", "-v")) == {"q", "events", "verbose"}
    given = shown(folder, XSCL_FEED="S=d 'T=e f'")
    assert given["feed"] == (["S=d", "T=e f"], "environment", "XSCL_FEED")


def test_a_run_by_a_file_of_another_folder(folder: Path) -> None:
    """Its files are looked up from there; without it they are not found."""
    (folder / "set" / "x.toml").write_text(
        'queries = "q.xscl"\nevents = "e.jsonl"\nformat = "counts"\noutput = "out"\n'
    )
    done = xscl("run", "--config", "set/x.toml", at=folder)
    assert (done.returncode, (folder / "set" / "out").read_text()) == (0, "all\t1\n"), done.stderr
    environment = {**os.environ, "XSCL_CONFIG": "set/x.toml"}
    done = xscl("run", "-o", "-", "--format", "jsonl", at=folder, environment=environment)
    assert json.loads(done.stdout)["documents"] == ["1"]
    assert xscl("run", at=folder).returncode == 2


def test_a_file_of_settings_is_not_written_over(folder: Path) -> None:
    text = 'queries = "set/q.xscl"\nevents = "set/e.jsonl"\noutput = "xscl.toml"\n'
    (folder / "xscl.toml").write_text(text)
    done = xscl("run", at=folder)
    assert (done.returncode, (folder / "xscl.toml").read_text()) == (2, text)
    assert "is the same file as --config xscl.toml" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latness = 1", "xscl.toml, line 1: 'latness' is no option; did you mean 'lateness'?"),
        ("[run]\nport = 1", "xscl.toml, line 2: 'port' is no option of xscl run; "),
        ("\nquiet = 1", "xscl.toml, line 2: quiet is a number; write true or false"),
        ('batch = "1"', "line 1: batch is a text; write a number, without quotes"),
        ("state = 5", "line 1: state is a number; write a text, in quotes"),
        ("feed = 5", "line 1: feed is a number; write a table (STREAM = SOURCE)"),
        ("feed = { S = true }", "line 1: S is true or false; write a text"),
        ("run = 1", "line 1: run is a table: write [run] above its options"),
        ('lateness = "1 month"', "line 1: lateness: '1 month' is no duration"),
        ("state = ", "xscl.toml: it is not TOML: Invalid value (at "),
    ],
)
def test_what_is_wrong_has_its_place(folder: Path, text: str, said: str) -> None:
    (folder / "xscl.toml").write_text(text)
    for command in ("run", "config"):
        words = ("config", "run") if command == "config" else ("run", "set/q.xscl")
        done = xscl(*words, at=folder)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    assert xscl("run", "--help", at=folder).returncode == 0


def test_a_variable_that_is_misspelt_is_shown(folder: Path) -> None:
    done = xscl("config", at=folder, environment={**os.environ, "XSCL_STAET": "x"})
    assert "XSCL_STAET is no option's variable; did you mean XSCL_STATE?" in done.stderr
