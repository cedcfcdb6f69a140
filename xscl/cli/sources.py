"""The sources of documents: an option for each kind, and how its values are read.

A new kind of source has a module in `xscl.sources` and an entry in `SOURCES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import click

from xscl.cli.options import SOURCE, group, wrong_usage
from xscl.errors import DocumentError, XSCLError
from xscl.sources.envelopes import Place, read_placed
from xscl.sources.fields import Fields
from xscl.sources.limits import MAX_DOCUMENT
from xscl.xpath_stage.texts.urls import CANONICAL, Rules

if TYPE_CHECKING:
    from xscl.durable.positions import Mark, Positions
    from xscl.engine import Engine

__all__ = [
    "Given",
    "Reading",
    "Sources",
    "check_given",
    "fields_of",
    "named_streams",
    "read_sources",
    "reads_standard_input",
    "unfed",
]

Envelope = dict[str, object]
Command = TypeVar("Command", bound=Callable[..., object])

Given = Mapping[str, Sequence[Any]]
"""The values of the options of sources, by name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read: a document that cannot be read, or has more than `max_document`
    bytes, goes to `on_error`; `links` are the rules of feeds' links, `fields` those of a stream's
    documents that are their id and time; `on_dates` gets how many items a feed has, and how many of
    them no date."""

    on_error: Callable[[DocumentError], None]
    max_document: int = MAX_DOCUMENT
    links: Rules = CANONICAL
    fields: Callable[[str], Fields] = lambda stream: Fields()
    on_dates: Callable[[int, int], object] = lambda items, undated: None


@dataclass(frozen=True, slots=True)
class Source:
    """The option `--name`, which may come several times.

    `read` gives the envelopes of one value: a text, or (stream, text) where the option is of the
    form STREAM=SOURCE.  `placed` gives them from a place on, of a file that may be only added to,
    each with the place after it: of that a state keeps the place, not each document.
    """

    name: str
    metavar: str
    help: str
    read: Callable[[Any, Reading], Iterable[Envelope]] | None = None
    placed: Callable[[Any, Reading, Place | None], Iterable[tuple[Envelope, Place]]] | None = None


def _events(path: str, how: Reading, after: Place | None) -> Iterable[tuple[Envelope, Place]]:
    _check_file(path)
    return read_placed(path, how.on_error, max_document=how.max_document, after=after)


def _rows(
    value: tuple[str, str], how: Reading, after: Place | None
) -> Iterable[tuple[Envelope, Place]]:
    from xscl.sources.json_rows import read_rows

    stream, path = value
    _check_file(path)
    return read_rows(
        path,
        stream,
        how.on_error,
        fields=how.fields(stream),
        max_document=how.max_document,
        after=after,
    )


def _check_file(path: str) -> None:
    # What is there may be a pipe that a shell has given a name.
    if path != "-" and (not Path(path).exists() or Path(path).is_dir()):
        raise XSCLError(f"there is no file {path!r}")


def _documents(value: tuple[str, str], how: Reading) -> Iterable[Envelope]:
    from xscl.sources.files import read_documents

    stream, pattern = value
    return read_documents(
        pattern,
        stream,
        how.on_error,
        max_document=how.max_document,
        fields=how.fields(stream),
    )


def _feeds(value: tuple[str, str], how: Reading) -> Iterable[Envelope]:
    from xscl.sources.feed_files import read_feeds

    stream, source = value
    return read_feeds(
        source,
        stream,
        on_error=how.on_error,
        links=how.links,
        max_document=how.max_document,
        on_dates=how.on_dates,
    )


def _items(folder: str, how: Reading) -> Iterable[Envelope]:
    from xscl.sources.ingested import read_items

    return read_items(folder, how.on_error, how.on_dates)


SOURCES = (
    Source(
        "events",
        "FILE",
        "A file of document envelopes as JSON Lines, or - for standard input.",
        placed=_events,
    ),
    Source(
        "json",
        "STREAM=FILE",
        "A file of JSON Lines, CSV or Parquet; each row is a document.",
        placed=_rows,
    ),
    Source("docs", "STREAM=GLOB", "Files, each a document of the stream.", _documents),
    Source(
        "feed",
        "STREAM=SOURCE",
        "A feed file, a folder of them or an OPML file; each item is a document.",
        _feeds,
    ),
    Source(
        "items", "DIR", "The folder that `xscl ingest --to` fills; each item is a document.", _items
    ),
)


def _source_options(command: Command) -> Command:
    """Gives a command an option for each kind of source; it gets their values by name."""
    for name, help in (
        ("time", "The field that is its time; mtime is its file's last modification."),
        ("id", "The field that is the id of a document of --json and --docs."),
    ):
        shown = "[STREAM=]FIELD"
        command = click.option(f"--{name}", name, multiple=True, metavar=shown, help=help)(command)
    for source in reversed(SOURCES):
        kind = SOURCE if source.metavar.startswith("STREAM=") else str
        option = click.option(
            f"--{source.name}",
            source.name,
            multiple=True,
            type=kind,
            metavar=source.metavar,
            help=source.help,
        )
        command = option(command)
    return command


Sources = Annotated[Given, group(_source_options)]


def check_given(given: Given) -> None:
    """Raises UsageError where no source is given."""
    if not any(given[source.name] for source in SOURCES):
        *others, last = (f"--{source.name}" for source in SOURCES)
        raise click.UsageError(f"nothing to read: give {', '.join(others)} or {last}")


def named_streams(given: Given) -> set[str]:
    """The streams of sources that name theirs; none where some source's documents do."""
    if any(given[source.name] for source in SOURCES if source.metavar.count("=") == 0):
        return set()
    return {value[0] for source in SOURCES for value in given[source.name]}


def unfed(engine: Engine, fed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each stream that queries read though nothing feeds or publishes it, nor does a state retain
    documents of it; with a sentence about it."""
    spare = sorted(stream for stream in fed if not engine.reads(stream))
    for stream in engine.streams:
        if stream in fed or stream in engine.published or len(engine.held(stream=stream)):
            continue
        readers = [one.name for one in engine.subscriptions if stream in one.streams]
        which = f"query {readers[0]!r} reads"
        if others := len(readers) - 1:
            which = f"query {readers[0]!r} and {others:,} more read"
        # Where one stream alone is read by no query, it is meant, whatever its name.
        meant = spare if len(spare) == 1 else get_close_matches(stream, spare, n=1)
        ends = f"did you mean {meant[0]!r}?" if meant else f"fed: {', '.join(sorted(fed))}"
        yield stream, f"no source feeds stream {stream!r}, which {which}; {ends}"


def reads_standard_input(given: Given) -> bool:
    """Whether a source is standard input, whose documents are evaluated as they come."""
    return "-" in given["events"] or any(path == "-" for _, path in given["json"])


def fields_of(given: Given) -> Callable[[str], Fields]:
    """The fields of each stream's documents that `--id` and `--time` name, `FIELD` for all streams
    or `STREAM=FIELD` for one.  Raises UsageError for those of no stream that is read so."""
    streams = {stream for source in ("json", "docs") for stream, _ in given[source]}
    named: dict[str, dict[str, str]] = {}
    for option in ("id", "time"):
        for text in given[option]:
            stream, equals, field = text.rpartition("=")
            if not streams or (equals and stream not in streams) or not field:
                known = ", ".join(sorted(streams)) or "none, for neither is given"
                raise click.UsageError(
                    f"--{option} {text}: give FIELD or STREAM=FIELD, of the streams that --json "
                    f"and --docs read: {known}"
                )
            named.setdefault(option, {})[stream] = field

    def of(stream: str) -> Fields:
        each = {option: fields.get(stream, fields.get("")) for option, fields in named.items()}
        return Fields(each.get("id"), each.get("time"))

    return of


def read_sources(
    given: Given, how: Reading, positions: Positions | None = None
) -> list[Iterable[tuple[Envelope, Mark]]]:
    """The documents of the sources, in the order of `SOURCES`; those that `positions` know as
    read are left out.  Raises UsageError where a source does not exist."""
    return [
        _read(source, value, how, positions) for source in SOURCES for value in given[source.name]
    ]


def _read(
    source: Source, value: Any, how: Reading, positions: Positions | None
) -> Iterable[tuple[Envelope, Mark]]:
    text = value if isinstance(value, str) else "=".join(value)
    with wrong_usage(f"--{source.name} {text}"):
        if (placed := source.placed) is None:
            assert source.read is not None
            envelopes = source.read(value, how)
            if positions is None:
                return ((envelope, None) for envelope in envelopes)
            return positions.documents(f"{source.name} {text}", envelopes)
        # What is missing is reported immediately, not when the first document is asked for.
        from_the_beginning = placed(value, how, None)
        if positions is None:
            return ((envelope, None) for envelope, _ in from_the_beginning)
        kind, path = (
            (source.name, value)
            if isinstance(value, str)
            else (f"{source.name} {value[0]}", value[1])
        )
        return positions.lines(kind, path, lambda after: placed(value, how, after))
