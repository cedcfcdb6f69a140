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
    now = read_status(Archive.at(folder, spool))
    if form == "json":
        click.echo(json.dumps(asdict(now), indent=2, ensure_ascii=False))
        return 0
    console = Console(highlight=False)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    say(
        f"{counted(now.feeds, 'feed')}, {len(now.troubles):,} in trouble; "
        f"last fetch {now.last_fetch or 'never'}, next {now.next_fetch or 'never'}"
    )
    say(
        f"{counted(now.fetched, 'body')} fetched, {now.fetched - now.landed:,} still to land; "
        f"{counted(now.unread, 'file')} still to be read"
    )
    say(
        f"{counted(now.items, 'item')} and {counted(now.dead, 'dead letter')} in "
        f"{counted(now.batches, 'batch')}, "
        f"the last at {now.last_batch or 'no time'}"
    )
    for trouble in now.troubles:
        since = trouble.last_success or "never"
        say(f"{trouble.feed}: {trouble.error} (well last: {since}; failures: {trouble.failures})")
    return 0
