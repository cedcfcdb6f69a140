"""The command line: a module for each command, which is imported when its command is given."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import CompletionItem

from xscl.cli.exits import run_command
from xscl.cli.helping.examples import with_examples
from xscl.cli.helping.groups import Group
from xscl.cli.helping.versions import VERSION

__all__ = ["cli", "main"]

_COMMANDS = {
    "demo": ("demo", "Runs six queries over two weeks of sample feeds."),
    "sample": ("sample", "Writes the demo's feeds and queries into a folder, to start from."),
    "run": ("run", "Runs queries over documents, and writes their matches."),
    "watch": (
        "watch",
        "Polls feeds, and runs queries over their new items, until it is stopped or --once is "
        "done.",
    ),
    "serve": (
        "serving.serve",
        "Answers queries and documents over HTTP, and shows them on a page.",
    ),
    "check": (
        "check",
        "Checks queries: prints errors with their places, and warnings of misleading patterns.",
    ),
    "explain": ("check", "Shows how queries are evaluated."),
    "why": ("why", "Shows why documents match a query, or why not."),
    "feeds": ("feeds.group", "Shows the feeds that a watch polls, and adds feeds to an OPML file."),
    "state": ("state", "Shows what a state file holds."),
    "config": (
        "settings.config",
        "Shows where each option of a command gets its value: xscl.toml, the environment, …",
    ),
    "help": ("helping.help", "Shows the help of a command."),
    "ingest": ("ingest", "Reads feeds on Spark into a table of item documents."),
    "spark": (
        "joining.spark",
        "Runs queries over a stream of documents on Spark, and shows how far it is.",
    ),
    "join": (
        "joining.join",
        "Joins documents on Spark by standing queries, and shows how far it is.",
    ),
}
"""The commands, each with the module that it is in and the first sentence of its help: a list of
them, for help or a shell, is written without importing any."""


def main() -> None:
    """Runs the command line."""
    run_command(cli)


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def named(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command = getattr(import_module(f"xscl.cli.{_COMMANDS[name][0]}"), name)
        assert isinstance(command, click.Command)
        return with_examples(command, name)

    def summaries(self, ctx: click.Context) -> dict[str, str]:
        return {name: summary for name, (_, summary) in _COMMANDS.items()}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        items = [
            CompletionItem(name, help=help)
            for name, help in self.summaries(ctx).items()
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@VERSION
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""


with_examples(cli, "")
