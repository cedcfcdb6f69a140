"""The command line: `xscl run`, `check`, `explain`, `why`, `watch`, `feeds`, `state`, `ingest`,
`demo`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.console import Console

import xscl
from xscl.cli.exits import run_command
from xscl.cli.feeds import feeds
from xscl.cli.ingest import ingest
from xscl.cli.options import DOCS, EVENTS, FEED, ITEMS, PARAMS, QUERIES
from xscl.cli.run import report_of, run
from xscl.cli.sources import load_queries, read_queries, read_sources
from xscl.cli.state import state
from xscl.cli.watch import watch
from xscl.counts import counted
from xscl.engine import Engine
from xscl.errors import XSCLError
from xscl.explain import as_json, as_mermaid, as_sql, as_text, explain_file
from xscl.sinks.readable import readable
from xscl.sources.feed_files import read_feeds
from xscl.times import from_timestamp, to_seconds

__all__ = ["main"]

Envelopes = Iterable[dict[str, object]]


def main() -> None:
    """Runs the command line."""
    run_command(cli)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(xscl.__version__, prog_name="xscl")
def cli() -> None:
    """Standing queries that join documents with each other, by value, as they stream by."""


@cli.command()
@QUERIES
def check(queries: Sequence[str]) -> int:
    """Parses and type-checks queries, and prints every error with its place."""
    good, bad = read_queries(queries)
    if not bad:
        click.echo(f"{counted(len(good), 'query')}, no error")
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
    with report_of(None) as report, Engine(on_skip=report.skip) as engine:
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
        envelopes = (envelope for envelope, _ in itertools.chain.from_iterable(sources))
        engine.count(watched(envelopes), batch=5000)
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
    with report_of(None) as report, Engine(on_skip=report.skip) as engine:
        subscriptions = engine.load(text)
        # The feeds are of 2026 for good, whenever the files were unpacked.
        arrival = to_seconds(from_timestamp("2026-06-15"))
        items = read_feeds(samples.FEEDS, "S", arrival=arrival, on_error=report.skip)
        for match in engine.run(report.watch(engine, items)):
            console.print(readable(match), soft_wrap=True)
            report.found(1)
        console.print(
            f"{counted(len(subscriptions), 'query')}, in {samples.FEEDS / 'queries.xscl'}",
            soft_wrap=True,
        )
        report.close(engine)
    return 0


cli.add_command(run)
cli.add_command(watch)
cli.add_command(feeds)
cli.add_command(state)
cli.add_command(ingest)
