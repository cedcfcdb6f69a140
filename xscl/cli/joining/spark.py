"""`xscl spark`: queries of any kind over documents on Spark; `xscl join` is the older name.

`spark-submit` takes this file as it is, with the same options.
"""

from __future__ import annotations

import click

from xscl.cli.exits import run_command
from xscl.cli.helping.groups import Group
from xscl.cli.joining.run import run
from xscl.cli.joining.status import status

__all__ = ["spark"]


@click.group(cls=Group)
def spark() -> None:
    """Runs queries over a stream of documents on Spark, and shows how far it is."""


for command in (run, status):
    spark.add_command(command)


if __name__ == "__main__":
    run_command(spark)
