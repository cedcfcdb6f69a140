"""What a state file holds, as read in a terminal: a table for each thing that it has several of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from xscl.counts import counted

__all__ = ["shown"]


def shown(told: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of what `xscl state --format json` tells."""
    skipped = [f"{count:,} {reason}" for reason, count in told["skipped"].items() if count]
    names = told["queries"]
    more = ["…"] if len(names) < told["subscriptions"] else []
    late = "any" if told["lateness"] is None else f"{told['lateness']:,g} s"
    taken = counted(told["taken"], "document")
    summary = Table(box=None, pad_edge=False, show_header=False)
    summary.add_column(style="bold")
    summary.add_column(overflow="fold")
    for name, value in {
        "state": told["file"],
        "made": f"{told['made']} by {told['made_by']}, version {told['version']}",
        "size": f"{counted(told['size'], 'byte')}, {told['bytes_of_documents']:,} of documents",
        "queries": f"{told['subscriptions']:,}: {', '.join([*names, *more])}" if names else "none",
        "taken": f"{taken}, the latest of {told['latest'] or 'no time'}",
        "skipped": ", ".join(skipped) or "none",
        "lateness": late,
        "held": counted(told["documents"], "document"),
        "undelivered": counted(told["undelivered"], "match"),
        "feeds": f"{told['feeds']:,}",
    }.items():
        summary.add_row(name, escape(value))
    yield summary
    yield from _several(
        ("stream", "documents held", "first", "last"),
        [
            (name, f"{each['documents']:,}", str(each["first"]), str(each["last"]))
            for name, each in told["streams"].items()
        ],
    )
    yield from _several(
        ("source", "read so far"),
        [(source, _place(place)) for source, place in told["inputs"].items()],
    )
    yield from _several(
        ("file of matches", "bytes"),
        [(path, f"{each['bytes']:,}") for path, each in told["outputs"].items()],
    )
    yield from _several(
        ("waiting for", "of query", "matches"),
        [(each["sink"], each["query"], f"{each['matches']:,}") for each in told["waiting"]],
    )


def _place(place: Mapping[str, Any]) -> str:
    if "documents" in place:
        return counted(place["documents"], "document")
    return f"{counted(place['line'], 'line')}, {counted(place['offset'], 'byte')}"


def _several(heads: Iterable[str], rows: list[tuple[str, ...]]) -> Iterator[Table]:
    if rows:
        # A line between this and what stands above.
        yield Table.grid()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in heads:
            right = head in ("documents held", "bytes", "matches")
            table.add_column(head, justify="right" if right else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(escape, row))
        yield table
