"""The options and arguments that commands share, and their kinds of values."""

from __future__ import annotations

import click

from xscl.times import duration

__all__ = ["DOCS", "EVENTS", "FEED", "PARAMS", "QUERIES", "Duration"]

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

EVENTS = click.option(
    "--events", multiple=True, metavar="FILE", help="Envelopes as JSON Lines; - is stdin."
)
DOCS = click.option(
    "--docs", multiple=True, type=SOURCE, help="Each file a glob names is a document."
)
FEED = click.option(
    "--feed", multiple=True, type=SOURCE, help="Items of a feed file or a folder of them."
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
