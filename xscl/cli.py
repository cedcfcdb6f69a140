"""The command line: `xscl run`, `check`, `explain` and `demo`.

Exit codes: 0 done; 1 the run failed; 2 wrong usage or a bad query; 3 `--strict` and documents
were skipped; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

import xscl
from xscl.batches import in_batches
from xscl.dissect import dissect
from xscl.engine import Engine
from xscl.errors import QueryError, XSCLError
from xscl.explain import as_json, as_text
from xscl.language.syntax import Query
from xscl.report import Report
from xscl.sinks.jsonl import write_matches
from xscl.sinks.readable import readable
from xscl.sources.events import as_they_come, read_events
from xscl.sources.feeds import read_feeds
from xscl.sources.files import read_documents
from xscl.times import duration, from_timestamp, to_seconds

__all__ = ["main"]

Envelopes = Iterable[dict[str, object]]

QUERIES = click.argument(
    "queries",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)


def main() -> None:
    """Runs the command line; every failure that a user can cause is one message."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except BrokenPipeError:
        # The reader has gone; nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (XSCLError, OSError) as error:
        click.echo(f"xscl: {error}", err=True)
        code = 1
    sys.exit(code or 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(xscl.__version__, prog_name="xscl")
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""


class _Assignment(click.ParamType[tuple[str, str]]):
    """`STREAM=SOURCE`."""

    name = "STREAM=SOURCE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        stream, equals, source = str(value).partition("=")
        if not (stream and equals and source):
            self.fail(f"{value!r} is not of the form STREAM=SOURCE, such as S=feeds/", param, ctx)
        return stream, source


class _Duration(click.ParamType[int | None]):
    """A duration in the language's form, in microseconds; None for INF."""

    name = "DURATION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@cli.command()
@QUERIES
@click.option(
    "--events", multiple=True, metavar="FILE", help="Envelopes as JSON Lines; - is stdin."
)
@click.option(
    "--docs", multiple=True, type=_Assignment(), help="Each file a glob names is a document."
)
@click.option(
    "--feed", multiple=True, type=_Assignment(), help="Items of a feed file or a folder of them."
)
@click.option(
    "--batch", type=click.IntRange(1), default=5000, show_default=True, help="Documents at a time."
)
@click.option(
    "--lateness",
    type=_Duration(),
    default="INF",
    show_default=True,
    help="How late a document may come.",
)
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "counts"]), default="jsonl", show_default=True
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file for the matches.")
@click.option("--strict", is_flag=True, help="Exit with 3 if documents were skipped.")
def run(
    queries: Sequence[str],
    events: Sequence[str],
    docs: Sequence[tuple[str, str]],
    feed: Sequence[tuple[str, str]],
    batch: int,
    lateness: int | None,
    form: str,
    output: str | None,
    strict: bool,
) -> int:
    """Runs queries over documents and writes matches to standard output."""
    if not (events or docs or feed):
        raise click.UsageError("nothing to read: give --events, --docs or --feed")
    with _report(output) as report, contextlib.ExitStack() as stack:
        seconds = None if lateness is None else to_seconds(lateness)
        engine = stack.enter_context(Engine(lateness=seconds, on_skip=report.skip))
        bad = _load(engine, queries)
        if not engine.subscriptions:
            return 2
        sources: list[Envelopes] = [read_events(path, report.skip) for path in _files(events)]
        for stream, source in docs:
            with _usage("--docs", stream, source):
                sources.append(read_documents(source, stream, report.skip))
        for stream, source in feed:
            with _usage("--feed", stream, source):
                sources.append(read_feeds(source, stream, on_error=report.skip))
        envelopes = report.watch(engine, itertools.chain.from_iterable(sources))
        to = stack.enter_context(_output(output))
        if form == "counts":
            counts = engine.count(envelopes, batch=batch)
            report.found(counts.total())
            to.writelines(f"{name}\t{count}\n" for name, count in counts.items())
        else:
            for some in _batches(envelopes, batch, waiting="-" in events):
                report.found(write_matches(engine.publish_many(some), to))
        streams = {s for sub in engine.subscriptions for s in sub.dissection.streams}
        skipped = report.close(engine, streams)
    return 2 if bad else 3 if strict and skipped else 0


@cli.command()
@QUERIES
def check(queries: Sequence[str]) -> int:
    """Parses and type-checks queries, and prints every error with its place."""
    good, bad = _read_queries(queries)
    if not bad:
        click.echo(f"{len(good)} queries, no error")
    return 2 if bad else 0


@cli.command()
@QUERIES
@click.option("--query", "only", metavar="NAME", help="Only the query of this name.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def explain(queries: Sequence[str], only: str | None, form: str) -> int:
    """Shows what becomes of queries: tree patterns, join graph, template, conjunctive query."""
    good, bad = _read_queries(queries)
    parts = [dissect(query) for query in good]
    shown = [part for part in parts if only in (None, part.query.name)]
    if only is not None and not shown:
        names = ", ".join(part.query.name for part in parts)
        raise click.UsageError(f"no query is named {only!r}; there are: {names}")
    if form == "json":
        click.echo(json.dumps([as_json(part) for part in shown], indent=2, ensure_ascii=False))
    else:
        click.echo("\n\n".join(as_text(part, parts) for part in shown))
    return 2 if bad else 0


@cli.command()
def demo() -> int:
    """Runs five standing queries over the bundled sample feeds: two weeks of June 2026."""
    from xscl import samples

    console = Console(highlight=False)
    text = (samples.FEEDS / "queries.xscl").read_text(encoding="utf-8")
    with _report(None) as report, Engine(on_skip=report.skip) as engine:
        subscriptions = engine.load(text)
        # The feeds are of 2026 for good, whenever the files were unpacked.
        arrival = to_seconds(from_timestamp("2026-06-15"))
        items = read_feeds(samples.FEEDS, "S", arrival=arrival, on_error=report.skip)
        for match in engine.run(report.watch(engine, items)):
            console.print(readable(match), soft_wrap=True)
            report.found(1)
        console.print(
            f"{len(subscriptions)} queries, in {samples.FEEDS / 'queries.xscl'}", soft_wrap=True
        )
        report.close(engine, {"S"})
    return 0


def _report(output: str | None) -> Report:
    """A report on standard error, for a run whose matches go to a file or standard output."""
    return Report(Console(stderr=True), alone=output is not None or not sys.stdout.isatty())


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path} is no UTF-8 text: byte {error.start} is wrong") from error


def _say(path: str, errors: Iterable[QueryError]) -> None:
    for error in errors:
        click.echo(f"{path}: {error}", err=True)


def _read_queries(paths: Sequence[str]) -> tuple[list[Query], int]:
    """The good queries of some files, and how many errors were printed."""
    with Engine() as engine:
        bad = _load(engine, paths)
        return [subscription.query for subscription in engine.subscriptions], bad


def _load(engine: Engine, paths: Sequence[str]) -> int:
    """Subscribes the good queries of some files; prints and counts the errors."""
    bad = 0
    for path in paths:
        _, errors = engine.load_good(_read(path))
        _say(path, errors)
        bad += len(errors)
    return bad


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if path != "-" and not Path(path).is_file():
            raise click.UsageError(f"--events: there is no file {path!r}")
        yield path


@contextlib.contextmanager
def _usage(option: str, stream: str, source: str) -> Iterator[None]:
    """That a source does not exist is wrong usage, said with the option."""
    try:
        yield
    except (XSCLError, FileNotFoundError) as error:
        raise click.UsageError(f"{option} {stream}={source}: {error}") from error


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
    else:
        with open(path, "w", encoding="utf-8") as file:
            yield file


def _batches(
    envelopes: Envelopes, size: int, *, waiting: bool
) -> Iterator[list[dict[str, object]]]:
    if waiting:
        yield from as_they_come(envelopes, size)
        return
    yield from in_batches(envelopes, size)
