"""JSON Feed 1.0 and 1.1 (jsonfeed.org) become entries.

Members of other types than the format says are passed over one by one; numbers stand for
themselves as identities, as version 1.1 asks of readers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xscl.feeds.entries import Channel, Entry
from xscl.feeds.html_text import FORBIDDEN, marked_up, plain

__all__ = ["JsonFeed", "NotJsonFeed"]


_SIGNS = {"version", "home_page_url", "feed_url"}


class NotJsonFeed(ValueError):
    """JSON that is no feed, or no JSON at all."""


class JsonFeed:
    """A JSON Feed, read; `base` is the web address that it came from, if any."""

    def __init__(self, body: bytes, base: str) -> None:
        try:
            feed = json.loads(body.decode("utf-8-sig"))
        except RecursionError as error:
            raise NotJsonFeed("is JSON that is nested too deep") from error
        except ValueError as error:
            raise NotJsonFeed(f"is no JSON that can be read ({error})") from error
        # Many write `"version": "1.0"` where the format has an address.
        if not isinstance(feed, dict) or not (
            isinstance(feed.get("items"), list) and feed.keys() & _SIGNS
        ):
            raise NotJsonFeed("is JSON, but no JSON Feed: it has no version or no items")
        self._items = feed["items"]
        self.whole = not feed.get("next_url") and all(isinstance(one, dict) for one in self._items)
        self.channel = Channel(
            base=base,
            title=_string(feed, "title"),
            site=(_string(feed, "home_page_url"), ""),
            authors=_authors(feed),
        )

    def entries(self) -> Iterator[Entry]:
        """The items, in the feed's order."""
        for item in self._items:
            if isinstance(item, dict):
                yield _entry(item)


def _entry(item: dict[str, Any]) -> Entry:
    entry = Entry(authors=_authors(item))
    entry.take_id(_string(item, "id"), "", permalink=True)
    entry.take_link(0, _string(item, "url"), "")
    entry.take_text("title", 0, plain(_string(item, "title")), "")
    entry.take_text("summary", 0, plain(_string(item, "summary")), "")
    entry.take_text("content", 0, marked_up(_string(item, "content_html")), "")
    entry.take_text("content", 1, plain(_string(item, "content_text")), "")
    entry.take_date("published", 0, _string(item, "date_published"))
    entry.take_date("updated", 0, _string(item, "date_modified"))
    entry.categories = [tag for tag in _list(item, "tags") if isinstance(tag, str)]
    entry.also_linked = [_string(item, "external_url")]
    for attachment in _list(item, "attachments"):
        if isinstance(attachment, dict):
            found = _string(attachment, "url"), "", _string(attachment, "mime_type")
            entry.enclosures.append(found)
    return entry


def _authors(holder: dict[str, Any]) -> list[str]:
    """The names of authors: a list since version 1.1, one before."""
    authors = _list(holder, "authors") or [holder.get("author")]
    return [_string(author, "name") for author in authors if isinstance(author, dict)]


def _list(holder: dict[str, Any], name: str) -> list[Any]:
    value = holder.get(name)
    return value if isinstance(value, list) else []


def _string(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    if isinstance(value, str):
        return FORBIDDEN.sub("", value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number and name == "id" else ""
