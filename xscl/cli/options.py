"""The options and arguments that commands share, and their kinds of values."""

from __future__ import annotations

import re

import click

from xscl.memory import LEAST_MEMORY
from xscl.times import duration, to_seconds

__all__ = [
    "ALLOW_PRIVATE",
    "CONTACT",
    "DEAD_LETTERS",
    "DRY_RUN",
    "EVERY",
    "LINKS",
    "MAX_DOCUMENT",
    "MEMORY",
    "PARAMS",
    "QUERIES",
    "SOURCE",
    "STATE",
    "STREAM",
    "UPDATES",
    "Assignment",
    "Duration",
    "Period",
]

_UNITS = {"": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}

QUERIES = click.argument(
    "queries",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)


class Assignment(click.ParamType[tuple[str, str]]):
    """`NAME=VALUE`, in a form such as `STREAM=SOURCE`."""

    def __init__(self, form: str, example: str) -> None:
        self.name = form
        self._example = example

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        name, equals, assigned = str(value).partition("=")
        if not (name and equals and assigned):
            problem = f"{value!r} is not of the form {self.name}, such as {self._example}"
            self.fail(problem, param, ctx)
        return name, assigned


SOURCE = Assignment("STREAM=SOURCE", "S=feeds/")
TABLE = Assignment("NAME=FILE.csv", "promo=authors.csv")


class Size(click.ParamType[int]):
    """A number of bytes, alone or with a unit such as `MiB`."""

    name = "SIZE"

    def __init__(self, least: int = 1) -> None:
        self._least = least

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = re.fullmatch(r"([0-9]+) ?([KMG]iB)?", str(value), re.IGNORECASE)
        size = 0 if found is None else int(found[1]) * _UNITS[(found[2] or "").lower()]
        if not size:
            self.fail(f"{value!r} is no size; write for example 16 MiB", param, ctx)
        if size < self._least:
            self.fail(f"{value!r} is less than {self._least >> 20} MiB", param, ctx)
        return size


STREAM = click.option(
    "--stream", metavar="NAME", help="Only matches that are published to this stream."
)
STATE = click.option(
    "--state",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keeps all that the run needs to go on where it was, whatever ends it.",
)
DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Only tell which queries of --state go on, start and stop.",
)
LINKS = click.option(
    "--links",
    type=click.Choice(["canonical", "raw"]),
    default="canonical",
    show_default=True,
    help="Links of feed items: in one form for what is the same page, or as they are given.",
)
MAX_DOCUMENT = click.option(
    "--max-document",
    type=Size(),
    default="16 MiB",
    show_default=True,
    help="A larger document (line, file, feed) is skipped.",
)
MEMORY = click.option(
    "--memory",
    type=Size(LEAST_MEMORY),
    metavar="SIZE",
    help="What is held in process; what is more goes to temporary files.  At least 64 MiB.",
)
DEAD_LETTERS = click.option(
    "--dead-letters",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Documents that could not be used, each with the reason, are added to it.",
)
PARAMS = click.option(
    "--params",
    multiple=True,
    type=TABLE,
    help="A CSV file; the query NAME is subscribed once for each row, its parameters the columns.",
)


class Duration(click.ParamType[int | None]):
    """A duration in the language's form, in microseconds; None for INF."""

    name = "DURATION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Period(click.ParamType[float]):
    """A duration in the language's form, or with `m` for minutes as is usual for this; in
    seconds."""

    name = "DURATION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value).strip()
        try:
            period = duration(f"{text}in" if text.lower().endswith("m") else text)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if period is None or period < 1_000_000:
            self.fail(f"{text!r} is less than a second, or without end", param, ctx)
        return to_seconds(period)


EVERY = click.option(
    "--every",
    type=Period(),
    default="10m",
    show_default="10m; with --once, until the next run",
    help="How long to leave a feed alone whose server asks for nothing longer.",
)
CONTACT = click.option(
    "--contact", help="Your address of mail or web, for those whose feeds are read."
)
ALLOW_PRIVATE = click.option(
    "--allow-private", is_flag=True, help="Read feeds from this machine and its network, too."
)
UPDATES = click.option(
    "--updates", is_flag=True, help="An edited item is a new version, a document of its own."
)
