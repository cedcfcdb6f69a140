"""The options that commands share, their kinds of values, and how a command takes its options.

The options of a command are the fields of a dataclass, each `Annotated[type, option(…)]`; the
command's function gets one object of them (`takes`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import click
from click.core import ParameterSource

from xscl.consistency import Level
from xscl.errors import XSCLError
from xscl.memory.budget import LEAST_MEMORY
from xscl.sizes import size_of_text
from xscl.times import DAY, duration, to_seconds
from xscl.xpath_stage.texts.urls import Rules, rules_of

__all__ = [
    "DURATION",
    "FORM",
    "OUTPUT",
    "PERIOD",
    "QUERIES",
    "RATES",
    "SOURCE",
    "TO_FILE",
    "AllowPrivate",
    "Consistency",
    "Contact",
    "DeadLetters",
    "DryRun",
    "Fetching",
    "Form",
    "GivenQuery",
    "Kind",
    "Links",
    "MaxDocument",
    "Memory",
    "Params",
    "Queries",
    "QueriesOrNone",
    "QueryAndDocuments",
    "Rates",
    "Revisable",
    "State",
    "Stream",
    "assignment",
    "by_default",
    "echo_json",
    "flag",
    "group",
    "option",
    "size",
    "takes",
    "wrong_usage",
]

Value = TypeVar("Value")
Options = TypeVar("Options")
Command = TypeVar("Command", bound=Callable[..., object])
Adding = Callable[[Command], Command]
"""A decorator that gives a command options or an argument."""

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
_GIVEN = "xscl.queries"


def option(help: str, *flags: str, **attributes: Any) -> Callable[[str], Adding[Any]]:
    """The option of a field, `--its-name` unless flags are given; its default is in the help."""
    attributes.setdefault("show_default", "default" in attributes)
    return lambda name: click.option(
        *(flags or (f"--{name.replace('_', '-')}",)), name, help=help, **attributes
    )


def flag(help: str) -> Callable[[str], Adding[Any]]:
    """The option of a field that is true where it is given."""
    return option(help, is_flag=True)


def group(options: Adding[Any]) -> Callable[[str], Adding[Any]]:
    """Several options of one field, which has their values by name."""
    return lambda name: options


def takes(kind: type[Options]) -> Callable[[Callable[[Options], int]], Callable[..., int]]:
    """Gives a command the options of a dataclass: its own first, then those of its bases."""
    hints = get_type_hints(kind, include_extras=True)
    names = [name for one in kind.__mro__ for name in inspect.get_annotations(one)]

    def decorate(function: Callable[[Options], int]) -> Callable[..., int]:
        @functools.wraps(function)
        def command(**given: object) -> int:
            own = {name: given.pop(name) for name in names if name in given}
            return function(kind(**own, **{name: given for name in names if name not in own}))

        for name in reversed(names):
            (adding,) = hints[name].__metadata__
            adding(name)(command)
        return command

    return decorate


def by_default(name: str) -> bool:
    """Whether the option of a field of the command at hand is not given."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.DEFAULT


@contextlib.contextmanager
def wrong_usage(option: str = "") -> Iterator[None]:
    """Makes wrong usage of what an option names and is not there or cannot be."""
    try:
        yield
    except (XSCLError, FileNotFoundError, ValueError) as error:
        raise click.UsageError(f"{option}: {error}" if option else str(error)) from error


def echo_json(members: object) -> None:
    """Prints what `--format json` shows."""
    click.echo(json.dumps(members, indent=2, ensure_ascii=False))


class GivenQuery(str):
    """A query that is given on the command line, where the name of a query file may be."""

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


def _argument(callback: Callable[..., object], form: str) -> Callable[[str], Adding[Any]]:
    """An argument of queries, and the option of those that are given in its place."""
    given = click.option(
        "-q",
        "given_queries",
        multiple=True,
        is_eager=True,
        expose_value=False,
        metavar="QUERY",
        callback=_keep_given,
        help="A query, in place of a query file or alongside one.",
    )
    return lambda name: (
        lambda command: click.argument(name, nargs=-1, metavar=form, callback=callback)(
            given(command)
        )
    )


Queries = Annotated[Sequence[str], _argument(_all_queries, "[QUERIES]...")]
QueriesOrNone = Annotated[Sequence[str], _argument(_queries, "[QUERIES]...")]
QueryAndDocuments = Annotated[Sequence[str], _argument(_one_query, "QUERIES [DOC]...")]


class Kind(click.ParamType[Value]):
    """A text that `read` makes a value of, or raises ValueError."""

    def __init__(self, name: str, read: Callable[[str], Value]) -> None:
        self.name, self._read = name, read

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Value:
        if not isinstance(value, str):
            return cast(Value, value)
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _level(text: str) -> str:
    try:
        return str(Level.of(text))
    except XSCLError as error:
        raise ValueError(str(error)) from error


def assignment(form: str, example: str) -> Kind[tuple[str, str]]:
    """`NAME=VALUE`, in a form such as `STREAM=SOURCE`."""

    def read(text: str) -> tuple[str, str]:
        name, equals, assigned = text.partition("=")
        if not (name and equals and assigned):
            raise ValueError(f"{text!r} is not of the form {form}, such as {example}")
        return name, assigned

    return Kind(form, read)


def _rate(text: str) -> tuple[str, float]:
    stream, equals, rate = text.rpartition("=")
    try:
        if stream and equals and 0 < (found := float(rate)) < inf:
            return stream, found
    except ValueError:
        pass
    raise ValueError(f"{text!r} is not of the form STREAM=RATE, documents a second, such as S=20.5")


def size(least: int = 1) -> Kind[int]:
    """A number of bytes, alone or with a unit such as `MiB`."""

    def read(text: str) -> int:
        if (size := size_of_text(text)) < least:
            raise ValueError(f"{text!r} is less than {least >> 20} MiB")
        return size

    return Kind("SIZE", read)


def _period(text: str) -> float:
    text = text.strip()
    period = duration(f"{text}in" if text.lower().endswith("m") else text)
    if period is None or not 1_000_000 <= period <= 366 * DAY:
        raise ValueError(f"{text!r} is less than a second, or more than a year, or without end")
    return to_seconds(period)


DURATION = Kind("DURATION", duration)
"""A duration in the language's form, in microseconds; None for INF."""

PERIOD = Kind("DURATION", _period)
"""A duration in the language's form, or with `m` for minutes as is usual for this; in seconds."""

SOURCE = assignment("STREAM=SOURCE", "S=feeds/")

FORM = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or JSON for programs.",
)
Form = Annotated[str, group(FORM)]
OUTPUT = ("-o", "--output")
TO_FILE: Mapping[str, Any] = {
    "type": click.Path(dir_okay=False, allow_dash=True),
    "callback": lambda context, option, name: None if name == "-" else name,
}
"""The file of the matches; None is standard output."""
QUERIES = _argument(_all_queries, "[QUERIES]...")("queries")
Stream = Annotated[
    str | None, option("Only the matches that queries publish to this stream.", metavar="NAME")
]
State = Annotated[
    str | None,
    option(
        "A file that keeps all that the next run needs to continue where this one ends.",
        type=click.Path(dir_okay=False),
        metavar="FILE",
    ),
]
DryRun = Annotated[bool, flag("Only list the queries of --state that continue, start and stop.")]
Links = Annotated[
    Rules,
    option(
        "How links of feed items are written: canonical (one form for one page), canonical "
        "less rules of it (canonical,-www,-scheme), or raw (as given).",
        type=Kind("RULES", rules_of),
        default="canonical",
    ),
]
MaxDocument = Annotated[
    int,
    option(
        "The size of a document (line, file, feed) above which it is skipped.",
        type=size(),
        default="16 MiB",
    ),
]
Memory = Annotated[
    int | None,
    option(
        "The bytes that are retained in memory, 64 MiB at least; the rest goes to temporary files.",
        type=size(LEAST_MEMORY),
        metavar="SIZE",
    ),
]
Revisable = Annotated[
    Sequence[str],
    option(
        "A stream whose documents may be retracted (docs/envelope.md); may be repeated.",
        multiple=True,
        metavar="STREAM",
    ),
]
Consistency = Annotated[
    str | None,
    option(
        "When matches are reported, of queries that say nothing of it: strong, middle, "
        "middle(5 s), weak (docs/patterns.md).  [default: strong; with --state, as in its last "
        "run]",
        metavar="LEVEL",
        type=Kind("LEVEL", _level),
    ),
]
_RATES: dict[str, Any] = {
    "type": Kind("STREAM=RATE", _rate),
    "multiple": True,
}
RATES = click.option(
    "--rates",
    **_RATES,
    help="How many documents of a stream come each second, for the plans of queries in EQL; may "
    "be repeated.  [default: 1]",
)
Rates = Annotated[
    Sequence[tuple[str, float]],
    option(
        "How many documents of a stream come each second, for the plans of queries in EQL; may "
        "be repeated.  [default: as measured]",
        "--rates",
        **_RATES,
    ),
]
DeadLetters = Annotated[
    str | None,
    option(
        "A file to which each skipped document is added, with the reason.",
        type=click.Path(dir_okay=False),
        metavar="FILE",
    ),
]
Params = Annotated[
    Sequence[tuple[str, str]],
    option(
        "A CSV file: each row is a subscription of the query NAME, each column a parameter.",
        multiple=True,
        type=assignment("NAME=FILE.csv", "promo=authors.csv"),
    ),
]
Contact = Annotated[
    str | None,
    option("Your mail or web address, sent to the servers of the feeds.", metavar="ADDRESS"),
]
AllowPrivate = Annotated[bool, flag("Read feeds from this machine and its private network, too.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How feeds are fetched, and their items read."""

    every: Annotated[
        float,
        option(
            "The time between two fetches of a feed, unless its server asks for more.",
            type=PERIOD,
            default="10m",
            show_default=True,
        ),
    ]
    contact: Contact
    allow_private: AllowPrivate
    updates: Annotated[bool, flag("Publish an edited item again, as a document of its own.")]
    links: Links
    max_document: MaxDocument
