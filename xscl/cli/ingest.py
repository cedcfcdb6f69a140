"""`xscl ingest`: feeds become item documents on Spark; `xscl ingest status` tells how far it is.

`spark-submit` takes this file as it is, with the same options.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
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
    Period,
)
from xscl.cli.spark_jobs.options import MASTER, SETTINGS
from xscl.cli.spark_jobs.running import aside, run_jobs
from xscl.errors import XSCLError
from xscl.polling.named_feeds import feeds_of
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.spool import Spool
from xscl.spark.session import session_for
from xscl.web.retrieval import user_agent

if TYPE_CHECKING:
    from xscl.feeds import Rules

__all__ = ["ingest"]


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
@MASTER
@SETTINGS
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
        spark = aside(sessions.__enter__)
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
                run_jobs([start() for start in jobs_of_round], stopped, report.tick, tidy)
        tidy()
        report.close()
    return 130 if stopped.is_set() else 0


ingest.add_command(status)


if __name__ == "__main__":
    run_command(ingest)
