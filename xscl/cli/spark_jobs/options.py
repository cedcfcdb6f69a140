"""The options of all commands that run on Spark."""

from __future__ import annotations

import click

from xscl.cli.options import Assignment

__all__ = ["MASTER", "SETTINGS"]

MASTER = click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs, as for spark-submit.  [default: local[*], or what spark-submit says]",
)
SETTINGS = click.option(
    "--conf",
    "settings",
    multiple=True,
    type=Assignment("NAME=VALUE", "spark.driver.memory=4g"),
    help="A setting of Spark.",
)
