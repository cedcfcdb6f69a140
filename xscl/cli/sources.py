"""What commands read: query files, with tables of parameters, and the sources of documents."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from xscl.cli.parameters import read_parameters
from xscl.cli.report import Report
from xscl.dissection.parts import Dissection
from xscl.durable.positions import Mark, Positions
from xscl.engine import Engine
from xscl.errors import XSCLError
from xscl.feeds import rules_of
from xscl.language import parse_from
from xscl.language.parameters import Prepared, parameters
from xscl.matches.match import Match
from xscl.sources.envelopes import read_events
from xscl.sources.feed_files import read_feeds
from xscl.sources.files import read_documents
from xscl.sources.ingested import read_items
from xscl.sources.limits import MAX_DOCUMENT

__all__ = [
    "QueryText",
    "check_stream",
    "load_queries",
    "published",
    "read_queries",
    "read_sources",
    "read_texts",
    "subscribe",
]


@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of a query file, and the tables of its queries' parameters, by name."""

    path: str
    text: str
    tables: Mapping[str, object]


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path} is no UTF-8 text: byte {error.start} is wrong") from error


def read_queries(paths: Sequence[str]) -> tuple[list[Dissection], int]:
    """The good queries of some files, parameters standing for themselves, and how many errors
    were printed."""
    bad, first = 0, 1
    with Engine() as engine:
        for path in paths:
            text = _read(path)
            queries, _, first = parse_from(text, first)
            stand_ins = {
                query.name: [{"name": query.name, **Prepared(query).stand_ins}]
                for query in queries
                if parameters(query)
            }
            bad += _load(engine, path, text, stand_ins)
        return [subscription.dissection for subscription in engine.subscriptions], bad


def load_queries(engine: Engine, paths: Sequence[str], params: Sequence[tuple[str, str]]) -> int:
    """Subscribes the good queries of some files, with the tables of their parameters; prints and
    counts the errors."""
    return subscribe(engine, read_texts(paths, params))


def read_texts(paths: Sequence[str], params: Sequence[tuple[str, str]]) -> list[QueryText]:
    """The texts of some query files, each with the tables of its queries' parameters."""
    tables = {name: list(read_parameters(file)) for name, file in params}
    unknown = dict(params)
    texts = []
    first = 1
    for path in paths:
        text = _read(path)
        of_text = {}
        if tables:
            queries, _, first = parse_from(text, first)
            of_text = {q.name: tables[q.name] for q in queries if q.name in tables}
            for name in of_text:
                unknown.pop(name, None)
        texts.append(QueryText(path, text, of_text))
    for name, file in unknown.items():
        raise click.UsageError(f"--params {name}={file}: no good query is named {name!r}")
    return texts


def subscribe(engine: Engine, texts: Iterable[QueryText]) -> int:
    """Subscribes the good queries of some texts; prints and counts the errors."""
    return sum(_load(engine, one.path, one.text, one.tables) for one in texts)


def _load(engine: Engine, path: str, text: str, tables: Mapping[str, object]) -> int:
    _, errors = engine.load_good(text, tables=tables)
    for error in errors:
        click.echo(f"{path}: {error}", err=True)
    return len(errors)


def read_sources(
    events: Sequence[str],
    docs: Sequence[tuple[str, str]],
    feed: Sequence[tuple[str, str]],
    items: Sequence[str],
    report: Report,
    *,
    max_document: int = MAX_DOCUMENT,
    links: str = "canonical",
    positions: Positions | None = None,
) -> list[Iterable[tuple[dict[str, object], Mark]]]:
    """What is to be read, in the order of the options; what is larger than `max_document` bytes
    is skipped, and what `positions` know as read is left out."""
    sources: list[Iterable[tuple[dict[str, object], Mark]]] = []
    for path in _files(events):
        if positions is None:
            some = read_events(path, report.skip, max_document=max_document)
            sources.append(_unmarked(some))
        else:
            sources.append(positions.events(path, report.skip, max_document=max_document))

    def add(option: str, source: str, envelopes: Iterable[dict[str, object]]) -> None:
        if positions is None:
            sources.append(_unmarked(envelopes))
        else:
            sources.append(positions.documents(f"{option} {source}", envelopes))

    for stream, source in docs:
        with _usage(f"--docs {stream}={source}"):
            documents = read_documents(source, stream, report.skip, max_document=max_document)
            add("docs", f"{stream}={source}", documents)
    for stream, source in feed:
        with _usage(f"--feed {stream}={source}"):
            found = read_feeds(
                source,
                stream,
                on_error=report.skip,
                links=rules_of(links),
                max_document=max_document,
            )
            add("feed", f"{stream}={source}", found)
    for folder in items:
        with _usage("--items"):
            add("items", folder, read_items(folder, report.skip))
    return sources


def _unmarked(
    envelopes: Iterable[dict[str, object]],
) -> Iterator[tuple[dict[str, object], Mark]]:
    return ((envelope, None) for envelope in envelopes)


def check_stream(engine: Engine, stream: str | None) -> None:
    """Raises UsageError for a stream that no query publishes to; None is all."""
    if stream is not None and stream not in engine.published:
        known = ", ".join(engine.published) or "none"
        raise click.UsageError(f"no query publishes to {stream!r}; published are: {known}")


def published(
    engine: Engine, envelopes: Iterable[Mapping[str, object]], stream: str | None
) -> list[Match]:
    """The matches of a batch, or those published to a stream."""
    matches = engine.publish_many(envelopes)
    return matches if stream is None else [one for one in matches if one.stream == stream]


def _files(paths: Sequence[str]) -> Sequence[str]:
    for path in paths:
        if path != "-" and not Path(path).is_file():
            raise click.UsageError(f"--events: there is no file {path!r}")
    return paths


@contextlib.contextmanager
def _usage(option: str) -> Iterator[None]:
    """That a source does not exist is wrong usage, said with the option."""
    try:
        yield
    except (XSCLError, FileNotFoundError) as error:
        raise click.UsageError(f"{option}: {error}") from error
