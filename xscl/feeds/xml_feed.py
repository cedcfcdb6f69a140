"""RSS 0.9x, 1.0 and 2.0 and Atom 0.3 and 1.0 become entries, by one table of elements.

The formats share most of their names and borrow the rest from each other and from the same
modules (Dublin Core, content, Media RSS, iTunes), so each element is looked up by its name alone
and a table says which field it fills, with which rank.  What differs by format is what a text is
that does not say (Atom: plain; RSS: HTML, or to be guessed) and that entries of Atom inherit
their feed's authors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from lxml import etree

from xscl.feeds.constructs import Bases, person, string, text_of
from xscl.feeds.entries import Channel, Entry
from xscl.feeds.names import local_name, name_of

__all__ = ["ROOTS", "XmlFeed"]

ROOTS = frozenset({"rss", "rdf", "feed"})
"""The local names, in lower case, of the roots of the feeds read here."""

_HOLDERS = frozenset({"rss", "rdf", "feed", "channel", "items"})
_HTML_TYPES = frozenset({"", "text/html", "html", "application/xhtml+xml", "xhtml"})
_ARCHIVE = "{http://purl.org/syndication/history/1.0}archive"
_PAGES = frozenset({"next", "prev", "previous", "next-archive", "prev-archive"})
"""What links of a feed lead to that is in pages, or in archives (RFC 5005)."""

_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"

Element = etree._Element


class XmlFeed:
    """A tree of RSS or Atom, read; `base` is the web address that it came from, if any."""

    def __init__(self, root: Element, base: str) -> None:
        self._root = root
        self._bases = Bases(root, base)
        # A feed in a namespace that nobody knows means its elements by their names.
        self._own = root.tag[: root.tag.rfind("}") + 1] if "{" in name_of(root.tag) else ""
        self._is_atom = local_name(root.tag) == "feed"
        self.channel = Channel(base=base)
        self.schedule: dict[str, list[str]] = {}
        self.whole = True
        for head in self._heads():
            for element in head:
                relation = element.get("rel") if local_name(element.tag) == "link" else None
                if element.tag == _ARCHIVE or (relation or "").strip().lower() in _PAGES:
                    self.whole = False
                if reader := _CHANNEL.get(self._name(element)):
                    reader(self, element)

    def entries(self) -> Iterator[Entry]:
        """The items, in the feed's order."""
        for element in self._root.iter("{*}item", "{*}entry", "{*}Item"):
            parent = element.getparent()
            if parent is None or local_name(parent.tag) not in _HOLDERS:
                continue
            if self._name(element) in ("item", "entry"):
                yield self._entry(element)

    def _name(self, element: Element) -> str:
        return name_of(element.tag.removeprefix(self._own))

    def _heads(self) -> list[Element]:
        if self._is_atom:
            return [self._root]
        return [child for child in self._root if local_name(child.tag) == "channel"]

    def _entry(self, element: Element) -> Entry:
        entry = Entry()
        about = element.get(_ABOUT)
        if about:
            entry.take_id(about, "", permalink=True)
        self._children(entry, element)
        if not entry.authors and self._is_atom:
            entry.authors = self._source_authors(element)
        return entry

    def _children(self, entry: Entry, element: Element) -> None:
        own = self._own
        for child in element:
            reader = _ITEM.get(name_of(child.tag.removeprefix(own)))
            if reader is not None:
                reader(self, entry, child)

    def _source_authors(self, element: Element) -> list[str]:
        """The authors of the feed that an entry was copied from (RFC 4287, section 4.2.1)."""
        sources = [child for child in element if self._name(child) == "source"]
        return [
            person(child) for source in sources for child in source if self._name(child) == "author"
        ]

    # What the elements of an item fill.

    def text(self, entry: Entry, element: Element, *, field: str, rank: int, kind: str) -> None:
        if entry.wants(field, rank):
            if kind == "guess" and self._is_atom:
                kind = "text"
            text = text_of(element, kind, self._bases)
            entry.take_text(field, rank, text, self._bases.of(element))
        elif (field, rank) == ("summary", 0):  # Of two summaries the second is the longer text.
            self.text(entry, element, field="content", rank=2, kind=kind)

    def date(self, entry: Entry, element: Element, *, field: str, rank: int) -> None:
        entry.take_date(field, rank, string(element))

    def author(self, entry: Entry, element: Element) -> None:
        entry.authors.append(person(element))

    def category(self, entry: Entry, element: Element) -> None:
        text = (element.text or "").strip() or string(element)
        term = element.get("term") or element.get("text") or text or element.get("label")
        entry.categories.append(term or "")
        for child in element:  # iTunes nests its finer categories
            if self._name(child) == "itunes:category":
                self.category(entry, child)

    def keywords(self, entry: Entry, element: Element) -> None:
        entry.categories += string(element).split(",")

    def identifier(self, entry: Entry, element: Element) -> None:
        says = element.get("isPermaLink")
        permalink = says is None or says.strip().lower() in ("", "true")
        entry.take_id(string(element), self._bases.of(element), permalink=permalink)

    def link(self, entry: Entry, element: Element) -> None:
        base, href = self._bases.of(element), element.get("href")
        if href is None and not element.keys():  # as in RSS
            entry.take_link(0, string(element), base, last=not self._is_atom)
            return
        relation = (element.get("rel") or "alternate").strip().lower()
        url = string(element) if href is None else href
        if relation == "enclosure":
            entry.enclosures.append((url, base, element.get("type") or ""))
        elif relation == "alternate":
            is_page = (element.get("type") or "").strip().lower() in _HTML_TYPES
            entry.take_link(0 if is_page else 1, url, base, last=not self._is_atom)

    def enclosure(self, entry: Entry, element: Element) -> None:
        url = element.get("url") or element.get("href") or ""
        entry.enclosures.append((url, self._bases.of(element), element.get("type") or ""))
        if element.tag != "enclosure":
            self.media(entry, element)

    def media(self, entry: Entry, element: Element) -> None:
        """Media RSS says of a group, or of one file, what it could say of the item."""
        for child in element:
            name = name_of(child.tag)
            if name.startswith("media:") and (reader := _ITEM.get(name)):
                reader(self, entry, child)

    # What the elements of the channel fill.

    def channel_title(self, element: Element) -> None:
        if not self.channel.title:
            kind = "text" if self._is_atom else "guess"
            self.channel.title = text_of(element, kind, self._bases).words

    def channel_link(self, element: Element) -> None:
        href = element.get("href")
        is_page = (element.get("type") or "").strip().lower() in _HTML_TYPES
        if (element.get("rel") or "alternate") == "alternate" and is_page:
            url = string(element) if href is None else href
            if url.strip() and not (self._is_atom and self.channel.site[0]):
                self.channel.site = (url, self._bases.of(element))

    def channel_author(self, element: Element) -> None:
        if self._is_atom:
            self.channel.authors.append(person(element))

    def note(self, element: Element, *, field: str) -> None:
        values = [string(child) for child in element] if len(element) else [string(element)]
        self.schedule[field] = [value.strip() for value in values]


def _text(field: str, rank: int, kind: str) -> Callable[[XmlFeed, Entry, Element], None]:
    return partial(XmlFeed.text, field=field, rank=rank, kind=kind)


def _date(field: str, rank: int) -> Callable[[XmlFeed, Entry, Element], None]:
    return partial(XmlFeed.date, field=field, rank=rank)


_ITEM: dict[str, Callable[[XmlFeed, Entry, Element], None]] = {
    "title": _text("title", 0, "guess"),
    "dc:title": _text("title", 1, "guess"),
    "media:title": _text("title", 2, "guess"),
    "description": _text("summary", 0, "html"),
    "summary": _text("summary", 0, "guess"),
    "abstract": _text("summary", 0, "guess"),
    "dc:description": _text("summary", 1, "html"),
    "itunes:summary": _text("summary", 2, "guess"),
    "media:description": _text("summary", 3, "html"),
    "content:encoded": _text("content", 0, "html"),
    "content": _text("content", 0, "guess"),
    "fullitem": _text("content", 1, "html"),
    "body": _text("content", 1, "html"),
    "xhtml:body": _text("content", 1, "html"),
    "pubdate": _date("published", 0),
    "published": _date("published", 0),
    "issued": _date("published", 0),
    "dcterms:issued": _date("published", 1),
    "updated": _date("updated", 0),
    "modified": _date("updated", 0),
    "dcterms:modified": _date("updated", 1),
    "dc:date": _date("updated", 2),
    "lastbuilddate": _date("updated", 3),
    "author": XmlFeed.author,
    "dc:creator": XmlFeed.author,
    "dc:author": XmlFeed.author,
    "itunes:author": XmlFeed.author,
    "category": XmlFeed.category,
    "dc:subject": XmlFeed.category,
    "itunes:category": XmlFeed.category,
    "media:category": XmlFeed.category,
    "keywords": XmlFeed.keywords,
    "tags": XmlFeed.keywords,
    "itunes:keywords": XmlFeed.keywords,
    "media:keywords": XmlFeed.keywords,
    "guid": XmlFeed.identifier,
    "id": XmlFeed.identifier,
    "link": XmlFeed.link,
    "enclosure": XmlFeed.enclosure,
    "media:content": XmlFeed.enclosure,
    "media:group": XmlFeed.media,
}

_CHANNEL: dict[str, Callable[[XmlFeed, Element], None]] = {
    "title": XmlFeed.channel_title,
    "dc:title": XmlFeed.channel_title,
    "link": XmlFeed.channel_link,
    "author": XmlFeed.channel_author,
    "dc:creator": XmlFeed.channel_author,
    "ttl": partial(XmlFeed.note, field="ttl"),
    "skiphours": partial(XmlFeed.note, field="skiphours"),
    "skipdays": partial(XmlFeed.note, field="skipdays"),
}
