"""`xscl join status`: how far a join is, as a text or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.console import Console

from xscl.cli.joining.report import skipped
from xscl.counts import counted
from xscl.printable import printable
from xscl.spark.joins.folder import JoinFolder
from xscl.spark.joins.status import read_join_status

__all__ = ["status"]


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def status(folder: str, form: str) -> int:
    """Shows how far a join on Spark is, and what it has skipped.

    DIR is the folder of `xscl join --to`; a join may be running.
    """
    now = read_join_status(JoinFolder.at(folder))
    if form == "json":
        click.echo(json.dumps(asdict(now), indent=2, ensure_ascii=False))
        return 0
    console = Console(highlight=False)

    def say(text: str) -> None:
        console.print(printable(text), markup=False, soft_wrap=True)

    say(
        f"{counted(now.batches, 'batch')}, the last at {now.last_batch or 'no time'}; "
        f"{counted(now.revisions, 'revision')} of the queries"
    )
    say(
        f"{counted(now.documents, 'document')}, {counted(now.matches, 'match')}, "
        f"{skipped(now.duplicate, now.late, now.dead)}"
    )
    if now.state_rows is not None:
        size = f"{(now.state_bytes or 0) / 1e6:,.1f} MB"
        say(f"{counted(now.state_rows, 'row')} of state, {size} in memory")
    for problem, count in now.problems.items():
        say(f"{counted(count, 'dead letter')}: {problem}")
    return 0
