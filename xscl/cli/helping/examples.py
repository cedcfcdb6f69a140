"""Examples of each command, and the address of its page: the end of `--help`, and the page
docs/commands.md.  Each is run by a test, in a folder that has what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from xscl.version import SITE

__all__ = ["EXAMPLES", "Example", "page_of", "with_examples"]


class Example(NamedTuple):
    """A command line, and what it does."""

    line: str
    does: str


EXAMPLES: Mapping[str, Sequence[Example]] = {
    "": (
        Example("xscl demo", "see six queries at work, in half a minute"),
        Example("xscl sample mine", "their feeds and queries as files, to change"),
        Example("xscl run mine/queries.xscl --feed S=mine/feeds", "run them"),
        Example("xscl help watch", "the options of a command"),
    ),
    "demo": (Example("xscl demo --fast", "without pauses"),),
    "sample": (Example("xscl sample mine", "the folder `mine`, with feeds and queries"),),
    "run": (
        Example("xscl run queries.xscl --feed S=feeds/", "the items of the feeds in a folder"),
        Example(
            "xscl run -q \"S/item[contains(title, 'RSS')]\" --feed S=feeds/ --format jsonl",
            "a query in the command line; a line of JSON for each match",
        ),
        Example(
            "cat documents.jsonl | xscl run queries.xscl --events - --state news.state",
            "documents as they come; the next run continues",
        ),
    ),
    "watch": (
        Example(
            "xscl watch queries.xscl --feed S=feeds.opml",
            "poll feeds until it is stopped",
        ),
        Example(
            "xscl watch queries.xscl --feed S=feeds.opml --once -o matches.jsonl",
            "one round, for cron",
        ),
        Example(
            "xscl watch queries.xscl --feed S=https://example.org/feed --exec ./notify.sh",
            "a command for each match",
        ),
    ),
    "serve": (
        Example(
            "xscl serve queries.xscl --feed S=feeds.opml --state served.state",
            "a page and an API at http://127.0.0.1:8765/",
        ),
    ),
    "check": (
        Example("xscl check queries.xscl", "errors, each with its place"),
        Example("xscl check queries.xscl --feed S=feeds/", "and how much each query finds"),
    ),
    "explain": (
        Example("xscl explain queries.xscl --query reviewed", "one query, in words"),
        Example("xscl explain queries.xscl --format svg > queries.svg", "a picture of all"),
    ),
    "why": (
        Example(
            "xscl why queries.xscl --query reviewed --feed S=feeds/",
            "how many items and pairs pass each condition",
        ),
    ),
    "feeds": (
        Example("xscl feeds add https://example.org/ --opml feeds.opml", "add a feed"),
        Example("xscl feeds queries.feeds.duckdb", "short for `xscl feeds show`"),
    ),
    "feeds show": (Example("xscl feeds show queries.feeds.duckdb", "the feeds of a watch"),),
    "feeds add": (
        Example("xscl feeds add https://example.org/ --opml feeds.opml", "the feed of a web page"),
    ),
    "state": (
        Example("xscl state news.state", "queries, documents, positions"),
        Example("xscl state news.state --format json", "the same for programs"),
    ),
    "config": (
        Example("xscl config", "what is set, for each command"),
        Example("xscl config watch --every 5m", "all options of a watch that is started so"),
        Example("xscl config --format json run", "the same for programs"),
    ),
    "help": (Example("xscl help feeds add", "the same as `xscl feeds add --help`"),),
    "ingest": (
        Example("xscl ingest --sources feeds.opml --to ingested --once", "one round of all feeds"),
        Example("xscl ingest status ingested", "how far it is"),
    ),
    "ingest status": (Example("xscl ingest status ingested", "batches, items, failing feeds"),),
    "spark": (
        Example("xscl spark run queries.xscl --items ingested --to found", "until it is stopped"),
        Example("xscl spark status found", "how far it is"),
    ),
    "spark run": (
        Example(
            "xscl spark run queries.xscl --items ingested --to found --once",
            "the items that are there",
        ),
        Example(
            "xscl spark run queries.xscl --events 'logs/*.jsonl' --to found --every 10s",
            "envelopes in files, until it is stopped",
        ),
    ),
    "spark status": (Example("xscl spark status found", "batches, documents, matches"),),
    "join": (
        Example("xscl join queries.xscl --items ingested --to found --once", "what is there"),
        Example("xscl join status found", "how far it is"),
    ),
    "join run": (
        Example("xscl join run queries.xscl --items ingested --to found --once", "what is there"),
    ),
    "join status": (Example("xscl join status found", "batches, documents, matches"),),
}
"""By the name of a command, its examples."""


def page_of(name: str) -> str:
    """The address of the page of a command.

    >>> page_of("feeds add").removeprefix(SITE)
    '/en/latest/commands.html#xscl-feeds-add'
    """
    anchor = f"#xscl-{name.replace(' ', '-')}" if name else ""
    return f"{SITE}/en/latest/commands.html{anchor}"


def with_examples(command: click.Command, name: str) -> click.Command:
    """A command, and those within it, each with its examples at the end of its help."""
    lines = [part for one in EXAMPLES[name] for part in (f"  $ {one.line}", f"      {one.does}")]
    command.epilog = "\n".join(["\b", "Examples:", *lines, "", "\b", f"More: {page_of(name)}"])
    if isinstance(command, click.Group) and name:
        for within, each in command.commands.items():
            with_examples(each, f"{name} {within}")
    return command
