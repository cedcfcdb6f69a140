"""`xscl feeds show`: what polling remembers of each feed, as a table or as JSON."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xscl.cli.options import FORM, echo_json
from xscl.counts import counted
from xscl.polling.state import FeedState
from xscl.polling.store import Store
from xscl.times import moment

__all__ = ["show"]

_WIDE = 10_000


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@FORM
def show(file: str, form: str) -> int:
    """Shows the feeds that a watch polls.

    Of each feed: the last fetch, the next, the number of items and the last error.  FILE is the
    one of `xscl watch --feeds-db`; a watch may be running.
    """
    store = Store(file)
    states, items = store.feeds(), store.counts()
    if form == "json":
        entries = [_entry(state, items.get(state.address, 0)) for state in states.values()]
        echo_json(entries)
        return 0
    table = Table(box=None, pad_edge=False)
    for column in ("feed", "last fetch", "next fetch", "items", "error"):
        table.add_column(column, overflow="fold", no_wrap=column.endswith("fetch"))
    for state in states.values():
        named = f"{state.title}\n{state.address}" if state.title else state.address
        if state.url != state.address:
            named += f"\nread at {state.url}"
        table.add_row(
            Text(named),
            _time(state.last_fetch) or "never",
            _next_fetch(state),
            f"{items.get(state.address, 0):,}",
            Text(_trouble(state)),
        )
    # What goes to a file or a pipe is not cut to the width of a screen.
    width = None if sys.stdout.isatty() else _WIDE
    Console(highlight=False, width=width).print(table)
    return 0


def _entry(state: FeedState, items: int) -> dict[str, object]:
    return {
        "feed": state.address,
        "url": state.url,
        "title": state.title,
        "last_fetch": _time(state.last_fetch) or None,
        "last_success": _time(state.last_success) or None,
        "next_fetch": _time(state.next_fetch) or None,
        "items": items,
        "failures": state.failures,
        "error": state.error,
        "gone": state.gone,
    }


def _next_fetch(state: FeedState) -> str:
    return "never" if state.gone else _time(state.next_fetch) or "as soon as may be"


def _trouble(state: FeedState) -> str:
    if state.failures > 1:
        return f"{state.error} ({counted(state.failures, 'time')})"
    return state.error or ""


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return moment(int(seconds) * 1_000_000)
