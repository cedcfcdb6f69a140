"""`xscl check` and `xscl explain`: queries by themselves, or with sample documents."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import click

from xscl.cli.options import QUERIES, RATES, Params, Queries, echo_json, takes
from xscl.cli.queries import good_queries, read_one_by_one, subscribe, with_tables
from xscl.cli.report import report_of
from xscl.cli.sources import Reading, Sources, check_given, fields_of, named_streams, read_sources
from xscl.counts import counted
from xscl.engine import Engine
from xscl.explain import (
    EventPlans,
    as_json,
    as_mermaid,
    as_sql,
    as_svg,
    as_text,
    explain_file,
    fitted,
    shared_members,
    warnings,
)

__all__ = ["check", "explain"]

_NARROWEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `xscl check`."""

    queries: Queries
    given: Sources
    params: Params


@click.command()
@takes(Options)
def check(options: Options) -> int:
    """Checks queries: prints errors with their places, and warnings of misleading patterns.

    With sample documents, it says what each query finds among them, and of one that finds nothing
    what may be wrong.
    """
    good, bad, texts = good_queries(read_one_by_one(options.queries))
    if not bad:
        click.echo(f"{counted(len(good), 'query')}, no error")
        for name, warning in warnings(good):
            click.echo(f"{name}: {warning}")
    given = options.given
    if any(given.values()) and not bad:
        check_given(given)
        with report_of(None) as report, Engine(on_skip=report.skip) as engine:
            bad += subscribe(engine, with_tables(texts, options.params))[0]
            report.unfed(engine, named_streams(given))
            sources = read_sources(
                given, Reading(report.skip, fields=fields_of(given), on_dates=report.dates)
            )
            envelopes = (envelope for envelope, _ in chain.from_iterable(sources))
            found = engine.count(report.watch(engine, envelopes), batch=5000)
            report.by_query.update(+found)
            for name, count in found.items():
                click.echo(f"{name}: {counted(count, 'match')}")
            report.found(found.total())
            report.hint(engine)
            report.close(engine)
    elif options.params and not bad:
        with Engine() as engine:
            bad += subscribe(engine, with_tables(texts, options.params))[0]
    return 2 if bad else 0


@click.command()
@QUERIES
@click.option("--query", "only", metavar="NAME", help="The one query to show.  [default: all]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "plan", "mermaid", "svg", "sql"]),
    default="text",
    show_default=True,
    help="Text, JSON, the plan of all queries before and after each rule (JSON), a Mermaid diagram "
    "of the join graphs, a picture of them and of the templates (SVG), or the SQL of these.",
)
@click.option(
    "--spark",
    "on_spark",
    is_flag=True,
    help="How Spark cuts documents into cells for them, and why.",
)
@RATES
def explain(
    queries: Sequence[str],
    only: str | None,
    form: str,
    on_spark: bool,
    rates: Sequence[tuple[str, float]],
) -> int:
    """Shows how queries are evaluated.

    That is the tree patterns, the join graph, its template and its conjunctive query.
    """
    parts, bad, _ = good_queries(read_one_by_one(queries), dict(rates))
    shown = [part for part in parts if only in (None, part.query.name)]
    if only is not None and not shown:
        names = ", ".join(part.query.name for part in parts)
        raise click.UsageError(f"no query is named {only!r}; there are: {names}")
    if on_spark:
        from xscl.spark.joins.explained import cells_of, described

        if form not in ("text", "json"):
            raise click.UsageError("--spark is text, or --format json")
        if form == "json":
            echo_json([one._asdict() for one in cells_of(parts, shown)])
        else:
            click.echo(described(parts, shown))
        return 2 if bad else 0
    match form:
        case "json":
            plans = EventPlans(parts)
            echo_json([as_json(part, plans) for part in shown])
        case "plan":
            echo_json(shared_members(shown))
        case "mermaid":
            click.echo(as_mermaid(shown))
        case "svg":
            click.echo(as_svg(shown))
        case "sql":
            click.echo(as_sql(shown))
        case _:
            text = explain_file(shown) if only is None else as_text(shown[0], parts)
            narrow = max(_NARROWEST, shutil.get_terminal_size().columns)
            click.echo(fitted(text, narrow) if sys.stdout.isatty() else text)
    return 2 if bad else 0
