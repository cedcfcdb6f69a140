"""XML names, and the namespaces that prefixes stand for.

The ranges are those of XML 1.0 (fifth edition, productions 2, 4 and 4a) without the colon.
`->` always ends a name, so a hyphen belongs to it only where no `>` follows (language.md,
section 1).
"""

from __future__ import annotations

import re

__all__ = [
    "AFTER_STREAM",
    "END_OF_WORD",
    "NAME",
    "NO_XML",
    "PREDECLARED",
    "RESERVED",
    "STRING",
    "is_name",
    "unquoted",
]

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = _START + ".0-9\u00b7\u0300-\u036f\u203f\u2040"

NAME = f"[{_START}](?:[{_INNER}]|-(?!>))*+"
"""The pattern of a name without a colon.  It never gives a character back."""

END_OF_WORD = f"(?![{_INNER}']|-(?!>))"
"""The end of a keyword: nothing follows that makes a longer name of it, and no prime."""

AFTER_STREAM = (
    rf"[ \t\r\n]*+(?:[/)]|\Z|(?ai:FOLLOWED[ \t\r\n]++BY|JOIN)[ \t\r\n]*+\{{"
    rf"|(?ai:PUBLISH)[ \t\r\n]++{NAME}[ \t\r\n]*+(?:\)|\Z))"
)
"""The text after the name of a stream: before it, SELECT and DECLARE are names."""

STRING = """(?:'(?:[^']|'')*+'|"(?:[^"]|"")*+")"""
"""The pattern of a string: a doubled quote stands for one."""

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that no XML document can hold, so no query either."""

PREDECLARED = {
    "xml": "http://www.w3.org/XML/1998/namespace",
    "atom": "http://www.w3.org/2005/Atom",
    "rss": "http://purl.org/rss/1.0/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "wfw": "http://wellformedweb.org/CommentAPI/",
    "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "georss": "http://www.georss.org/georss",
    "xhtml": "http://www.w3.org/1999/xhtml",
}

RESERVED = {"xml": PREDECLARED["xml"], "xmlns": "http://www.w3.org/2000/xmlns/"}
"""Prefixes that XML itself binds, for good."""

_NAME = re.compile(NAME)


def is_name(text: str) -> bool:
    """Whether a text is an XML name without a colon.

    >>> is_name("dc-creator"), is_name("dc creator")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None


def unquoted(string: str) -> str:
    """The value of a string as written in a query.

    >>> unquoted("'it''s'")
    "it's"
    """
    quote = string[0]
    return string[1:-1].replace(quote * 2, quote)
