"""Packages that a start must not import, as only some commands need them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from xscl.cli.main import _COMMANDS, cli

_HEAVY = (
    "asyncio", "duckdb", "feedparser", "httpcore", "lark", "matplotlib", "pandas",
    "pyarrow", "pyspark", "rich", "sqlglot",
    "xscl.event_queries", "xscl.language.syntax", "xscl.pattern_stage.algebra",
    "xscl.pattern_stage.processor",
)  # fmt: skip

_NOT_OF_A_RUN = (
    *(set(_HEAVY) - {"lark", "xscl.language.syntax"}),
    "email", "importlib.metadata", "re2", "secrets", "tomllib",
    "xscl.feeds", "xscl.language.checks.other_languages",
    "xscl.language.eql.build", "xscl.language.events.build", "xscl.language.patterns.build",
    "xscl.language.problem_words", "xscl.pattern_stage.values.terms", "xscl.polling", "xscl.serve",
    "xscl.sources.feed_files", "xscl.why",
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


def test_a_run_over_a_few_documents_imports_what_it_needs(tmp_path: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    documents.write_text(
        '{"stream": "S", "id": "1", "timestamp": 1, "xml": "<a>v</a>"}\n'
        '{"stream": "S", "id": "2", "timestamp": 2, "xml": "<b>v</b>"}\n'
    )
    query = "S//a->x JOIN {x = y, 1 day} S//b->y"
    words = ["xscl", "run", "-q", query, "--events", str(documents), "-o", str(tmp_path / "found")]
    start = f"sys.argv = {words!r}; from xscl.cli.main import main; main()"
    found = imported(start)
    assert not found & {*_NOT_OF_A_RUN}
    assert (tmp_path / "found").read_text().count("\n") == 1


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
