"""Bytes or text of an XML document, parsed; its nodes' numbers and exact string values.

A document is data and nothing else: no entities but the five that XML itself has, no file or
address but itself, and bounds on its depth, its texts and its attributes.

Nodes are numbered as in the thesis (figure 6.1): elements in document order from 0; an attribute
has its element's number.  A *node code* distinguishes attributes as well: the element's number
plus, for an attribute, `ATTRIBUTE` times the number of its interned name.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import cast

from lxml import etree

__all__ = [
    "ATTRIBUTE",
    "OPTIONS",
    "MalformedDocument",
    "excess_of_tag",
    "explained",
    "parse",
    "string_value",
]

ATTRIBUTE = 1 << 32
"""The weight of an attribute name's number in a node code."""

_string = etree.XPath("string()", smart_strings=False)

OPTIONS = {"resolve_entities": False, "no_network": True, "huge_tree": False}
"""Entities are left as references, and refused; nothing is read from elsewhere, and libxml2's own
bounds apply (256 levels, texts of 10,000,000 bytes)."""

_PARSED = 1_000_000
"""Roughly the number of bytes that one parser reads."""

_MOST_ATTRIBUTES = 10_000
_LONGEST_ATTRIBUTE = 1_000_000
_SHORTEST_ATTRIBUTES = _MOST_ATTRIBUTES * len(' k=""')

_MANY_ATTRIBUTES = f"it has an element of more than {_MOST_ATTRIBUTES:,} attributes"
_LONG_ATTRIBUTE = f"it has an attribute of more than {_LONGEST_ATTRIBUTE:,} characters"

_many_attributes = etree.XPath(f"boolean(/descendant::*[@*[{_MOST_ATTRIBUTES + 1}]])")
_long_attribute = etree.XPath(f"boolean(//@*[string-length() > {_LONGEST_ATTRIBUTE}])")

_EXCLAMATION = ord("!")
_begins_with_a_tag = re.compile(rb"<[A-Za-z]").match
"""A document that begins so neither declares nor marks another encoding than UTF-8."""

_FOREIGN = re.compile(r"&(?!#|(?:amp|lt|gt|quot|apos);)([^;]*);")


class _Parsers(threading.local):
    """Parsers, replaced after some bytes: libxml2 keeps the names of all documents of a parser
    as long as the parser.  Each thread has its own, whose errors are those of its own last
    document."""

    left = -1

    def renew(self) -> None:
        self.left = _PARSED
        self.of_text = etree.XMLParser(encoding="utf-8", **OPTIONS)  # type: ignore[arg-type]
        self.as_declared = etree.XMLParser(**OPTIONS)  # type: ignore[arg-type]


_parsers = _Parsers()


def string_value(element: etree._Element) -> str:
    """The XPath string value of an element: all text below it, without comments and the like."""
    return cast(str, _string(element)) if len(element) else element.text or ""


class MalformedDocument(ValueError):
    """A document that cannot be read; the message says why and where.

    `position` is the place as numbers by name (`line` and `column` from 1, `offset` in bytes from
    0) and `raw` the text there, the document or its beginning; both as far as they are known.
    """

    def __init__(
        self,
        problem: str,
        *,
        raw: str | bytes | None = None,
        position: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(problem)
        self.raw = raw
        self.position = position or {}


def parse(document: str | bytes) -> etree._Element:
    """The root element of a document.

    Text is Unicode already, so an encoding declaration in it is ignored; bytes are decoded as
    they declare.

    >>> parse("<a>x</a>").tag
    'a'
    """
    parsers, raw = _parsers, document
    parsers.left -= len(document)
    if parsers.left < 0:
        parsers.renew()
    if isinstance(document, str):
        parser = parsers.of_text
        try:
            document = document.removeprefix("\ufeff").encode()
        except UnicodeEncodeError as error:
            problem = f"character {error.start} is a lone surrogate"
            raise MalformedDocument(problem, raw=raw) from error
        is_utf8 = True
    else:
        parser = parsers.as_declared
        is_utf8 = _begins_with_a_tag(document) is not None
    try:
        root = etree.fromstring(document, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        problem = _reason(document, error)
        position = {"line": line, "column": column}
        raise MalformedDocument(problem, raw=raw, position=position) from error
    # Without these bytes there is certainly no document type; one is found earlier.
    typed = not is_utf8 or (_EXCLAMATION in document and b"<!D" in document)
    if not typed and len(document) < _SHORTEST_ATTRIBUTES:
        return root
    encoding = "utf-8" if isinstance(raw, str) else None
    problem = _foreign_entity(root, document, parser, encoding) or _excess(root, len(document))
    if problem:
        raise MalformedDocument(problem, raw=raw)
    return root


def _foreign_entity(
    root: etree._Element, document: bytes, parser: etree.XMLParser, encoding: str | None
) -> str:
    """The reason to refuse a document that refers to an entity beyond the five, if it does.

    Only with a document type does the parser let such a reference pass.  A reference to a declared
    entity is still in the serialised tree; an undeclared one was dropped with a warning.
    """
    if root.getroottree().docinfo.internalDTD is None:
        return ""
    undeclared = (etree.ErrorTypes.WAR_UNDECLARED_ENTITY, etree.ErrorTypes.ERR_UNDECLARED_ENTITY)
    for entry in parser.error_log:
        if entry.type in undeclared:
            return (
                f"line {entry.line}, column {entry.column}: {entry.message}; "
                "only the five entities of XML are read"
            )
    bare = etree.XMLParser(
        encoding=encoding,
        remove_comments=True,
        remove_pis=True,
        **OPTIONS,  # type: ignore[arg-type]
    )
    found = _FOREIGN.search(etree.tostring(etree.fromstring(document, bare), encoding="unicode"))
    if found is None:
        return ""
    return f"it uses the entity {found[1]!r}; only the five entities of XML are read"


def _excess(root: etree._Element, size: int) -> str:
    """The reason to refuse a document that has too much in one start tag, if it has."""
    # A document shorter than the smallest excess is not scanned.
    if size > _SHORTEST_ATTRIBUTES and _many_attributes(root):
        return _MANY_ATTRIBUTES
    if size > _LONGEST_ATTRIBUTE and _long_attribute(root):
        return _LONG_ATTRIBUTE
    return ""


def excess_of_tag(element: etree._Element) -> str:
    """The reason to refuse a document whose start tag of this element has too much in it, if it
    has."""
    values = element.attrib.values()
    if len(values) > _MOST_ATTRIBUTES:
        return _MANY_ATTRIBUTES
    if any(len(value) > _LONGEST_ATTRIBUTE for value in values):
        return _LONG_ATTRIBUTE
    return ""


def _reason(document: bytes, error: etree.XMLSyntaxError) -> str:
    if not document.strip():
        return "it is empty; expected an XML element"
    line, column = error.position
    return explained(error.msg, line, column)


def explained(message: str | None, line: int, column: int) -> str:
    """The reason that a document cannot be read, from libxml2's error."""
    reason = (message or "it is no well-formed XML").partition(", line ")[0].strip()
    if "Excessive depth" in reason:
        reason = "it is deeper than 256 elements"
    elif "Text node too long" in reason:
        reason = "it has a text of more than 10,000,000 bytes"
    elif "Buffer size limit" in reason:
        reason = "it has a tag, an attribute or white space of more than 10,000,000 bytes"
    elif "entity amplification" in reason:
        reason = "its entities multiply; only the five entities of XML are read"
    return f"line {line}, column {column}: {reason}"
