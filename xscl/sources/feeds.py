"""Feed files become document envelopes, one for each item.

feedparser reads RSS 0.9x, 1.0, 2.0 and Atom into one model; this module turns that model
into one document shape, so that queries need not know in which format a site publishes:

    <item><feed/><site/><source/><id/><link/><title/><author/>*<category/>*
          <published/><updated/><summary/><content/><linked/>*<enclosure/>*</item>

Elements with nothing to say are absent.  An item's id is its feed and its own identity.
Its time is what the feed says, as far as that can be believed: dates before 1990 are
placeholders, and dates in the future mistakes, or attempts to stay on top of the list.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import feedparser
from lxml import etree

from ..errors import DocumentError, XSCLError

__all__ = ["read_feeds"]

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
DAY = 86_400.0

BREAKDOWNS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What feedparser raises, by its own mistake, for some malformed files: ValueError for a
character reference beyond Unicode, KeyError for a category that ends before it starts."""

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that no XML document may hold."""

BLOCK_NAMES = """
    address article aside blockquote br caption dd details div dl dt figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table td th tr ul
"""
BLOCKS = frozenset(BLOCK_NAMES.split())
"""The HTML elements that part words although no white space stands between them."""

MAILBOXES = (
    re.compile(r"[^\s@]+@[^\s@]+\s+\((?P<name>.+)\)"),
    re.compile(r"(?P<name>.+?)\s+[(<][^\s@]+@[^\s@]+[)>]"),
    re.compile(r"(?P<name>[^\s@]+@[^\s@]+)"),
)
"""The ways to write an author with an address: RSS, mail, and the address alone."""


def read_feeds(
    source: str | Path,
    stream: str,
    *,
    arrival: float | None = None,
    on_error: Callable[[DocumentError], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """The items of a feed file, or of all files in a folder and below, in order of time.

    Query files (`.xscl`) in a folder are passed over; they may lie beside their feeds.

    `arrival` (seconds) is when the items are taken to have arrived: unless given, when
    their file was last modified.  A file that is no feed goes to `on_error` and the others
    are read; without `on_error` it is raised.  Raises FileNotFoundError where there is no
    such source, and XSCLError for a kind of source that cannot be read.
    """
    files = _files(source)
    return _items(files, stream, arrival, on_error or _raise)


def _items(
    files: Iterable[str],
    stream: str,
    arrival: float | None,
    on_error: Callable[[DocumentError], None],
) -> Iterator[dict[str, Any]]:
    envelopes: list[dict[str, Any]] = []
    for file in files:
        try:
            parsed = _parse(file, stream)
            arrived = os.stat(file).st_mtime if arrival is None else arrival
        except DocumentError as error:
            on_error(error)
        else:
            envelopes += (_envelope(file, parsed, item, stream, arrived) for item in parsed.entries)
    envelopes.sort(key=_timestamp)
    yield from envelopes


def _files(source: str | Path) -> list[str]:
    """The feed files of a source, by path, each named as the source was given."""
    name = os.fspath(source)
    if re.match("https?://", name, re.IGNORECASE):
        raise XSCLError(
            f"feed source {name!r}: feeds are read from files; "
            "download it and give the file's name, or a folder of such files"
        )
    if name.lower().endswith(".opml"):
        raise XSCLError(
            f"feed source {name!r}: an OPML file lists feeds but holds none; "
            "give a feed file, or a folder of them"
        )
    if os.path.isdir(name):
        below = sorted(
            path for path in Path(name).rglob("*") if path.is_file() and path.suffix != ".xscl"
        )
        return [os.path.join(name, path.relative_to(name)) for path in below]
    if not os.path.exists(name):
        raise FileNotFoundError(
            f"feed source {name!r}: no such file or folder; give a feed file or a folder of them"
        )
    return [name]


def _parse(file: str, stream: str) -> Any:
    """What feedparser makes of a file."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise DocumentError(reason, stream=stream, document=file) from error
    if not data.strip():
        raise DocumentError("is empty, so no feed", stream=stream, document=file)
    try:
        parsed = feedparser.parse(io.BytesIO(data))
    except BREAKDOWNS as error:
        reason = f"is no feed that can be read ({error!r})"
        raise DocumentError(reason, stream=stream, document=file) from error
    if not parsed.get("version"):  # entries alone may be any text that mentions an <item>
        cause = f" ({parsed.bozo_exception})" if parsed.bozo else ""
        raise DocumentError(f"is no RSS or Atom feed{cause}", stream=stream, document=file)
    return parsed


def _envelope(feed: str, parsed: Any, item: Any, stream: str, arrival: float) -> dict[str, Any]:
    """One item's envelope."""
    document = _document(feed, parsed, item)
    identity = document.findtext("id") or document.findtext("link")
    if identity is None:
        identity = hashlib.sha256(etree.tostring(document)).hexdigest()[:32]
    time = _date(item, "published") or _date(item, "updated") or arrival
    return {
        "stream": stream,
        "id": f"{feed}#{identity}",
        "timestamp": arrival if time > arrival + DAY else time,
        "xml": etree.tostring(document, encoding="unicode"),
    }


def _document(feed: str, parsed: Any, item: Any) -> etree._Element:
    """One item's document."""
    channel = parsed.feed
    site = _absolute(channel.get("link"), "") or ""
    summary, content = _texts(item)
    document = etree.Element("item")
    etree.SubElement(document, "feed").text = FORBIDDEN.sub("", feed)
    _append(document, "site", [site])
    _append(document, "source", [_plain(channel.get("title_detail"))])
    _append(document, "id", [item.get("id") or ""])
    _append(document, "link", [_absolute(item.get("link"), site) or ""])
    _append(document, "title", [_plain(item.get("title_detail"))])
    _append(document, "author", _authors(parsed, item))
    _append(document, "category", [tag.get("term") or "" for tag in item.get("tags", [])])
    _append(document, "published", [_iso(_date(item, "published"))])
    _append(document, "updated", [_iso(_date(item, "updated"))])
    _append(document, "summary", [_plain(summary)])
    _append(document, "content", [_plain(content)])
    _append(document, "linked", [*_linked(content, site), *_linked(summary, site)])
    for enclosure in item.get("enclosures", []):
        url = _absolute(enclosure.get("href"), site)
        if url:
            etree.SubElement(document, "enclosure", _attributes(url, enclosure.get("type")))
    return document


def _attributes(url: str, media_type: str | None) -> dict[str, str]:
    attributes = {"url": _clean(url), "type": _clean(media_type or "")}
    return {name: value for name, value in attributes.items() if value}


def _append(document: etree._Element, name: str, values: Iterable[str]) -> None:
    """An element for each different value that says something."""
    for value in dict.fromkeys(_clean(value) for value in values):
        if value:
            etree.SubElement(document, name).text = value


def _clean(text: str) -> str:
    return " ".join(FORBIDDEN.sub("", text).split())


def _texts(item: Any) -> tuple[Any, Any]:
    """An item's summary and content, each in feedparser's form (type and value), or None.

    feedparser copies a lone content to the summary, without its detail, and takes a
    description that follows the content for a second content.
    """
    contents = item.get("content", [])
    summary = item.get("summary_detail")
    if summary is None and len(contents) > 1:
        summary = contents[1]
    return summary, contents[0] if contents else None


def _plain(text: Any) -> str:
    """The words of a text in feedparser's form."""
    if text is None:
        return ""
    value = text.get("value") or ""
    if text.get("type") == "text/plain":
        return str(value)
    words = []
    for event, element in etree.iterwalk(_html(value), events=("start", "end")):
        if element.tag in BLOCKS:
            words.append(" ")
        words.append((element.text if event == "start" else element.tail) or "")
    return "".join(words)


def _linked(text: Any, site: str) -> list[str]:
    """The addresses of the links in a text, in order; feedparser heeded `xml:base`."""
    if text is None or text.get("type") == "text/plain":
        return []
    anchors = _html(text.get("value") or "").iter("a")
    found = (_absolute(anchor.get("href"), site) for anchor in anchors)
    return [url for url in found if url]


def _html(text: str) -> etree._Element:
    # Within libxml2's limits, deep or long HTML would come out empty and without a word; what it
    # can grow to is bounded by the feed's size, as HTML has no entities of its own.
    parser = etree.HTMLParser(remove_comments=True, remove_pis=True, huge_tree=True)
    return etree.fromstring(f"<div>{FORBIDDEN.sub('', text)}</div>", parser)


def _absolute(url: str | None, base: str) -> str | None:
    """An http(s) address, resolved; None for all else (fragments, mailto, tag URIs)."""
    url = (url or "").strip()
    try:
        if url and not url.startswith("#") and not urlsplit(url).scheme:
            url = urljoin(base, url)
        parts = urlsplit(url)
    except ValueError:  # such as a bracket that opens no IPv6 address
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _authors(parsed: Any, item: Any) -> list[str]:
    """The names of an item's authors; an Atom entry inherits its feed's (RFC 4287, 4.2.1)."""
    authors = _names(item)
    if not authors and parsed.get("version", "").startswith("atom"):
        authors = _names(item.get("source", {})) or _names(parsed.feed)
    return authors


def _names(holder: Any) -> list[str]:
    names = [
        author.get("name") or author.get("email") or "" for author in holder.get("authors", [])
    ]
    # feedparser cuts addresses in top-level domains of more than four letters in two; the
    # text as it was written is kept for the last author only.
    written = (holder.get("author") or "").strip()
    match = next(filter(None, (mailbox.fullmatch(written) for mailbox in MAILBOXES)), None)
    if names and match:
        names[-1] = match["name"]
    return [name for name in names if name]


def _date(item: Any, name: str) -> float | None:
    """A date of an item (seconds), if it has one that is no placeholder."""
    # `in` first: feedparser's dictionaries give `published` for an absent `updated`.
    key = f"{name}_parsed"
    if key not in item or item[key] is None:
        return None
    seconds = float(timegm(item[key]))
    return seconds if seconds >= EARLIEST else None


def _iso(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _timestamp(envelope: dict[str, Any]) -> float:
    time: float = envelope["timestamp"]
    return time


def _raise(error: DocumentError) -> None:
    raise error
