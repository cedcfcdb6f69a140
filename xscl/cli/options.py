"""The options and arguments that commands share, and their kinds of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from xscl.documents.retention import RETAINED
from xscl.durable.group_commit import seconds_of
from xscl.feeds import Rules, rules_of
from xscl.memory.budget import LEAST_MEMORY
from xscl.sizes import size_of_text
from xscl.times import duration, to_seconds

__all__ = [
    "ALLOW_PRIVATE",
    "COMMIT_EVERY",
    "CONTACT",
    "DEAD_LETTERS",
    "DRY_RUN",
    "EVERY",
    "FIELD_OF_ID",
    "FIELD_OF_TIME",
    "LINKS",
    "MAX_DOCUMENT",
    "MEMORY",
    "PARAMS",
    "QUERIES",
    "QUERIES_OR_NONE",
    "QUERY_AND_DOCUMENTS",
    "RETAIN",
    "RETAIN_MOST",
    "SOURCE",
    "STATE",
    "STREAM",
    "UPDATES",
    "Assignment",
    "CommitEvery",
    "Duration",
    "GivenQuery",
    "Period",
]

Command = TypeVar("Command", bound=Callable[..., object])

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
_GIVEN = "xscl.queries"


class GivenQuery(str):
    """A query that is given on the command line, where the name of a query file may stand."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> GivenQuery:
        """The query of a text; its name is the option's."""
        given = super().__new__(cls, "-q")
        given.text = text
        return given


def _keep_given(
    context: click.Context, _: click.Parameter, texts: tuple[str, ...]
) -> tuple[GivenQuery, ...]:
    given = tuple(map(GivenQuery, texts))
    context.meta[_GIVEN] = given
    return given


def _all_queries(
    context: click.Context, argument: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    if not (queries := _queries(context, argument, names)):
        raise click.UsageError("no query: name a query file, or give a query with -q")
    return queries


def _queries(
    context: click.Context, argument: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    return (*(_FILE.convert(name, argument, context) for name in names), *context.meta[_GIVEN])


def _one_query(
    context: click.Context, argument: click.Parameter, words: tuple[str, ...]
) -> tuple[str, ...]:
    given = context.meta[_GIVEN]
    if len(given) > 1:
        raise click.UsageError("-q: give one query; `--query` picks one of a file")
    first, *others = (*given, *words) or [""]
    if not first:
        raise click.UsageError("no query: name a query file, or give a query with -q")
    return (first if given else _FILE.convert(first, argument, context), *others)


def _with_given(argument: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """An argument of queries, and the option of those that are given in its place."""
    option = click.option(
        "-q",
        "given_queries",
        multiple=True,
        is_eager=True,
        expose_value=False,
        metavar="QUERY",
        callback=_keep_given,
        help="A query, in place of a query file or beside one.",
    )
    return lambda command: argument(option(command))


QUERIES = _with_given(
    click.argument("queries", nargs=-1, metavar="[QUERIES]...", callback=_all_queries)
)
QUERIES_OR_NONE = _with_given(
    click.argument("queries", nargs=-1, metavar="[QUERIES]...", callback=_queries)
)
QUERY_AND_DOCUMENTS = _with_given(
    click.argument("words", nargs=-1, metavar="QUERIES [DOC]...", callback=_one_query)
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
FIELD_OF_ID = click.option(
    "--id",
    "id",
    multiple=True,
    metavar="[STREAM=]FIELD",
    help="The field that is the id of a document of --json and --docs.",
)
FIELD_OF_TIME = click.option(
    "--time",
    "time",
    multiple=True,
    metavar="[STREAM=]FIELD",
    help="The field that is its time; mtime is its file's last modification.",
)
TABLE = Assignment("NAME=FILE.csv", "promo=authors.csv")


class Size(click.ParamType[int]):
    """A number of bytes, alone or with a unit such as `MiB`."""

    name = "SIZE"

    def __init__(self, least: int = 1) -> None:
        self._least = least

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            size = size_of_text(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if size < self._least:
            self.fail(f"{value!r} is less than {self._least >> 20} MiB", param, ctx)
        return size


STREAM = click.option(
    "--stream", metavar="NAME", help="Only the matches that queries publish to this stream."
)
STATE = click.option(
    "--state",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A file that keeps all that the next run needs to go on where this one ends.",
)


class CommitEvery(click.ParamType[float]):
    """For how many seconds a document may wait until the state has it."""

    name = "DURATION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            return seconds_of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


COMMIT_EVERY = click.option(
    "--commit-every",
    type=CommitEvery(),
    default="0 s",
    show_default="after each batch",
    help="How long batches may wait until --state is written, then with all that wait.",
)
DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Only list the queries of --state that go on, start and stop.",
)


class LinkRules(click.ParamType[Rules]):
    """`canonical`, `raw`, or `canonical` less some of its rules."""

    name = "RULES"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Rules:
        if isinstance(value, frozenset):
            return value
        try:
            return rules_of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


LINKS = click.option(
    "--links",
    type=LinkRules(),
    default="canonical",
    show_default=True,
    help="How links of feed items are written: canonical (one form for one page), canonical less "
    "rules of it (canonical,-www,-scheme), or raw (as given).",
)
MAX_DOCUMENT = click.option(
    "--max-document",
    type=Size(),
    default="16 MiB",
    show_default=True,
    help="The size of a document (line, file, feed) above which it is skipped.",
)
MEMORY = click.option(
    "--memory",
    type=Size(LEAST_MEMORY),
    metavar="SIZE",
    help="The bytes that are held in memory, 64 MiB at least; the rest goes to temporary files.",
)
DEAD_LETTERS = click.option(
    "--dead-letters",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A file to which each skipped document is added, with the reason.",
)
PARAMS = click.option(
    "--params",
    multiple=True,
    type=TABLE,
    help="A CSV file: each row is a subscription of the query NAME, each column a parameter.",
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
    help="The time between two fetches of a feed, unless its server asks for more.",
)
CONTACT = click.option(
    "--contact",
    metavar="ADDRESS",
    help="Your mail or web address, sent to the servers of the feeds.",
)
ALLOW_PRIVATE = click.option(
    "--allow-private",
    is_flag=True,
    help="Read feeds from this machine and its private network, too.",
)
UPDATES = click.option(
    "--updates", is_flag=True, help="Publish an edited item again, as a document of its own."
)
RETAIN = click.option(
    "--retain",
    type=Duration(),
    default="1 week",
    show_default=True,
    help="How long items of feeds are retained for queries that come later; 0 retains none so.",
)
RETAIN_MOST = click.option(
    "--retain-most",
    type=click.IntRange(0),
    default=RETAINED,
    show_default=True,
    help="How many items of a stream are retained at most that no query reads.",
)
