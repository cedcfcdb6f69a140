"""`xscl help COMMAND`: the same as `xscl COMMAND --help`."""

from __future__ import annotations

from collections.abc import Sequence

import click

__all__ = ["help"]


@click.command()
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help(context: click.Context, names: Sequence[str]) -> int:
    """Shows the help of a command."""
    assert context.parent is not None
    shown = context.parent
    for name in names:
        group = shown.command
        found = group.get_command(shown, name) if isinstance(group, click.Group) else None
        if found is None:
            raise click.UsageError(f"{shown.command_path} has no command {name!r}")
        shown = found.make_context(name, [], parent=shown, resilient_parsing=True)
    click.echo(shown.get_help())
    return 0
