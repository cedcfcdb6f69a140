"""`xscl spark status`: how far a join is, as a text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from xscl.cli.joining.report import skipped
from xscl.cli.options import FORM
from xscl.cli.spark_jobs.options import show_status
from xscl.counts import counted
from xscl.spark.joins.folder import JoinFolder
from xscl.spark.joins.status import JoinStatus, read_join_status

__all__ = ["status"]


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@FORM
def status(folder: str, form: str) -> int:
    """Shows how far a join on Spark is, and what it has skipped.

    DIR is the folder of `xscl spark run --to`; a join may be running.
    """
    now = read_join_status(JoinFolder.at(folder))
    return show_status(asdict(now), form, _lines(now))


def _lines(now: JoinStatus) -> Iterator[str]:
    yield (
        f"{counted(now.batches, 'batch')}, the last at {now.last_batch or 'no time'}; "
        f"{counted(now.revisions, 'revision')} of the queries"
    )
    yield (
        f"{counted(now.documents, 'document')}, {counted(now.matches, 'match')}, "
        f"{skipped(now.duplicate, now.late, now.dead)}"
    )
    if now.state_rows is not None:
        size = f"{(now.state_bytes or 0) / 1e6:,.1f} MB"
        yield f"{counted(now.state_rows, 'row')} of state, {size} in memory"
    yield from now.stopped
    for problem, count in now.problems.items():
        yield f"{counted(count, 'dead letter')}: {problem}"
