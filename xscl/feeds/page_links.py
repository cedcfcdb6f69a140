"""A web page becomes the feeds that it names, by `<link rel="alternate">` with the type of a feed
(HTML standard, section 4.6.7.1).

libxml2's HTML reader reports the tags one by one and no tree is built: of the page only the
beginning is read, of its feeds so many are taken, and nothing is fetched.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from lxml import etree

from xscl.feeds.html_text import clean
from xscl.feeds.names import first_name

__all__ = ["LinkedFeed", "is_page", "linked_feeds"]

_TYPES = frozenset(
    f"application/{kind}" for kind in ("rss+xml", "atom+xml", "rdf+xml", "feed+json", "x-atom+xml")
)
_READ = 1 << 20
_PIECE = 1 << 16
_MOST = 50
_LONGEST = 2048


@dataclass(frozen=True, slots=True)
class LinkedFeed:
    """A feed that a page names: its address, absolute, and the title that the page has for it."""

    address: str
    title: str = ""

    def __str__(self) -> str:
        return f"{self.address} ({self.title})" if self.title else self.address


def is_page(body: bytes, content_type: str | None) -> bool:
    """Whether a body is HTML, by its first element or by the header of its type."""
    return first_name(body) == "html" or "html" in (content_type or "").lower()


def linked_feeds(body: bytes, base: str) -> list[LinkedFeed]:
    """The feeds that a page at an address names, each once, in their order.

    >>> linked_feeds(b'<link rel=alternate type=application/rss+xml href=f>', "http://a.example/b/")
    [LinkedFeed(address='http://a.example/b/f', title='')]
    """
    links = _Links(base)
    reader = etree.HTMLParser(target=links, no_network=True)  # type: ignore[arg-type]
    with suppress(etree.LxmlError, ValueError):
        for start in range(0, min(len(body), _READ), _PIECE):
            reader.feed(body[start : min(start + _PIECE, _READ)])
        reader.close()
    return list(links.found.values())


class _Links:
    """Takes what libxml2 reports."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._based = False
        self.found: dict[str, LinkedFeed] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        href = attributes.get("href", "").strip()
        if tag == "base" and href and not self._based:
            self._based = True
            self._base = _joined(self._base, href) or self._base
        elif tag == "link" and href and len(self.found) < _MOST:
            relations = attributes.get("rel", "").lower().split()
            kind = attributes.get("type", "").partition(";")[0].strip().lower()
            address = _joined(self._base, href)
            if "alternate" in relations and kind in _TYPES and address:
                title = clean(attributes.get("title", ""))[:100]
                self.found.setdefault(address, LinkedFeed(address, title))

    def close(self) -> None:
        """All has been reported."""


def _joined(base: str, href: str) -> str:
    """An absolute address of the web; "" for any other."""
    try:
        address = urljoin(base, href).partition("#")[0]
        parts = urlsplit(address)
    except ValueError:
        return ""
    good = parts.scheme in ("http", "https") and parts.hostname and len(address) <= _LONGEST
    return address if good and address.isprintable() else ""
