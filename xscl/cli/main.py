"""The command line: its commands are `xscl run`, `check`, `explain`, `why`, `watch`, `serve`,
`feeds`, `state`, `ingest`, `join`, `spark`, `demo` and `sample`, a module each, which is imported
when its command is given.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from xscl.cli.exits import run_command
from xscl.version import __version__

__all__ = ["main"]

_COMMANDS = {
    "run": ("run", "Runs queries over documents, and writes their matches."),
    "check": (
        "check",
        "Checks queries, and prints each error with its place; of a pattern, what it may not mean.",
    ),
    "explain": ("check", "Shows how queries are evaluated."),
    "why": ("why", "Shows why documents match a query, or why not."),
    "watch": ("watch", "Polls feeds, and runs queries over their new items."),
    "serve": (
        "serving.serve",
        "Answers queries and documents over HTTP, and shows them on a page.",
    ),
    "feeds": ("feeds.group", "Shows the feeds that a watch polls, and adds feeds to an OPML file."),
    "state": ("state", "Shows what a state file holds."),
    "ingest": ("ingest", "Reads feeds on Spark into a table of item documents."),
    "join": (
        "joining.join",
        "Joins documents on Spark by standing queries, and shows how far it is.",
    ),
    "spark": (
        "joining.spark",
        "Runs queries over a stream of documents on Spark, and shows how far it is.",
    ),
    "demo": ("demo", "Runs five queries over two weeks of sample feeds."),
    "sample": ("sample", "Writes the demo's feeds and queries into a folder, to start from."),
}
"""The commands, each with the module that it is in and the first sentence of its help: a list of
them, for help or a shell, is written without importing any."""


def main() -> None:
    """Runs the command line."""
    run_command(cli)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            # An option, or a name that cannot be meant, is left to click, and so is completion.
            if not ctx.resilient_parsing and (near := get_close_matches(cmd_name, _COMMANDS, n=1)):
                ctx.fail(f"there is no command {cmd_name!r}; did you mean {near[0]!r}?")
            return None
        command = getattr(import_module(f"xscl.cli.{_COMMANDS[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, _COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl([(one.name, one.get_short_help_str(limit)) for one in _stubs()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [one for one in _stubs() if one.name.startswith(incomplete)]
        items = [CompletionItem(one.name, help=one.get_short_help_str()) for one in named]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def _stubs() -> list[_Stub]:
    return [_Stub(name, help=summary) for name, (_, summary) in _COMMANDS.items()]


class _Stub(click.Command):
    """A command as far as it is listed."""

    name: str


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="xscl")
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""
