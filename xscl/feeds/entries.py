"""What a reader finds in one item, and how it becomes the item: the step that all formats share.

The readers of RSS and Atom, of JSON Feed and of what is neither well-formed nor valid fill
entries; whatever is decided here (which link, which date, what counts as the same) holds for all.
Of several elements that could fill one field the one of the lowest rank counts, of the same rank
the first (of dates and of links of RSS the last, as readers do).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from xscl.feeds.dates import seconds_of
from xscl.feeds.html_text import Text, clean, guessed
from xscl.feeds.items import Enclosure, Feed, Item
from xscl.feeds.links import absolute
from xscl.xpath_stage.texts.urls import Rules, canonical

__all__ = ["Based", "Channel", "Entry", "channel_feed", "entry_item"]

_NOTHING = 99


class Based(NamedTuple):
    """A text, and the address (possibly none) that the addresses in it start from."""

    text: Text
    base: str


@dataclass(slots=True)
class Entry:
    """An item while it is read."""

    id: str = ""
    id_base: str = ""
    links: dict[int, tuple[str, str]] = field(default_factory=dict)
    texts: dict[str, Based] = field(default_factory=dict)
    dates: dict[str, float] = field(default_factory=dict)
    authors: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    enclosures: list[tuple[str, str, str]] = field(default_factory=list)
    also_linked: list[str] = field(default_factory=list)
    permalink: bool = False
    wordless: dict[str, Based] = field(default_factory=dict)
    """Texts of links alone, as of pictures, of fields that may have no other."""
    _ranks: dict[str, int] = field(default_factory=dict)

    def wants(self, name: str, rank: int) -> bool:
        """Whether a field has nothing as good as something of this rank."""
        return rank < self._ranks.get(name, _NOTHING)

    def take_text(self, name: str, rank: int, text: Text, base: str) -> None:
        """A title, summary or content, unless it is empty."""
        if not self.wants(name, rank):
            return
        if text.words and not text.words.isspace():
            self._ranks[name] = rank
            self.texts[name] = Based(text, base)
        elif text.links:
            self.wordless.setdefault(name, Based(text, base))

    def take_date(self, name: str, rank: int, text: str) -> None:
        """A date, unless it is none or a placeholder; of one rank the last counts."""
        if rank <= self._ranks.get(name, _NOTHING):
            seconds = seconds_of(text)
            if seconds is not None:
                self._ranks[name] = rank
                self.dates[name] = seconds

    def take_link(self, rank: int, url: str | None, base: str, *, last: bool = False) -> None:
        """An address of the item's own page; of one rank the first counts, or the last."""
        if url and url.strip() and (last or rank not in self.links):
            self.links[rank] = (url, base)

    def take_id(self, text: str, base: str, *, permalink: bool) -> None:
        """The item's guid, which may be its address as well."""
        if text.strip():
            self.id, self.id_base, self.permalink = text, base, permalink


@dataclass(slots=True)
class Channel:
    """What a reader finds of the feed itself; `base` is the address that it was read from, if it
    is one of the web."""

    base: str = ""
    title: str = ""
    site: tuple[str, str] = ("", "")
    authors: list[str] = field(default_factory=list)


def channel_feed(channel: Channel, address: str, folders: Iterable[str]) -> Feed:
    """The feed that a channel's items name."""
    url, base = channel.site
    return Feed(
        address=address,
        site=clean(absolute(url, base or channel.base) or ""),
        title=clean(channel.title),
        folders=tuple(_different(folders)),
    )


def entry_item(entry: Entry, channel: Channel, feed: Feed, rules: Rules) -> Item:
    """The item of an entry.

    A relative address starts from `xml:base`, else from where the feed was read, else (of a file)
    from the site.
    """
    start = channel.base or feed.site
    link = _link(entry, start)
    linked, raw = _linked(entry, start, rules)
    canonical_link = canonical(link, rules)
    return Item(
        feed=feed,
        id=clean(_identifier(entry, channel)),
        link=canonical_link,
        raw_links=tuple(dict.fromkeys([link, *raw] if link != canonical_link else raw)),
        title=_words(entry, "title"),
        authors=tuple(_different(entry.authors) or _different(channel.authors)),
        categories=tuple(_different(guessed(category).words for category in entry.categories)),
        published=entry.dates.get("published"),
        updated=entry.dates.get("updated"),
        summary=_words(entry, "summary"),
        content=_words(entry, "content"),
        linked=tuple(linked),
        enclosures=_enclosures(entry, start),
    )


def _identifier(entry: Entry, channel: Channel) -> str:
    # Without `xml:base` only what looks like a path is meant to start from somewhere: `42` is a
    # guid.
    if entry.permalink and (entry.id_base or entry.id.lstrip().startswith(("/", "./", "../"))):
        return absolute(entry.id, entry.id_base or channel.base) or entry.id
    return entry.id


def _link(entry: Entry, start: str) -> str:
    for rank in sorted(entry.links):
        url, base = entry.links[rank]
        found = absolute(url, base or start)
        if found:
            return clean(found)
    return clean(absolute(entry.id, "") or "") if entry.permalink else ""


def _words(entry: Entry, name: str) -> str:
    based = entry.texts.get(name)
    return "" if based is None else clean(based.text.words)


def _linked(entry: Entry, start: str, rules: Rules) -> tuple[list[str], list[str]]:
    """The addresses that the texts link to, canonical, and those given that differ."""
    linked: dict[str, None] = {}
    raw = []
    there = entry.wordless | entry.texts
    texts = [there[name] for name in ("content", "summary") if name in there]
    found = [(text.links, base) for text, base in texts if text.links]
    if entry.also_linked:
        found.append((tuple(entry.also_linked), ""))
    for links, base in found:
        for link in links:
            url = absolute(link, base or start)
            if url is not None:
                url = clean(url)
                form = canonical(url, rules)
                linked[form] = None
                if form != url:
                    raw.append(url)
    return list(linked), raw


def _enclosures(entry: Entry, start: str) -> tuple[Enclosure, ...]:
    found: dict[str, Enclosure] = {}
    for url, base, kind in entry.enclosures:
        address = absolute(url, base or start)
        if address:
            address = clean(address)
            found.setdefault(address, Enclosure(address, clean(kind)))
    return tuple(found.values())


def _different(values: Iterable[str]) -> list[str]:
    """Each value that says something, once, on one line."""
    return list(dict.fromkeys(filter(None, map(clean, values)))) if values else []
