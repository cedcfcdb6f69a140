"""`xscl ingest`: feeds become item documents on Spark; `xscl ingest status` shows how far it is.

`spark-submit` takes this file as it is, with the same options.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import click
from rich.console import Console

from xscl.cli.ends import check_ends
from xscl.cli.exits import ended_by_signals, run_command
from xscl.cli.helping.groups import Group
from xscl.cli.ingestion.report import IngestReport
from xscl.cli.ingestion.status import status
from xscl.cli.log import LOG_FORMAT, QUIET
from xscl.cli.options import PERIOD, Fetching, by_default, flag, option, takes
from xscl.cli.spark_jobs.options import Master, Settings
from xscl.cli.spark_jobs.running import aside, run_jobs
from xscl.errors import XSCLError
from xscl.polling.named_feeds import feeds_of
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.spool import Spool
from xscl.spark.session import session_for
from xscl.web.retrieval import user_agent

__all__ = ["ingest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Fetching):
    """The options of `xscl ingest`."""

    sources: Annotated[
        Sequence[str],
        option(
            "A feed file, a folder of them, an OPML file or an http(s) address.",
            multiple=True,
            metavar="SOURCE",
        ),
    ]
    to: Annotated[
        str | None,
        option("The folder of the ingestion; its items/ has the documents.", metavar="DIR"),
    ]
    once: Annotated[bool, flag("Fetch each feed that is due, make its items, then end.")]
    trigger: Annotated[float, option("The time between two batches.", type=PERIOD, default="10s")]
    master: Master
    settings: Settings
    spool: Annotated[
        str | None,
        option("The local folder of fetched bodies.  [default: DIR/spool]", metavar="FOLDER"),
    ]
    stream: Annotated[str, option("The stream of the items.", default="S", metavar="NAME")]
    keep: Annotated[
        float | None,
        option(
            "The age at which a raw body that was read is deleted.  [default: never]", type=PERIOD
        ),
    ]
    timeout: Annotated[
        float, option("The time that one fetch may take.", type=PERIOD, default="60s")
    ]
    concurrency: Annotated[
        int,
        option("Simultaneous fetches, each of another host.", type=click.IntRange(1), default=16),
    ]


@click.group(cls=Group, invoke_without_command=True)
@takes(Options)
@QUIET
@LOG_FORMAT
def ingest(options: Options) -> int:
    """Reads feeds on Spark into a table of item documents.

    DIR/items gets a row for each item, DIR/dead one for each body that is no feed.  The next run
    continues where this one ends.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return 0
    sources, to, keep = options.sources, options.to, options.keep
    if not sources or to is None:
        raise click.UsageError("give --sources, what to read, and --to, where to keep it")
    check_ends()
    try:
        for source in sources:
            feeds_of(source)
        if options.contact is not None:
            user_agent("", options.contact)
        archive = Archive.at(to, options.spool)
        names = ("every", "timeout", "concurrency", "contact", "allow_private", "max_document")
        how: dict[str, Any] = {name: getattr(options, name) for name in names}
        if options.once and by_default("every"):
            how["every"] = None
        written = FeedOptions(tuple(sources), spool=archive.local, **how).written()
    except (XSCLError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    archive.check()
    with contextlib.ExitStack() as stack:
        report = stack.enter_context(IngestReport(Console(stderr=True), Spool(archive.local)))
        stopped = stack.enter_context(ended_by_signals([]))
        sessions = session_for(
            "xscl ingest", master=options.master, settings=dict(options.settings)
        )
        spark = aside(sessions.__enter__)
        stack.push(sessions)
        from xscl.spark.ingestion import jobs, spark_files

        start_items = partial(
            jobs.start_items,
            spark,
            archive,
            stream=options.stream,
            updates=options.updates,
            links=options.links,
            on_batch=report.batch,
        )
        start_fetch = partial(jobs.start_fetch, spark, archive, written, keep=keep)

        def tidy() -> None:
            if keep is not None:
                report.cleared(spark_files.clear_landing(spark, archive, keep))

        rounds = (
            [[partial(start_fetch, trigger=None)], [partial(start_items, trigger=None)]]
            if options.once
            else [[partial(start, trigger=options.trigger) for start in (start_fetch, start_items)]]
        )
        for jobs_of_round in rounds:
            if not stopped.is_set():
                run_jobs([start() for start in jobs_of_round], stopped, report.tick, tidy)
        tidy()
        report.close()
        failed = options.once and not stopped.is_set() and report.unread(archive)
    return stopped.code(service=not options.once) if stopped.is_set() else int(failed)


ingest.add_command(status)


if __name__ == "__main__":
    run_command(ingest)
