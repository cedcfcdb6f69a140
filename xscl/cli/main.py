"""The command line: its commands are `xscl run`, `check`, `explain`, `why`, `watch`, `feeds`,
`state`, `ingest`, `demo` and `sample`, a module each, which is imported when its command is given.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

from xscl.cli.exits import run_command
from xscl.version import __version__

__all__ = ["main"]

_COMMANDS = {
    "run": "run",
    "check": "check",
    "explain": "check",
    "why": "why",
    "watch": "watch",
    "feeds": "feeds.group",
    "state": "state",
    "ingest": "ingest",
    "demo": "demo",
    "sample": "sample",
}
"""The commands, and the modules that they are in."""


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
        command = getattr(import_module(f"xscl.cli.{_COMMANDS[cmd_name]}"), cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="xscl")
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""
