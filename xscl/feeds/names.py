"""The names of feeds' elements, whatever namespace and case a feed writes them in.

RSS and Atom borrow from each other and from the same modules, under a dozen addresses: what
remains of `{http://www.w3.org/2005/Atom}updated` is `updated`, of Dublin Core's creator
`dc:creator`.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["first_name", "local_name", "name_of"]

_CORE = """
    http://backend.userland.com/rss http://blogs.law.harvard.edu/tech/rss http://purl.org/rss/1.0/
    http://my.netscape.com/rdf/simple/0.9/ http://channel.netscape.com/rdf/simple/0.9/
    http://purl.org/net/rss1.1# http://purl.org/rss/1.0/modules/rss091# http://example.com/necho
    http://example.com/newformat# http://purl.org/echo/ uri/of/echo/namespace# http://purl.org/pie/
    http://purl.org/atom/ns# http://www.w3.org/2005/atom https://www.w3.org/2005/atom
"""
_MODULES = {
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://purl.org/dc/terms/": "dcterms:",
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://example.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://search.yahoo.com/mrss": "media:",
    "http://www.w3.org/1999/xhtml": "xhtml:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
}
_PREFIXES = {
    **dict.fromkeys((address.rstrip("/") for address in _CORE.split()), ""),
    **{address.rstrip("/"): prefix for address, prefix in _MODULES.items()},
}

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_FIRST_TAG = re.compile(rb"<([A-Za-z][A-Za-z0-9:]*)")
_HEAD = 4096


@lru_cache(maxsize=1 << 12)
def name_of(tag: str) -> str:
    """The name of an element by its tag in Clark notation; a foreign one keeps its namespace.

    >>> name_of("{http://search.yahoo.com/mrss/}Group"), name_of("pubDate"), name_of("dc:date")
    ('media:group', 'pubdate', 'dc:date')
    """
    namespace, brace, local = tag.rpartition("}")
    if not brace:
        return tag.lower()
    address = namespace[1:].strip().lower().rstrip("/")
    if address.startswith("http://backend.userland.com/rss"):
        return local.lower()
    # An address of a namespace is a name, which some write like that of a page.
    prefix = _PREFIXES.get(address, _PREFIXES.get(address.replace("https:", "http:", 1)))
    return f"{tag.lower()}" if prefix is None else prefix + local.lower()


def local_name(tag: str) -> str:
    """An element's name without its namespace, in lower case."""
    return tag.rpartition("}")[2].lower()


def first_name(body: bytes) -> str:
    """The name, in lower case, of the first element of a document that need not be well-formed;
    "" if none begins within its first few thousand bytes."""
    found = _FIRST_TAG.search(_COMMENT.sub(b"", body[:_HEAD]))
    return "" if found is None else found[1].decode("ascii").lower()
