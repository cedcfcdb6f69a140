"""`xscl feeds`: a group of commands, of which `show` need not be named before its file."""

from __future__ import annotations

import click

from xscl.cli.feeds.add import add
from xscl.cli.feeds.show import show

__all__ = ["feeds"]


class _Feeds(click.Group):
    """`xscl feeds FILE` is `xscl feeds show FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Feeds)
def feeds() -> None:
    """Shows the feeds that a watch polls, and adds feeds to an OPML file."""


for command in (show, add):
    feeds.add_command(command)
