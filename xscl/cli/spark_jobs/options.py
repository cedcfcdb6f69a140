"""What the commands that run on Spark share: options, and how a state is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import click

from xscl.cli.options import assignment, echo_json, option
from xscl.printable import printable

__all__ = ["Master", "Settings", "show_status"]

Master = Annotated[
    str | None,
    option(
        "Where Spark runs, as for spark-submit.  [default: local[*], or what spark-submit says]",
        metavar="URL",
    ),
]
Settings = Annotated[
    Sequence[tuple[str, str]],
    option(
        "A setting of Spark.",
        "--conf",
        multiple=True,
        type=assignment("NAME=VALUE", "spark.driver.memory=4g"),
    ),
]


def show_status(members: object, form: str, lines: Iterable[str]) -> int:
    """Prints how far a job is: as JSON, or as lines."""
    if form == "json":
        echo_json(members)
    else:
        for line in lines:
            click.echo(printable(line))
    return 0
