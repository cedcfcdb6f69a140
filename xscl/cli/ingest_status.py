"""`xscl ingest status`: how far an ingestion is, as a text or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.console import Console

from xscl.counts import counted
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.status import read_status

__all__ = ["status"]


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--spool", metavar="FOLDER", help="The folder that `xscl ingest --spool` named.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def status(folder: str, spool: str | None, form: str) -> int:
    """Shows how far an ingestion is, and which feeds fail.

    DIR is the folder of `xscl ingest --to`; an ingestion may be running.
    """
    told = read_status(Archive.at(folder, spool))
    if form == "json":
        click.echo(json.dumps(asdict(told), indent=2, ensure_ascii=False))
        return 0
    console = Console(highlight=False)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    say(
        f"{counted(told.feeds, 'feed')}, {len(told.troubles):,} in trouble; "
        f"last fetch {told.last_fetch or 'never'}, next {told.next_fetch or 'never'}"
    )
    say(
        f"{counted(told.fetched, 'body')} fetched, {told.fetched - told.landed:,} still to land; "
        f"{counted(told.unread, 'file')} still to be read"
    )
    say(
        f"{counted(told.items, 'item')} and {counted(told.dead, 'dead letter')} in "
        f"{counted(told.batches, 'batch')}, "
        f"the last at {told.last_batch or 'no time'}"
    )
    for trouble in told.troubles:
        since = trouble.last_success or "never"
        say(f"{trouble.feed}: {trouble.error} (well last: {since}; failures: {trouble.failures})")
    return 0
