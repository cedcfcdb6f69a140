"""What every command does first, done once: imported by the process that commands fork from (see
`tests.commands`), it has the command line imported, and queries read; and a state was opened, for
which DuckDB imports pandas, where that is installed."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path

import click

import xscl
from datasets import FEEDS
from xscl.cli.main import cli

# What is imported where it is used.
for name in (
    "pyarrow",
    "rich.progress",
    "sqlglot.dialects.duckdb",
    "xscl.durable.recovery",
    "xscl.serve.server",
):
    import_module(name)
for name in cli.list_commands(click.Context(cli)):
    cli.get_command(click.Context(cli), name)
with (
    tempfile.TemporaryDirectory() as folder,
    xscl.Engine(Path(folder) / "state.duckdb") as engine,
):
    engine.load((FEEDS / "queries.xscl").read_text(encoding="utf-8"))
    engine.publish("S", "<item/>")
