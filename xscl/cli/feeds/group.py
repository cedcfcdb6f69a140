"""`xscl feeds`: a group of commands, of which `show` need not be named before its file."""

from __future__ import annotations

import click

from xscl.cli.feeds.add import add
from xscl.cli.feeds.show import show
from xscl.cli.helping.groups import with_default

__all__ = ["feeds"]


@click.group(cls=with_default("show"))
def feeds() -> None:
    """Shows the feeds that a watch polls, and adds feeds to an OPML file."""


for command in (show, add):
    feeds.add_command(command)
