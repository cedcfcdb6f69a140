"""Matches as a JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) that any reader can
subscribe to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from xscl.errors import XSCLError
from xscl.files.whole import replace_file
from xscl.sinks.entries import Entry, entries, seconds
from xscl.sinks.feed_file import NEWEST, merged, read_if_there
from xscl.times import rfc3339

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["update_json_feed", "write_json_feed"]

_VERSION = "https://jsonfeed.org/version/1.1"

_Feed = dict[str, object]
_Dated = tuple[float, str, object]


def write_json_feed(
    matches: Iterable[Match], to: TextIO, *, title: str, newest: int = NEWEST
) -> int:
    """Writes the newest matches as one feed, and flushes; returns how many matches there were."""
    found = entries(matches, newest)
    to.write(_text({**_new(title), "items": merged([], _dated(found.newest), newest)}))
    to.flush()
    return found.matches


def update_json_feed(
    matches: Iterable[Match], path: str | Path, *, title: str, newest: int = NEWEST
) -> int:
    """Puts matches into the feed of a file, which is made where there is none; returns how many
    matches there were.

    The feed's own members and the items that are there stay as they are.  Raises XSCLError for
    a file that holds something else.
    """
    old = _read(path) or _new(title)
    found = entries(matches, newest)
    items = merged(_kept(old), _dated(found.newest), newest, found.gone)
    replace_file(path, _text({**old, "items": items}))
    return found.matches


def _new(title: str) -> _Feed:
    return {"version": _VERSION, "title": title, "items": []}


def _read(path: str | Path) -> _Feed | None:
    body = read_if_there(path)
    if not body.strip():
        return None
    try:
        feed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _no_feed(path) from error
    is_feed = isinstance(feed, dict) and str(feed.get("version")).startswith(
        "https://jsonfeed.org/version/1"
    )
    if not is_feed or not isinstance(feed.get("items"), list):
        raise _no_feed(path)
    return dict(feed)


def _no_feed(path: str | Path) -> XSCLError:
    return XSCLError(f"{path} is there already and is no JSON Feed; name another file")


def _kept(feed: _Feed) -> Iterator[_Dated]:
    items = feed["items"]
    assert isinstance(items, list)
    for item in items:
        if isinstance(item, dict):
            date = item.get("date_modified") or item.get("date_published")
            yield seconds(str(date)), str(item.get("id")), item


def _dated(some: Iterable[Entry]) -> Iterator[_Dated]:
    for entry in some:
        yield entry.updated, entry.id, _item(entry)


def _item(entry: Entry) -> dict[str, object]:
    item: dict[str, object] = {"id": entry.id, "title": entry.title}
    if entry.link is not None:
        item["url"] = entry.link
    return item | {
        "content_text": entry.text,
        # Readers would run the lines of a plain text together.
        "content_html": f"<pre>{escape(entry.text)}</pre>",
        "date_published": rfc3339(entry.updated),
        "tags": [entry.query],
    }


def _text(feed: _Feed) -> str:
    # An item that was there may hold half a surrogate pair, which only an escape can write.
    return json.dumps(feed, indent=1) + "\n"
