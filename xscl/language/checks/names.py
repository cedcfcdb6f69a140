"""XML names, and the namespaces that prefixes stand for.

The ranges are those of XML 1.0 (fifth edition, productions 2, 4 and 4a) without the colon.
`->` always ends a name, so a hyphen belongs to it only where no `>` follows
(docs/semantics.md#statements-and-names).
"""

from __future__ import annotations

import re

__all__ = [
    "AFTER_STREAM",
    "END_OF_VARIABLE",
    "END_OF_WORD",
    "NAME",
    "PREDECLARED",
    "PRIMED",
    "RESERVED",
    "STRING",
    "VARIABLE",
    "WORD",
    "is_name",
    "unquoted",
]

_NO_INNER = (
    r"\0-\-/:-@\[-\^`{-\xb6\xb8-\xbf\xd7\xf7\u037e\u2000-\u200b\u200e-\u203e\u2041-\u206f"
    r"\u2190-\u2bff\u2ff0-\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
)
_NO_START = _NO_INNER + r".0-9\xb7\u0300-\u036f\u203f\u2040"
"""What is in no name but for the hyphen, and what begins none: Python compiles these in a third of
the time that it takes for the characters that are, since they are fewer."""

NAME = f"[^{_NO_START}](?:[^{_NO_INNER}]|-(?!>))*+"
"""The pattern of a name without a colon.  It never gives a character back."""

PRIMED = rf"{NAME}(?:(?<!\.)'++)?+"
"""The pattern of a name with its primes: a quote behind `.` begins a quoted name."""

WORD = f"[^{_NO_START}](?:[^{_NO_INNER}.]|-(?!>))*+"
"""The pattern of a name in a pattern's conditions, where `.` leads to an attribute."""

VARIABLE = f"[^{_NO_START}][^{_NO_INNER}.]*+"
"""The pattern of a variable of a pattern."""

END_OF_WORD = f"(?!'|[^{_NO_INNER}]|-(?!>))"
"""The end of a keyword: nothing follows that makes a longer name of it, and no prime."""

END_OF_VARIABLE = f"(?!'|[^{_NO_INNER}.])"
"""The end of a keyword where names end before `-` and `.`."""

AFTER_STREAM = (
    rf"[ \t\r\n]*+(?:[/)]|\Z|(?ai:FOLLOWED[ \t\r\n]++BY|JOIN)[ \t\r\n]*+\{{"
    rf"|(?ai:PUBLISH)[ \t\r\n]++{NAME}[ \t\r\n]*+(?:\)|\Z))"
)
"""The text after the name of a stream: before it, SELECT and DECLARE are names."""

STRING = """(?:'(?:[^']|'')*+'|"(?:[^"]|"")*+")"""
"""The pattern of a string: a doubled quote stands for one."""

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
