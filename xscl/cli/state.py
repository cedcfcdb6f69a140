"""`xscl state`: what a state file holds, as a table or as JSON; and the file written anew."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from xscl.cli.state_view import shown
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
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option("--compact", "smaller", is_flag=True, help="Write it anew, without free room.")
def state(file: Path, form: str, smaller: bool) -> int:
    """Shows what is in a state file: queries, documents in reach, positions, undelivered matches.

    FILE is that of --state; no run may have it open.
    """
    if smaller:
        before, after = compact(file)
        click.echo(
            f"{file}: {counted(before, 'byte')} before, {counted(after, 'byte')} now", err=True
        )
    told = _told(file)
    if form == "json":
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return 0
    console = Console(highlight=False)
    for part in shown(told):
        console.print(part)
    return 0


def _told(file: Path) -> dict[str, object]:
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
