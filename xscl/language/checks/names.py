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
    "SYMBOLS",
    "VARIABLE",
    "WORD",
    "NamePattern",
    "is_name",
    "is_plain",
    "plain_form",
    "unquoted",
]

_NO_INNER = (
    r"\0-\-/:-@\[-\^`{-\xb6\xb8-\xbf\xd7\xf7\u037e\u2000-\u200b\u200e-\u203e\u2041-\u206f"
    r"\u2190-\u2bff\u2ff0-\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
)
_NO_START = _NO_INNER + r".0-9\xb7\u0300-\u036f\u203f\u2040"
"""What is in no name but for the hyphen, and what begins none: Python compiles these in a third of
the time that it takes for the characters that are, since they are fewer."""

SYMBOLS = range(0xE1000, 0xE2000)
"""Characters that begin names, of a plane that nobody writes in: alike.py writes names in them."""

_PLAIN_INNER = r"\0-\-/:-@\[-\^`{-\x7f"
_PLAIN_START = _PLAIN_INNER + ".0-9"
_NOT_PLAIN = re.compile(f"[^\\0-\\x7f{chr(SYMBOLS[0])}-{chr(SYMBOLS[-1])}]")

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


def is_plain(text: str) -> bool:
    """Whether a text is of ASCII and of `SYMBOLS` alone, so that `plain_form` is exact for it."""
    return text.isascii() or _NOT_PLAIN.search(text) is None


def plain_form(pattern: str) -> str:
    """A pattern made of those here, for texts that are plain: every character beyond ASCII begins
    names.  It is compiled in a tenth of the time, as Python makes a map of 65,536 characters for
    each set of some that are not of Latin 1.

    >>> re.fullmatch(plain_form(NAME), "dc-creator") is not None
    True
    """
    return pattern.replace(_NO_START, _PLAIN_START).replace(_NO_INNER, _PLAIN_INNER)


class NamePattern:
    """A pattern made of those here, compiled when a text first asks for it: in its plain form for a
    text that is plain, as nearly all are, and whole for any other."""

    __slots__ = ("_flags", "_pattern", "_plain", "_whole")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = pattern
        self._flags = flags
        self._plain: re.Pattern[str] | None = None
        self._whole: re.Pattern[str] | None = None

    def of(self, text: str) -> re.Pattern[str]:
        """The pattern, compiled for a text and all parts of it, which is read to find out whether
        it is plain: what looks often into one text finds that out once."""
        return self.form(is_plain(text))

    def form(self, plain: bool) -> re.Pattern[str]:
        """The pattern, compiled for texts that are plain or not."""
        if plain:
            if self._plain is None:
                self._plain = re.compile(plain_form(self._pattern), self._flags)
            return self._plain
        if self._whole is None:
            self._whole = re.compile(self._pattern, self._flags)
        return self._whole


_NAME = NamePattern(NAME)


def is_name(text: str) -> bool:
    """Whether a text is an XML name without a colon.

    >>> is_name("dc-creator"), is_name("dc creator")
    (True, False)
    """
    return _NAME.of(text).fullmatch(text) is not None


def unquoted(string: str) -> str:
    """The value of a string as written in a query.

    >>> unquoted("'it''s'")
    "it's"
    """
    quote = string[0]
    return string[1:-1].replace(quote * 2, quote)
