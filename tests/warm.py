"""What every command does first, done once: imported by the process that commands fork from (see
`tests.commands`), it has the command line imported, and queries read."""

from __future__ import annotations

from importlib import import_module

import click

import xscl
from datasets import FEEDS
from xscl.cli.main import cli

# What is imported where it is used.
for name in ("pyarrow", "rich.progress", "sqlglot.dialects.duckdb", "xscl.durable.recovery"):
    import_module(name)
for name in cli.list_commands(click.Context(cli)):
    cli.get_command(click.Context(cli), name)
with xscl.Engine() as engine:
    engine.load((FEEDS / "queries.xscl").read_text(encoding="utf-8"))
