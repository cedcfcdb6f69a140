"""`xscl join`: a group of commands, of which `run` need not be named before its query files.

`spark-submit` takes this file as it is, with the same options.
"""

from __future__ import annotations

import click

from xscl.cli.exits import run_command
from xscl.cli.helping.groups import with_default
from xscl.cli.joining.run import run
from xscl.cli.joining.status import status

__all__ = ["join"]


@click.group(cls=with_default("run"))
def join() -> None:
    """Joins documents on Spark by standing queries, and shows how far it is."""


for command in (run, status):
    join.add_command(command)


if __name__ == "__main__":
    run_command(join)
