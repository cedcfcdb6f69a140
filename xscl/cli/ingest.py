"""`xscl ingest`: feeds become item documents on Spark; `xscl ingest status` tells how far it is.

`spark-submit` takes this file as it is, with the same options.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

import click
from rich.console import Console

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals, run_command
from xscl.cli.ingestion.report import IngestReport
from xscl.cli.ingestion.status import status
from xscl.cli.log import LOG_FORMAT, QUIET
from xscl.cli.options import (
    ALLOW_PRIVATE,
    CONTACT,
    EVERY,
    LINKS,
    MAX_DOCUMENT,
    UPDATES,
    Assignment,
    Period,
)
from xscl.errors import XSCLError
from xscl.feeds import Rules
from xscl.polling.named_feeds import feeds_of
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.spool import Spool
from xscl.spark.session import session_for
from xscl.web.retrieval import user_agent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["ingest"]

_OURS = re.compile(r"xscl\.errors\.\w+: (.+)")
_PYTHONS = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): .+", re.MULTILINE)
_TICK = 0.5
_HOUR = 3600.0


@click.group(invoke_without_command=True)
@click.option(
    "--sources",
    multiple=True,
    metavar="SOURCE",
    help="A feed file, a folder of them, an OPML file or an http(s) address.",
)
@click.option(
    "--to", metavar="DIR", help="The folder of the ingestion; its items/ has the documents."
)
@click.option("--once", is_flag=True, help="Fetch each feed that is due, make its items, then end.")
@EVERY
@click.option(
    "--trigger",
    type=Period(),
    default="10s",
    show_default=True,
    help="The time between two batches.",
)
@click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs, as for spark-submit.  [default: local[*], or what spark-submit says]",
)
@click.option(
    "--conf",
    "settings",
    multiple=True,
    type=Assignment("NAME=VALUE", "spark.driver.memory=4g"),
    help="A setting of Spark.",
)
@click.option(
    "--spool", metavar="FOLDER", help="The local folder of fetched bodies.  [default: DIR/spool]"
)
@click.option(
    "--stream", default="S", show_default=True, metavar="NAME", help="The stream of the items."
)
@UPDATES
@LINKS
@MAX_DOCUMENT
@click.option(
    "--keep",
    type=Period(),
    help="The age at which a raw body that was read is deleted.  [default: never]",
)
@click.option(
    "--timeout",
    type=Period(),
    default="60s",
    show_default=True,
    help="The time that one fetch may take.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="Fetches under way at once, each of another host.",
)
@CONTACT
@ALLOW_PRIVATE
@QUIET
@LOG_FORMAT
@click.pass_context
def ingest(
    context: click.Context,
    sources: Sequence[str],
    to: str | None,
    once: bool,
    every: float,
    trigger: float,
    master: str | None,
    settings: Sequence[tuple[str, str]],
    spool: str | None,
    stream: str,
    updates: bool,
    links: Rules,
    max_document: int,
    keep: float | None,
    timeout: float,
    concurrency: int,
    contact: str | None,
    allow_private: bool,
) -> int:
    """Reads feeds on Spark into a table of item documents.

    DIR/items gets a row for each item, DIR/dead one for each body that is no feed.  The next run
    goes on where this one ends.
    """
    if context.invoked_subcommand is not None:
        return 0
    if not sources or to is None:
        raise click.UsageError("give --sources, what to read, and --to, where to keep it")
    check_ends()
    try:
        for source in sources:
            feeds_of(source)
        if contact is not None:
            user_agent("", contact)
        archive = Archive.at(to, spool)
        options = FeedOptions(
            tuple(sources),
            spool=archive.local,
            every=every,
            timeout=timeout,
            concurrency=concurrency,
            contact=contact,
            allow_private=allow_private,
            max_document=max_document,
        ).written()
    except (XSCLError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    archive.check()
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(IngestReport(Console(stderr=True), Spool(archive.local)))
        stopped = stack.enter_context(ended_by_signals([]))
        sessions = session_for("xscl ingest", master=master, settings=dict(settings))
        spark = _aside(sessions.__enter__)
        stack.push(sessions)
        from xscl.spark.ingestion import jobs, spark_files

        start_items = partial(
            jobs.start_items,
            spark,
            archive,
            stream=stream,
            updates=updates,
            links=links,
            on_batch=report.batch,
        )
        start_fetch = partial(jobs.start_fetch, spark, archive, options, keep=keep)

        def tidy() -> None:
            if keep is not None:
                report.cleared(spark_files.clear_landing(spark, archive, keep))

        rounds = (
            [[partial(start_fetch, trigger=None)], [partial(start_items, trigger=None)]]
            if once
            else [[partial(start_fetch, trigger=trigger), partial(start_items, trigger=trigger)]]
        )
        for jobs_of_round in rounds:
            if not stopped.is_set():
                _run([start() for start in jobs_of_round], stopped, report.tick, tidy)
        tidy()
        report.close()
    return 130 if stopped.is_set() else 0


def _aside(start: Callable[[], SparkSession]) -> SparkSession:
    """Starts Spark in a thread of its own: in the main thread it would take the signals over, and
    an interrupt would break its start off midway, with pages of Python and Java."""
    found: Future[SparkSession] = Future()

    def run() -> None:
        try:
            found.set_result(start())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, name="xscl-spark-start", daemon=True).start()
    return found.result()


def _run(
    queries: Sequence[StreamingQuery],
    stopped: threading.Event,
    tick: Callable[[], object],
    tidy: Callable[[], object],
) -> None:
    """Until one of the queries ends, or is to end; raises XSCLError if one failed."""
    next_tidy = time.monotonic()
    try:
        while not stopped.is_set() and all(query.isActive for query in queries):
            stopped.wait(_TICK)
            tick()
            if time.monotonic() >= next_tidy:
                tidy()
                next_tidy += _HOUR
    finally:
        for query in queries:
            query.stop()
    for query in queries:
        if (failure := query.exception()) is not None:
            raise _failure(query.name, failure)


def _failure(job: str, failure: Exception) -> XSCLError:
    """What made a job fail, without the ways through Java and back."""
    text = str(failure)
    if ours := _OURS.findall(text):
        return XSCLError(ours[-1])
    # The last error of Python, where there is one, else the first line of Java's.
    found = _PYTHONS.findall(text) or text.partition("=== Streaming")[0].strip().splitlines()[:1]
    return XSCLError(f"the {job} job failed: {found[-1] if found else type(failure).__name__}")


ingest.add_command(status)


if __name__ == "__main__":
    run_command(ingest)
