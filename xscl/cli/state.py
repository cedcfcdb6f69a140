"""`xscl state`: what a state file holds, as a table or as JSON; and the file rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xscl.cli.options import FORM, echo_json
from xscl.counts import counted
from xscl.durable.compaction import compact
from xscl.durable.state_file import looking_at
from xscl.times import moment, to_seconds

__all__ = ["state"]

_SIZES = {
    "subscriptions": "SELECT count(*) FROM subscriptions",
    "documents": "SELECT count(*) FROM documents",
    "bytes_of_documents": (
        "SELECT coalesce(sum(coalesce(octet_length(raw), octet_length(encode(text)))), 0)::BIGINT "
        "FROM documents"
    ),
    "undelivered": "SELECT count(*) FROM undelivered",
    "feeds": "SELECT count(*) FROM feeds",
}
_STREAMS = """
    SELECT ltrim(stream, chr(0)) AS name, count(*), min(time), max(time) FROM documents
    GROUP BY name ORDER BY name
"""


_WAITING = """
    SELECT sink, query, count(*) AS matches FROM undelivered
    GROUP BY sink, query ORDER BY matches DESC, sink, query LIMIT 100
"""


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@FORM
@click.option("--compact", "smaller", is_flag=True, help="Rewrite the file without unused space.")
def state(file: Path, form: str, smaller: bool) -> int:
    """Shows what a state file holds.

    That is the queries, the documents in reach, the position in each source and the matches that
    are not delivered yet.  FILE is the one of --state; no run may have it open.
    """
    if smaller:
        before, after = compact(file)
        click.echo(
            f"{file}: {counted(before, 'byte')} before, {counted(after, 'byte')} now", err=True
        )
    contents = _contents(file)
    if form == "json":
        echo_json(contents)
        return 0
    console = Console(highlight=False)
    for part in _tables(contents):
        console.print(part)
    return 0


def _contents(file: Path) -> dict[str, object]:
    with looking_at(file) as connection:

        def rows(query: str) -> list[tuple[object, ...]]:
            return connection.execute(query).fetchall()

        ((version, made_by, made_at),) = rows("SELECT version, made_by, made_at FROM xscl_state")
        counters = connection.execute("FROM counters")
        names = [column[0] for column in counters.description or ()]
        numbers = dict(zip(names, counters.fetchall()[0], strict=True))
        queries = rows("SELECT name FROM subscriptions ORDER BY number LIMIT 100")
        return {
            "file": str(file),
            "version": version,
            "made_by": made_by,
            "made": _time(float(str(made_at)) * 1e6),
            "size": file.stat().st_size,
            **{name: rows(query)[0][0] for name, query in _SIZES.items()},
            "queries": [name for (name,) in queries],
            "taken": numbers["documents"],
            "skipped": {name: numbers[name] for name in ("malformed", "duplicate", "late")},
            "latest": _time(numbers["latest"]),
            "lateness": None if numbers["lateness"] is None else to_seconds(numbers["lateness"]),
            "streams": {
                str(stream): {"documents": count, "first": _time(first), "last": _time(last)}
                for stream, count, first, last in rows(_STREAMS)
            },
            "inputs": {
                str(source): json.loads(str(position))
                for source, position in rows("SELECT source, position FROM inputs ORDER BY source")
            }
            | {
                str(source): {"documents": count}
                for source, count in rows(
                    "SELECT source, count(*) FROM documents_read GROUP BY source ORDER BY source"
                )
            },
            "outputs": {
                str(path): {"bytes": size}
                for path, size in rows("SELECT path, bytes FROM outputs ORDER BY path")
            },
            "waiting": [
                {"sink": sink, "query": query, "matches": count}
                for sink, query, count in rows(_WAITING)
            ],
        }


def _time(microseconds: object) -> str | None:
    if microseconds is None:
        return None
    return moment(int(float(str(microseconds))) // 1_000_000 * 1_000_000)


def _tables(shown: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of what `xscl state --format json` shows."""
    skipped = [f"{count:,} {reason}" for reason, count in shown["skipped"].items() if count]
    names = shown["queries"]
    more = ["…"] if len(names) < shown["subscriptions"] else []
    late = "any" if shown["lateness"] is None else f"{shown['lateness']:,g} s"
    taken = counted(shown["taken"], "document")
    summary = Table(box=None, pad_edge=False, show_header=False)
    summary.add_column(style="bold")
    summary.add_column(overflow="fold")
    for name, value in {
        "state": shown["file"],
        "made": f"{shown['made']} by {shown['made_by']}, version {shown['version']}",
        "size": f"{counted(shown['size'], 'byte')}, {shown['bytes_of_documents']:,} of documents",
        "queries": f"{shown['subscriptions']:,}: {', '.join([*names, *more])}" if names else "none",
        "taken": f"{taken}, the latest of {shown['latest'] or 'no time'}",
        "skipped": ", ".join(skipped) or "none",
        "lateness": late,
        "retained": counted(shown["documents"], "document"),
        "undelivered": counted(shown["undelivered"], "match"),
        "feeds": f"{shown['feeds']:,}",
    }.items():
        summary.add_row(name, escape(value))
    yield summary
    yield from _several(
        ("stream", "documents retained", "first", "last"),
        [
            (name, f"{each['documents']:,}", str(each["first"]), str(each["last"]))
            for name, each in shown["streams"].items()
        ],
    )
    yield from _several(
        ("source", "read so far"),
        [(source, _place(place)) for source, place in shown["inputs"].items()],
    )
    yield from _several(
        ("file of matches", "bytes"),
        [(path, f"{each['bytes']:,}") for path, each in shown["outputs"].items()],
    )
    yield from _several(
        ("waiting for", "of query", "matches"),
        [(each["sink"], each["query"], f"{each['matches']:,}") for each in shown["waiting"]],
    )


def _place(place: Mapping[str, Any]) -> str:
    if "documents" in place:
        return counted(place["documents"], "document")
    return f"{counted(place['line'], 'line')}, {counted(place['offset'], 'byte')}"


def _several(heads: Iterable[str], rows: list[tuple[str, ...]]) -> Iterator[Table]:
    if rows:
        # A line between this and what is above.
        yield Table.grid()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in heads:
            right = head in ("documents retained", "bytes", "matches")
            table.add_column(head, justify="right" if right else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(escape, row))
        yield table
