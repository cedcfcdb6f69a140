"""Packages that a start must not import, as only some commands need them."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from xscl.cli.main import _COMMANDS, cli

_HEAVY = (
    "asyncio", "duckdb", "feedparser", "httpcore", "lark", "matplotlib", "pandas",
    "pyarrow", "pyspark", "rich", "sqlglot",
    "xscl.event_queries", "xscl.language.syntax", "xscl.pattern_stage.algebra",
    "xscl.pattern_stage.processor",
)  # fmt: skip

_PUBLISH = """
with xscl.Engine() as engine:
    engine.subscribe("S//a->x JOIN {x = y, 1 day} S//b->y")
    engine.publish("S", "<a>v</a>", timestamp=1)
    (match,) = engine.publish("S", "<b>v</b>", timestamp=2)
"""


def imported(program: str, **environment: str) -> set[str]:
    """The packages that a program has imported at its end."""
    reported = f"import atexit, sys; atexit.register(lambda: print('|', *sys.modules)); {program}"
    done = subprocess.run(
        [sys.executable, "-c", reported],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("|")[2].split())


@pytest.mark.parametrize(
    ("program", "needed"),
    [
        ("import xscl; xscl.Engine()", set()),
        (f"import xscl{_PUBLISH}", {"lark", "xscl.language.syntax"}),
        ("import xscl.cli.run", set()),
    ],
)
def test_what_is_heavy_is_imported_where_it_is_used(program: str, needed: set[str]) -> None:
    assert imported(program) & {*_HEAVY} == needed


def test_help_and_completion_import_no_command() -> None:
    start = "import sys; sys.argv = ['xscl', '--help']; from xscl.cli.main import main; main()"
    word = {"_XSCL_COMPLETE": "bash_complete", "COMP_WORDS": "xscl r", "COMP_CWORD": "1"}
    for environment in ({}, word):
        assert not imported(start, **environment) & {*_HEAVY, "xscl.engine", "xscl.cli.run", "lxml"}


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_list_of_commands_has_the_beginnings_of_their_help(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help is not None
    first = " ".join(command.help.split("\n\n")[0].split())
    assert first.startswith(_COMMANDS[name][1])
