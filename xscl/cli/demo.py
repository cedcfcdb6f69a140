"""`xscl demo`: five standing queries over the bundled sample feeds."""

from __future__ import annotations

import click
from rich.console import Console

from xscl.cli.report import report_of
from xscl.counts import counted
from xscl.engine import Engine
from xscl.sinks.readable import readable
from xscl.sources.feed_files import read_feeds
from xscl.times import from_timestamp, to_seconds

__all__ = ["demo"]


@click.command()
def demo() -> int:
    """Runs five queries over two weeks of sample feeds."""
    from xscl import samples

    console = Console(highlight=False)
    text = (samples.FEEDS / "queries.xscl").read_text(encoding="utf-8")
    with report_of(None) as report, Engine(on_skip=report.skip) as engine:
        subscriptions = engine.load(text)
        # The feeds are of 2026 for good, whenever the files were unpacked.
        arrival = to_seconds(from_timestamp("2026-06-15"))
        items = read_feeds(samples.FEEDS, "S", arrival=arrival, on_error=report.skip)
        for match in engine.run(report.watch(engine, items)):
            console.print(readable(match), soft_wrap=True)
            report.found(1)
        console.print(
            f"{counted(len(subscriptions), 'query')}, in {samples.FEEDS / 'queries.xscl'}",
            soft_wrap=True,
        )
        report.close(engine)
    return 0
