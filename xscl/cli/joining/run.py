"""`xscl join QUERIES`: standing queries over a stream of documents on Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.console import Console

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals
from xscl.cli.joining.report import JoinReport
from xscl.cli.log import LOG_FORMAT, QUIET
from xscl.cli.options import PARAMS, QUERIES, Duration, Period
from xscl.cli.queries import QueryText, read_texts, subscribe
from xscl.cli.spark_jobs.options import MASTER, SETTINGS
from xscl.cli.spark_jobs.running import aside, one_line, run_jobs
from xscl.spark.joins.folder import FORMATS, JoinFolder
from xscl.spark.session import check_spark, session_for

if TYPE_CHECKING:
    from xscl.spark.joins.sources import Source

__all__ = ["run"]


@click.command()
@QUERIES
@click.option(
    "--items", metavar="DIR", help="The folder of `xscl ingest --to`: its items are the documents."
)
@click.option(
    "--events",
    metavar="GLOB",
    help="Files of JSON Lines, an envelope a line, also gzipped (.gz); new ones are read, too.",
)
@click.option(
    "--to", required=True, metavar="DIR", help="The folder of the join; its matches/ has them."
)
@click.option("--once", is_flag=True, help="Join the documents that are there, then end.")
@click.option(
    "--every",
    type=Period(),
    default="1m",
    show_default=True,
    help="The time between two batches.",
)
@click.option(
    "--lateness",
    type=Duration(),
    default="1 day",
    show_default=True,
    help="How late a document may arrive and still be joined.",
)
@PARAMS
@click.option("--grouped", is_flag=True, help="A row for all matches of the same documents.")
@click.option("--results", is_flag=True, help="Write the results of matches, too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="parquet",
    show_default=True,
    help="How matches are written: Parquet or JSON Lines.",
)
@MASTER
@SETTINGS
@QUIET
@LOG_FORMAT
def run(
    queries: Sequence[str],
    items: str | None,
    events: str | None,
    to: str,
    once: bool,
    every: float,
    lateness: int | None,
    params: Sequence[tuple[str, str]],
    grouped: bool,
    results: bool,
    form: str,
    master: str | None,
    settings: Sequence[tuple[str, str]],
) -> int:
    """Joins a stream of documents on Spark into a table of matches.

    DIR/matches gets the matches of each batch, DIR/dead the documents that cannot be read.  The
    next run goes on where this one ends.
    """
    if grouped and results:
        raise click.UsageError("--results is for matches; --grouped has none")
    if (items is None) == (events is None):
        raise click.UsageError("give --items or --events: where the documents come from")
    check_ends()
    folder = JoinFolder.at(to)
    texts = read_texts(queries, params)
    if _refused(texts):
        return 2
    check_spark()
    from xscl.spark.joins.job import JoinJob
    from xscl.spark.joins.revisions import endless, named

    source = _source(items, events)
    source.check()
    folder.check()
    asked = named(
        (one.text for one in texts), {n: t for one in texts for n, t in one.tables.items()}
    )
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(JoinReport(Console(stderr=True)))
        report.endless(endless(asked))
        stopped = stack.enter_context(ended_by_signals([]))
        sessions = session_for("xscl join", master=master, settings=dict(settings))
        spark = aside(sessions.__enter__)
        stack.push(sessions)
        if not stopped.is_set():
            job = JoinJob(
                spark,
                folder,
                source,
                lateness=lateness,
                grouped=grouped,
                results=results,
                form=form,
                on_batch=report.batch,
            )
            with one_line("join"):
                query = job.start(asked, None if once else every, report.plan)
            report.begin()

            def tick() -> None:
                report.tick(job.documents)
                job.look(query)

            run_jobs([query], stopped, tick)
            job.look(query)
        report.close()
    return 130 if stopped.is_set() else 0


def _source(items: str | None, events: str | None) -> Source:
    from xscl.spark.joins.sources import Events, Items

    if items is not None:
        return Items(items)
    assert events is not None
    return Events(events)


def _refused(texts: Sequence[QueryText]) -> int:
    """Prints the errors of queries, and counts them: with any nothing is started, as nobody looks
    at the messages of a join that goes on for months."""
    from xscl.engine import Engine

    with Engine() as engine:
        return subscribe(engine, texts)[0]
