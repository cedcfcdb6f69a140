"""Bytes or text of an XML document, parsed; its nodes' numbers and exact string values.

Nodes are numbered as in the thesis (figure 6.1): elements in document order from 0; an
attribute bears its element's number.  A *node code* tells attributes apart as well: the
element's number plus, for an attribute, `ATTRIBUTE` times the number of its interned name.
"""

from __future__ import annotations

from typing import cast

from lxml import etree

__all__ = ["ATTRIBUTE", "MalformedDocument", "parse", "string_value"]

ATTRIBUTE = 1 << 32
"""The weight of an attribute name's number in a node code."""

_string = etree.XPath("string()", smart_strings=False)

# Entities that the document itself defines are replaced, within libxml2's bound on their
# growth; nothing is ever read from elsewhere.
_OPTIONS = {"resolve_entities": "internal", "no_network": True, "huge_tree": False}


def string_value(element: etree._Element) -> str:
    """The XPath string value of an element: all text below it, without comments and the like."""
    return cast(str, _string(element)) if len(element) else element.text or ""


class MalformedDocument(ValueError):
    """A document that is no well-formed XML; the message says why and where."""


def parse(document: str | bytes) -> etree._Element:
    """The root element of a document.

    Text is Unicode already, so an encoding declaration in it is ignored; bytes are decoded as
    they declare.

    >>> parse("<a>x</a>").tag
    'a'
    """
    encoding = None
    if isinstance(document, str):
        encoding = "utf-8"
        try:
            document = document.removeprefix("\ufeff").encode()
        except UnicodeEncodeError as error:
            raise MalformedDocument(f"character {error.start} is a lone surrogate") from error
    # One parser a document: libxml2 keeps the names of all documents of a parser for good.
    parser = etree.XMLParser(encoding=encoding, **_OPTIONS)  # type: ignore[arg-type]
    try:
        return etree.fromstring(document, parser)
    except etree.XMLSyntaxError as error:
        raise MalformedDocument(_reason(document, error)) from error


def _reason(document: bytes, error: etree.XMLSyntaxError) -> str:
    if not document.strip():
        return "it is empty; expected an XML element"
    line, column = error.position
    reason = (error.msg or "it is no well-formed XML").partition(", line ")[0]
    if "Excessive depth" in reason:
        reason = "it is deeper than 256 elements"
    elif "Text node too long" in reason:
        reason = "it has a text of more than 10,000,000 bytes"
    return f"line {line}, column {column}: {reason}"
