"""`xscl spark run`: standing queries over a stream of documents on Spark."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import click
from rich.console import Console

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals
from xscl.cli.joining.report import JoinReport
from xscl.cli.log import LOG_FORMAT, QUIET, log_of_command
from xscl.cli.options import DURATION, PERIOD, Params, Queries, flag, option, takes
from xscl.cli.queries import QueryText, read_texts, subscribe
from xscl.cli.spark_jobs.options import Master, Settings
from xscl.cli.spark_jobs.running import aside, one_line, run_jobs
from xscl.errors import XSCLError
from xscl.spark.joins.folder import FORMATS, JoinFolder
from xscl.spark.session import check_spark, session_for

if TYPE_CHECKING:
    from xscl.spark.joins.sources import Source

__all__ = ["run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `xscl spark run`."""

    queries: Queries
    items: Annotated[
        str | None,
        option("The folder of `xscl ingest --to`: its items are the documents.", metavar="DIR"),
    ]
    events: Annotated[
        str | None,
        option(
            "Files of JSON Lines, an envelope a line, also gzipped (.gz), in folders of any depth "
            "as `FOLDER/**/*.jsonl`; new ones are read, too.",
            metavar="GLOB",
        ),
    ]
    to: Annotated[
        str, option("The folder of the join; its matches/ has them.", required=True, metavar="DIR")
    ]
    once: Annotated[bool, flag("Join the documents that are there, then end.")]
    every: Annotated[float, option("The time between two batches.", type=PERIOD, default="1m")]
    lateness: Annotated[
        int | None,
        option(
            "How late a document may arrive and still be joined.", type=DURATION, default="1 day"
        ),
    ]
    params: Params
    grouped: Annotated[bool, flag("A row for all matches of the same documents.")]
    results: Annotated[bool, flag("Write the results of matches, too.")]
    form: Annotated[
        str,
        option(
            "How matches are written: Parquet or JSON Lines.",
            "--format",
            type=click.Choice(FORMATS),
            default="parquet",
        ),
    ]
    master: Master
    settings: Settings


@click.command()
@takes(Options)
@QUIET
@LOG_FORMAT
def run(options: Options) -> int:
    """Joins a stream of documents on Spark into a table of matches.

    DIR/matches gets the matches of each batch, DIR/dead the documents that cannot be read.  The
    next run continues where this one ends.
    """
    if options.grouped and options.results:
        raise click.UsageError("--results is for matches; --grouped has none")
    items, events = options.items, options.events
    if (items is None) == (events is None):
        raise click.UsageError("give --items or --events: where the documents come from")
    check_ends()
    folder = JoinFolder.at(options.to)
    texts = read_texts(options.queries, options.params)
    if _refused(texts):
        return 2
    check_spark()
    from xscl.spark.joins.documents import CellWarning
    from xscl.spark.joins.job import JoinJob
    from xscl.spark.joins.revisions import endless, named
    from xscl.spark.joins.stream import TASKS, tasks_of

    settings = dict(options.settings)
    try:
        tasks_of(settings.get(TASKS))
    except XSCLError as error:
        raise click.UsageError(str(error)) from error
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
        sessions = session_for("xscl spark run", master=options.master, settings=settings)
        spark = aside(sessions.__enter__)
        stack.push(sessions)
        if not stopped.is_set():
            job = JoinJob(
                spark,
                folder,
                source,
                lateness=options.lateness,
                grouped=options.grouped,
                results=options.results,
                form=options.form,
                on_batch=report.batch,
            )
            with one_line("join"), warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always", CellWarning)
                query = job.start(asked, None if options.once else options.every, report.plan)
            for warning in warned:
                if issubclass(warning.category, CellWarning):
                    report.say(str(warning.message))
            report.begin()

            def tick() -> None:
                report.tick(job.documents)
                job.look(query)

            run_jobs([query], stopped, tick)
            job.look(query)
        report.close()
    if report.stopped or (options.once and report.fruitless and not stopped.is_set()):
        return 1
    return stopped.code(service=not options.once) if stopped.is_set() else 0


def _source(items: str | None, events: str | None) -> Source:
    from xscl.spark.joins.sources import Events, Items

    if items is not None:
        return Items(items)
    assert events is not None
    return Events(events)


def _refused(texts: Sequence[QueryText]) -> int:
    """Prints the errors of queries, and counts them: with any nothing is started, as nobody looks
    at the messages of a join that runs for months."""
    from xscl.engine import Engine
    from xscl.spark.joins.needs import MIDDLE, is_middle

    with Engine() as engine:
        bad, *_ = subscribe(engine, texts)
        for one in engine.subscriptions:
            if one.waits and is_middle(one.query):
                log_of_command().say(f"query {one.name!r}: {MIDDLE}")
                bad += 1
        return bad
