"""The command line: `xscl run`, `check`, `explain`, `why`, `watch`, `feeds`, `ingest`,
`demo`.

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
from typing import TextIO

import click
from rich.console import Console

import xscl
from xscl.batches import in_batches
from xscl.collecting import collect_rarely
from xscl.engine import Engine
from xscl.errors import XSCLError
from xscl.explain import as_json, as_mermaid, as_sql, as_text, explain_file
from xscl.inputs import check_stream, load_queries, published, read_queries, read_sources
from xscl.options import (
    DEAD_LETTERS,
    DOCS,
    EVENTS,
    FEED,
    ITEMS,
    LINKS,
    MAX_DOCUMENT,
    MEMORY,
    PARAMS,
    QUERIES,
    STREAM,
    Duration,
)
from xscl.polled_feeds import feeds
from xscl.report import Report
from xscl.sinks.feed_forms import FEED_FORMS, title_of
from xscl.sinks.jsonl import write_matches
from xscl.sinks.readable import readable
from xscl.sources.events import as_they_come
from xscl.sources.feeds import read_feeds
from xscl.spark.ingest import ingest
from xscl.times import from_timestamp, to_seconds
from xscl.watching import watch

__all__ = ["main"]

Envelopes = Iterable[dict[str, object]]


def main(command: click.Command | None = None) -> None:
    """Runs the command line, or one command of it; every failure that a user can cause is one
    message."""
    try:
        code = (command or cli).main(standalone_mode=False)
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


@cli.command()
@QUERIES
@EVENTS
@DOCS
@FEED
@ITEMS
@click.option(
    "--batch", type=click.IntRange(1), default=5000, show_default=True, help="Documents at a time."
)
@click.option(
    "--lateness",
    type=Duration(),
    default="INF",
    show_default=True,
    help="How late a document may come.",
)
@PARAMS
@LINKS
@MAX_DOCUMENT
@MEMORY
@DEAD_LETTERS
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "counts", *FEED_FORMS]),
    default="jsonl",
    show_default=True,
)
@STREAM
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file for the matches.")
@click.option("--strict", is_flag=True, help="Exit with 3 if documents were skipped.")
def run(
    queries: Sequence[str],
    events: Sequence[str],
    docs: Sequence[tuple[str, str]],
    feed: Sequence[tuple[str, str]],
    items: Sequence[str],
    batch: int,
    lateness: int | None,
    params: Sequence[tuple[str, str]],
    links: str,
    max_document: int,
    memory: int | None,
    dead_letters: str | None,
    form: str,
    stream: str | None,
    output: str | None,
    strict: bool,
) -> int:
    """Runs queries over documents and writes matches to standard output."""
    if not (events or docs or feed or items):
        raise click.UsageError("nothing to read: give --events, --docs, --feed or --items")
    if form == "counts" and stream is not None:
        raise click.UsageError("--stream is for matches; --format counts has none")
    with _report(output, dead_letters) as report, contextlib.ExitStack() as stack:
        seconds = None if lateness is None else to_seconds(lateness)
        engine = stack.enter_context(Engine(lateness=seconds, on_skip=report.skip, memory=memory))
        bad = load_queries(engine, queries, params)
        if not engine.subscriptions:
            return 2
        check_stream(engine, stream)
        collect_rarely()
        sources = read_sources(
            events, docs, feed, items, report, max_document=max_document, links=links
        )
        envelopes = report.watch(engine, itertools.chain.from_iterable(sources))
        batches = _batches(envelopes, batch, waiting="-" in events)
        if form in FEED_FORMS:
            found = (match for some in batches for match in published(engine, some, stream))
            write, update = FEED_FORMS[form]
            title = title_of(queries)
            if output is None:
                report.found(write(found, sys.stdout, title=title))
            else:
                report.found(update(found, output, title=title))
        elif form == "counts":
            to = stack.enter_context(_output(output))
            counts = engine.count(envelopes, batch=batch)
            report.found(counts.total())
            to.writelines(f"{name}\t{count}\n" for name, count in counts.items())
        else:
            to = stack.enter_context(_output(output))
            for some in batches:
                report.found(write_matches(published(engine, some, stream), to))
        skipped = report.close(engine)
    return 2 if bad else 3 if strict and skipped else 0


@cli.command()
@QUERIES
def check(queries: Sequence[str]) -> int:
    """Parses and type-checks queries, and prints every error with its place."""
    good, bad = read_queries(queries)
    if not bad:
        click.echo(f"{len(good)} queries, no error")
    return 2 if bad else 0


@cli.command()
@QUERIES
@click.option("--query", "only", metavar="NAME", help="Only the query of this name.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "mermaid", "sql"]),
    default="text",
    show_default=True,
)
def explain(queries: Sequence[str], only: str | None, form: str) -> int:
    """Shows what becomes of queries: tree patterns, join graph, template, conjunctive query."""
    parts, bad = read_queries(queries)
    shown = [part for part in parts if only in (None, part.query.name)]
    if only is not None and not shown:
        names = ", ".join(part.query.name for part in parts)
        raise click.UsageError(f"no query is named {only!r}; there are: {names}")
    match form:
        case "json":
            click.echo(json.dumps([as_json(part) for part in shown], indent=2, ensure_ascii=False))
        case "mermaid":
            click.echo(as_mermaid(shown))
        case "sql":
            click.echo(as_sql(shown))
        case _ if only is not None:
            click.echo(as_text(shown[0], parts))
        case _:
            click.echo(explain_file(shown))
    return 2 if bad else 0


@cli.command()
@click.argument("queries", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("documents", nargs=-1, metavar="[DOC]...")
@click.option("--query", "name", metavar="NAME", help="The query; of a file of one, that one.")
@EVENTS
@DOCS
@FEED
@ITEMS
@PARAMS
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def why(
    queries: str,
    documents: Sequence[str],
    name: str | None,
    events: Sequence[str],
    docs: Sequence[tuple[str, str]],
    feed: Sequence[tuple[str, str]],
    items: Sequence[str],
    params: Sequence[tuple[str, str]],
    form: str,
) -> int:
    """Tells why documents match a query or do not: which filter, equality or time constraint
    holds, which one fails, with the values.

    DOC is the id of a document for each block of the query, in their order.  Without any, tells
    how many documents and pairs came through each condition, and which failed by one alone.
    """
    if not (events or docs or feed or items):
        raise click.UsageError("nothing to read: give --events, --docs, --feed or --items")
    with _report(None) as report, Engine(on_skip=report.skip) as engine:
        bad = load_queries(engine, [queries], params)
        names = [subscription.name for subscription in engine.subscriptions]
        if name is None and len(names) == 1:
            (name,) = names
        if name not in names:
            known = ", ".join(names) or "none"
            problem = "which query? give --query" if name is None else f"no query is named {name!r}"
            raise click.UsageError(f"{problem}; there are: {known}")
        seen: dict[str, dict[str, object]] = {}

        def watched(envelopes: Envelopes) -> Iterator[dict[str, object]]:
            for envelope in envelopes:
                if envelope.get("id") in documents:
                    seen.setdefault(str(envelope["id"]), envelope)
                yield envelope

        sources = read_sources(events, docs, feed, items, report)
        engine.count(watched(itertools.chain.from_iterable(sources)), batch=5000)
        report.stop()
        given = (id if engine.holds(id) else seen.get(id, id) for id in documents)
        try:
            told = engine.why(name, *given)
        except XSCLError as error:
            raise click.UsageError(str(error)) from error
    if form == "json":
        click.echo(json.dumps(told.to_dict(), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(told)
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
        report.close(engine)
    return 0


def _report(output: str | None, dead_letters: str | None = None) -> Report:
    """A report on standard error, for a run whose matches go to a file or standard output."""
    alone = output is not None or not sys.stdout.isatty()
    return Report(Console(stderr=True), alone=alone, dead_letters=dead_letters)


cli.add_command(watch)
cli.add_command(feeds)
cli.add_command(ingest)


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
