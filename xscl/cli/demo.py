"""`xscl demo`: six standing queries over the bundled sample feeds, a question each.

On a terminal the matches come one by one, slowly enough to be read.  The rate at the end is that of
all queries together, over feeds that have been read, by an engine that has its queries.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from xscl.counts import counted
from xscl.engine import Engine
from xscl.matches.match import Match
from xscl.sinks.readable import Sentences, takes_links
from xscl.sources.feed_files import read_feeds
from xscl.times import from_timestamp, to_seconds

__all__ = ["demo"]

_QUESTION = re.compile(r"^-- name: (\S+)\n((?:-- .*\n)+)", re.MULTILINE)
_PAUSE, _LONGEST = 0.7, 6.0
"""The seconds after a match, and after all matches of a question together, at most."""

_MEASURED, _APART = 0.3, 30 * 86_400


@click.command()
@click.option("--fast", is_flag=True, help="All without a pause after each match.")
def demo(fast: bool) -> int:
    """Runs six queries over two weeks of sample feeds."""
    from xscl import samples

    console = Console(highlight=False)
    path = samples.FEEDS / "queries.xscl"
    text = path.read_text(encoding="utf-8")
    # The feeds are of 2026 for good, whenever the files were unpacked.
    arrival = to_seconds(from_timestamp("2026-06-15"))
    items = list(read_feeds(samples.FEEDS, "S", arrival=arrival, on_error=_say))
    feeds = len(list(samples.FEEDS.glob("*.xml")))
    console.print(f"{counted(len(items), 'item')} of {counted(feeds, 'feed')}, in two weeks.")
    found: dict[str, list[Match]] = defaultdict(list)
    with Engine() as engine:
        queries = {one.name: one.query for one in engine.load(text)}
        for match in engine.publish_many(items):
            found[match.query].append(match)
        links = console.color_system is not None and takes_links()
        sentences = Sentences(queries.get, links=links)
        for name, question in _questions(text):
            console.print(Text(f"\n{question}", style="bold"), soft_wrap=True)
            for match in found[name]:
                console.print(sentences.sentence(match), soft_wrap=True)
                if console.is_terminal and not fast:
                    time.sleep(min(_PAUSE, _LONGEST / len(found[name])))
        rate = _rate(engine, items)
    matches = sum(map(len, found.values()))
    console.print(
        f"\n{counted(len(queries), 'query')} together: {counted(matches, 'match')}, and by the "
        f"same items again and again {rate:,.0f} items/s. The queries: {path}",
        soft_wrap=True,
    )
    return 0


def _rate(engine: Engine, items: list[dict[str, Any]]) -> float:
    """The items a second of a warm engine, for which the weeks continue as they have been."""
    began, seconds, rounds = time.perf_counter(), 0.0, 0
    while seconds < _MEASURED:
        rounds += 1
        later = [
            {**one, "id": f"{one['id']}#{rounds}", "timestamp": one["timestamp"] + rounds * _APART}
            for one in items
        ]
        engine.publish_many(later)
        seconds = time.perf_counter() - began
    return rounds * len(items) / seconds


def _questions(text: str) -> list[tuple[str, str]]:
    """The names of the queries, and the first sentence of what is above each."""
    return [
        (name, " ".join(said.replace("-- ", " ").split()).split(". ")[0].rstrip(".") + ".")
        for name, said in _QUESTION.findall(text)
    ]


def _say(problem: Exception) -> None:
    click.echo(f"skipped: {problem}", err=True)
