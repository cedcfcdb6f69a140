"""`xscl ingest status`: how far an ingestion is, as a text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from xscl.cli.options import FORM
from xscl.cli.spark_jobs.options import show_status
from xscl.counts import counted
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.status import Status, read_status

__all__ = ["status"]


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--spool", metavar="FOLDER", help="The folder that `xscl ingest --spool` named.")
@FORM
def status(folder: str, spool: str | None, form: str) -> int:
    """Shows how far an ingestion is, and which feeds fail.

    DIR is the folder of `xscl ingest --to`; an ingestion may be running.
    """
    now = read_status(Archive.at(folder, spool))
    return show_status(asdict(now), form, _lines(now))


def _lines(now: Status) -> Iterator[str]:
    yield (
        f"{counted(now.feeds, 'feed')}, {len(now.troubles):,} in trouble; "
        f"last fetch {now.last_fetch or 'never'}, next {now.next_fetch or 'never'}"
    )
    yield (
        f"{counted(now.fetched, 'body')} fetched, {now.fetched - now.landed:,} still to land; "
        f"{counted(now.unread, 'file')} still to be read"
    )
    yield (
        f"{counted(now.items, 'item')} and {counted(now.dead, 'dead letter')} in "
        f"{counted(now.batches, 'batch')}, the last at {now.last_batch or 'no time'}"
    )
    for trouble in now.troubles:
        last = trouble.last_success
        read = "never read" if last is None else f"last read {last}"
        failed = counted(trouble.failures, "failure")
        yield f"{trouble.feed}: {trouble.error} ({read}; {failed} since)"
