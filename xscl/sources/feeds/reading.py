"""Feed files, folders of them and OPML lists become document envelopes, one for each item."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from xscl.errors import DocumentError, XSCLError
from xscl.sources.bodies import MAX_DOCUMENT, read_body, too_large, unreadable
from xscl.sources.feeds.links import CANONICAL, Rules
from xscl.sources.feeds.opml import is_opml, read_opml
from xscl.sources.feeds.parsing import NotAFeed, parse_feed

__all__ = ["read_feeds"]

_WEB = re.compile("https?://", re.IGNORECASE)
_File = tuple[str, tuple[str, ...]]
"""A feed file, and the folders that it lies in."""


def read_feeds(
    source: str | Path,
    stream: str,
    *,
    arrival: float | None = None,
    on_error: Callable[[DocumentError], None] | None = None,
    links: Rules = CANONICAL,
    max_document: int = MAX_DOCUMENT,
) -> Iterator[dict[str, Any]]:
    """The items of a feed file, of all files in a folder and below, or of the files that an OPML
    file lists (whose paths start from its own folder), in order of time.

    Query files (`.xscl`) in a folder are passed over; they may lie beside their feeds.

    `arrival` (seconds) is when the items are taken to have arrived: unless given, when their file
    was last modified.  A file that is no feed, or has more than `max_document` bytes, goes to
    `on_error` and the others are read; without `on_error` it is raised.  `links` are the rules of
    the links' canonical form.  Raises FileNotFoundError where there is no such source, and
    XSCLError for a kind of source that cannot be read.
    """
    report = on_error or _raise
    files = _files(os.fspath(source), stream, report, max_document)
    return _items(files, stream, arrival, report, links, max_document)


def _items(
    files: Iterable[_File],
    stream: str,
    arrival: float | None,
    on_error: Callable[[DocumentError], None],
    links: Rules,
    limit: int,
) -> Iterator[dict[str, Any]]:
    envelopes: list[dict[str, Any]] = []
    for file, folders in files:
        try:
            body, modified = _body(file, stream, limit)
            feed = parse_feed(body, file, folders=folders, links=links)
        except DocumentError as error:
            on_error(error)
        except NotAFeed as error:
            on_error(unreadable(str(error), stream=stream, document=file, raw=body))
        else:
            arrived = modified if arrival is None else arrival
            envelopes += (item.envelope(stream, arrived) for item in feed.items)
    envelopes.sort(key=_timestamp)
    yield from envelopes


def _files(
    name: str, stream: str, on_error: Callable[[DocumentError], None], limit: int
) -> list[_File]:
    """The feed files of a source, by path, each named as the source was given."""
    if _WEB.match(name):
        raise XSCLError(
            f"feed source {name!r}: this reads feeds from files; `xscl watch` polls addresses, "
            "or download it and give the file's name"
        )
    if os.path.isdir(name):
        below = sorted(
            path for path in Path(name).rglob("*") if path.is_file() and path.suffix != ".xscl"
        )
        return [(os.path.join(name, path.relative_to(name)), ()) for path in below]
    if not os.path.exists(name):
        raise FileNotFoundError(
            f"feed source {name!r}: no such file or folder; give a feed file or a folder of them"
        )
    try:
        body, _ = _body(name, stream, limit)
    except DocumentError as error:
        on_error(error)
        return []
    if name.lower().endswith(".opml") or is_opml(body):
        return _listed(name, body, stream, on_error)
    return [(name, ())]


def _listed(
    name: str, body: bytes, stream: str, on_error: Callable[[DocumentError], None]
) -> list[_File]:
    """The feed files that an OPML file lists; the addresses in it are reported."""
    try:
        subscriptions = read_opml(body)
    except ValueError as error:
        raise XSCLError(f"feed source {name!r}: it {error}; give an OPML file") from error
    remote = [each.address for each in subscriptions if _WEB.match(each.address)]
    if remote and len(remote) == len(subscriptions):
        raise XSCLError(
            f"feed source {name!r}: this OPML file lists addresses only, such as {remote[0]!r}; "
            "`xscl watch` polls them"
        )
    for address in remote:
        problem = "is an address, not a file: `xscl watch` polls those"
        on_error(DocumentError(problem, stream=stream, document=address))
    folder = os.path.dirname(name)
    return [
        (os.path.join(folder, each.address), each.folders)
        for each in subscriptions
        if each.address not in remote
    ]


def _body(file: str, stream: str, limit: int) -> tuple[bytes, float]:
    """A file's bytes, and when it was last modified."""
    try:
        body, modified = read_body(file, limit), os.stat(file).st_mtime
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise DocumentError(reason, stream=stream, document=file) from error
    if len(body) > limit:
        raise unreadable(too_large(limit), stream=stream, document=file, raw=body)
    return body, modified


def _timestamp(envelope: dict[str, Any]) -> float:
    time: float = envelope["timestamp"]
    return time


def _raise(error: DocumentError) -> None:
    raise error
