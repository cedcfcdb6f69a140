"""The command line: its commands are `xscl run`, `check`, `explain`, `why`, `watch`, `feeds`,
`state`, `ingest` and `demo`, a module each.
"""

from __future__ import annotations

import click

from xscl.cli.check import check, explain
from xscl.cli.demo import demo
from xscl.cli.exits import run_command
from xscl.cli.feeds.show import feeds
from xscl.cli.ingest import ingest
from xscl.cli.run import run
from xscl.cli.state import state
from xscl.cli.watch import watch
from xscl.cli.why import why
from xscl.version import __version__

__all__ = ["main"]


def main() -> None:
    """Runs the command line."""
    run_command(cli)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="xscl")
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""


for command in (run, check, explain, why, watch, feeds, state, ingest, demo):
    cli.add_command(command)
