"""The sources of documents: an option for each kind, and how its values are read.

Whoever adds a kind of source writes its module in `xscl.sources` and enters it in `SOURCES`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from xscl.cli.options import SOURCE
from xscl.durable.positions import Mark, Positions
from xscl.errors import DocumentError, XSCLError
from xscl.feeds import CANONICAL, Rules
from xscl.sources.envelopes import read_events
from xscl.sources.feed_files import read_feeds
from xscl.sources.files import read_documents
from xscl.sources.ingested import read_items
from xscl.sources.limits import MAX_DOCUMENT

__all__ = ["Given", "Reading", "check_given", "read_sources", "source_options"]

Envelope = dict[str, object]
Command = TypeVar("Command", bound=Callable[..., object])

Given = Mapping[str, Sequence[Any]]
"""The values of the options of sources, by name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How sources are read: a document that cannot be read, or has more than `max_document`
    bytes, goes to `on_error`; `links` are the rules of feeds' links."""

    on_error: Callable[[DocumentError], None]
    max_document: int = MAX_DOCUMENT
    links: Rules = CANONICAL


@dataclass(frozen=True, slots=True)
class Source:
    """The option `--name`, which may come several times.

    `read` gives the envelopes of one value: a text, or (stream, text) where the option is of the
    form STREAM=SOURCE.
    """

    name: str
    metavar: str
    help: str
    read: Callable[[Any, Reading], Iterable[Envelope]]


def _events(path: str, how: Reading) -> Iterable[Envelope]:
    _check_events(path)
    return read_events(path, how.on_error, max_document=how.max_document)


def _check_events(path: str) -> None:
    if path != "-" and not Path(path).is_file():
        raise XSCLError(f"there is no file {path!r}")


def _documents(value: tuple[str, str], how: Reading) -> Iterable[Envelope]:
    stream, pattern = value
    return read_documents(pattern, stream, how.on_error, max_document=how.max_document)


def _feeds(value: tuple[str, str], how: Reading) -> Iterable[Envelope]:
    stream, source = value
    return read_feeds(
        source, stream, on_error=how.on_error, links=how.links, max_document=how.max_document
    )


def _items(folder: str, how: Reading) -> Iterable[Envelope]:
    return read_items(folder, how.on_error)


SOURCES = (
    Source(
        "events",
        "FILE",
        "A file of document envelopes as JSON Lines, or - for standard input.",
        _events,
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


def source_options(command: Command) -> Command:
    """Gives a command an option for each kind of source; it gets their values by name."""
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


def check_given(given: Given) -> None:
    """Raises UsageError where no source is given."""
    if not any(given.values()):
        *others, last = (f"--{source.name}" for source in SOURCES)
        raise click.UsageError(f"nothing to read: give {', '.join(others)} or {last}")


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
    with _usage(f"--{source.name} {text}"):
        if positions is None:
            return ((envelope, None) for envelope in source.read(value, how))
        if source.read is _events:
            # Of one that is only added to, the place is kept, not each document.
            _check_events(value)
            return positions.events(value, how.on_error, max_document=how.max_document)
        return positions.documents(f"{source.name} {text}", source.read(value, how))


@contextlib.contextmanager
def _usage(option: str) -> Iterator[None]:
    """Makes a source that does not exist wrong usage, of the option."""
    try:
        yield
    except (XSCLError, FileNotFoundError) as error:
        raise click.UsageError(f"{option}: {error}") from error
