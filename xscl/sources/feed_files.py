"""Feed files, folders of them and OPML lists become document envelopes, one for each item."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from xscl.errors import DocumentError, XSCLError
from xscl.feeds import CANONICAL, Rules
from xscl.feeds.opml import Outline, is_opml, read_opml
from xscl.feeds.parsing import NotAFeed, parse_feed
from xscl.files.gzipped import read_whole
from xscl.sources.limits import MAX_DOCUMENT, read_body, too_large, unreadable

__all__ = ["ListedFeeds", "listed_feeds", "read_feeds"]

_WEB = re.compile("https?://", re.IGNORECASE)
_HEAD = 4096
"""Bytes within which a file shows whether it is OPML."""


@dataclass(frozen=True, slots=True)
class ListedFeeds:
    """The feeds that a source names: files by their paths, and addresses on the web."""

    files: Sequence[Outline]
    addresses: Sequence[Outline] = ()


def read_feeds(
    source: str | Path,
    stream: str,
    *,
    arrival: float | None = None,
    on_error: Callable[[DocumentError], None] | None = None,
    links: Rules = CANONICAL,
    max_document: int = MAX_DOCUMENT,
    on_dates: Callable[[int, int], object] = lambda items, undated: None,
) -> Iterator[dict[str, Any]]:
    """The items of a feed file, of all files in a folder and below, or of the files that an OPML
    file lists (whose paths start from its own folder), in order of time.

    Query files (`.xscl`) in a folder are passed over; they may be next to their feeds.

    `arrival` (seconds) is when the items are taken to have arrived: unless given, when their file
    was last modified.  A file that is no feed, or has more than `max_document` bytes, goes to
    `on_error` and the others are read; without `on_error` it is raised.  `links` are the rules of
    the links' canonical form.  `on_dates` gets, for each file, how many items it has and how many
    of them have no date, or one in the future: their time is that of the file.  Raises
    FileNotFoundError where there is no such source, and XSCLError for a kind of source that cannot
    be read.
    """
    report = on_error or _raise
    files = _files(os.fspath(source), stream, report)
    return _items(files, stream, arrival, report, links, max_document, on_dates)


def _items(
    files: Iterable[Outline],
    stream: str,
    arrival: float | None,
    on_error: Callable[[DocumentError], None],
    links: Rules,
    limit: int,
    on_dates: Callable[[int, int], object],
) -> Iterator[dict[str, Any]]:
    envelopes: list[dict[str, Any]] = []
    for listed in files:
        file = listed.address
        try:
            body, modified = _body(file, stream, limit)
            feed = parse_feed(body, file, folders=listed.folders, links=links)
        except DocumentError as error:
            on_error(error)
        except NotAFeed as error:
            on_error(unreadable(str(error), stream=stream, document=file, raw=body))
        else:
            arrived = modified if arrival is None else arrival
            on_dates(len(feed.items), sum(one.date(arrived) is None for one in feed.items))
            envelopes += (item.envelope(stream, arrived) for item in feed.items)
    envelopes.sort(key=_timestamp)
    yield from envelopes


def listed_feeds(name: str) -> ListedFeeds:
    """The feeds of a source: a feed file, all files in a folder and below, by path, or the entries
    of an OPML file (whose paths start from its own folder).

    Each file is named as the source was given.  Query files (`.xscl`) in a folder are passed over.
    Raises FileNotFoundError where there is no such source, and XSCLError for an OPML file that
    cannot be read.
    """
    if os.path.isdir(name):
        os.scandir(name).close()  # of a folder without permission nothing can be read
        return ListedFeeds([Outline(path) for path in _below(name)])
    if not os.path.exists(name):
        raise FileNotFoundError(
            f"feed source {name!r}: no such file or folder; give a feed file or a folder of them"
        )
    # A pipe gives its bytes once; a file that cannot be read is reported by its reader.
    if not os.path.isfile(name) or not _is_list(name):
        return ListedFeeds([Outline(name)])
    try:
        listed = read_opml(read_whole(name))
    except OSError as error:
        raise XSCLError(f"feed source {name!r}: it cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise XSCLError(f"feed source {name!r}: it {error}; give an OPML file") from error
    folder = os.path.dirname(name)
    files, addresses = [], []
    for feed in listed:
        if _WEB.match(feed.address):
            addresses.append(feed)
        else:
            files.append(replace(feed, address=os.path.join(folder, feed.address)))
    return ListedFeeds(files, addresses)


def _below(folder: str) -> Iterator[str]:
    """The files in a folder and below, by path; links to folders are not followed."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=attrgetter("name"))
    except PermissionError:
        yield folder  # its reader reports it
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        elif os.path.splitext(entry.name)[1] != ".xscl" and entry.is_file():
            yield entry.path


def _is_list(name: str) -> bool:
    try:
        return name.lower().endswith((".opml", ".opml.gz")) or is_opml(read_body(name, _HEAD))
    except OSError:
        return False


def _files(name: str, stream: str, on_error: Callable[[DocumentError], None]) -> list[Outline]:
    """The feed files of a source; the addresses that it lists are reported."""
    if _WEB.match(name):
        raise XSCLError(
            f"feed source {name!r}: this reads feeds from files; `xscl watch` polls addresses, "
            "or download it and give the file's name"
        )
    listed = listed_feeds(name)
    if listed.addresses and not listed.files:
        raise XSCLError(
            f"feed source {name!r}: this OPML file lists addresses only, such as "
            f"{listed.addresses[0].address!r}; `xscl watch` polls them"
        )
    for feed in listed.addresses:
        problem = "is an address, not a file: `xscl watch` polls those"
        on_error(DocumentError(problem, stream=stream, document=feed.address))
    return list(listed.files)


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
