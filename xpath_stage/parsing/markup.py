"""The text of an XML document, cut into its markup and its texts, without a parser.

A document's structure, and whether it is well-formed, is a function of its markup.  So what a
parser has found for one document holds for all that have the same tags in the same order, with
other plain text, and other values of attributes, between them.  A text is cut at its `<` and `>`.
Exceptions (comments, CDATA, a `>` in a text, entities but the five, characters that XML lacks) are
recognised, as they are neither plain text nor a tag; such a document is left to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from lxml import etree

__all__ = [
    "LONGEST",
    "attribute_values",
    "cut_text",
    "places_of_attributes",
    "texts_of_tags",
    "written_as_it_is",
]

LONGEST = 100_000
"""Longer documents are parsed: there the gain is small."""

_PLAIN = bytes({*range(0x20, 0x100), *b"\t\n"}.difference(b"<>&"))
"""The bytes of UTF-8 that are plain text in XML."""

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
"""In the order in which they may be replaced one after another."""

_FOREIGN = re.compile("&(?!(?:lt|gt|quot|apos|amp);)")

_VALUE = re.compile('(xmlns(?::[^\\s=":]*)?="[^"]*")|="([^"\0]*)"')
"""An attribute's value; a namespace's name is part of the markup."""

_TAG = re.compile(
    r"/?[^\s\"'=/!?]+(?:\s+(?:xmlns(?::[^\s\"'=/]+)?=\"[^\"']*\"|(?!xml)[^\s\"'=/]+)=\"\")*\s*/?"
)
"""A tag, without its brackets and values, that is certain to have its values where they seem to be.
Names with `xml` may have a meaning for the parser."""


def cut_text(document: str | bytes) -> tuple[str, list[str]] | None:
    """The markup of a document, to be compared with other markups, and the parts of the document:
    from the second on every other one is a tag, the others are texts; the last is empty.

    None for a document that must be parsed.  A text that is no document may be cut all the same.

    >>> cut_text('<a k="1">x &amp; y</a>')
    ('a k=""\\x00/a', ['', 'a k="1"', 'x & y', '/a', ''])
    """
    if len(document) > LONGEST:
        return None
    try:
        if isinstance(document, str):
            encoded = document.encode()
        elif document.startswith(b"<?"):
            # It may declare another encoding than UTF-8.
            return None
        else:
            encoded, document = document, document.decode()
    except ValueError:
        return None
    parts = document.replace(">", "<").split("<")
    special = encoded.translate(None, _PLAIN)
    brackets = b"<>" * (len(parts) // 2)
    if special != brackets:
        if special.replace(b"&", b"") != brackets or _FOREIGN.search(document):
            return None
        parts[::2] = [_without_entities(one) if "&" in one else one for one in parts[::2]]
    tags = parts[1::2]
    declaration = ""
    if document.startswith("<?"):
        declaration = tags.pop(0) + "\0"
        parts[-1] += parts[2]
    if parts[0] or parts[-1].strip(" \t\n") or "\ufffe" in document or "\uffff" in document:
        return None
    parts[-1] = ""
    markup = "\0".join(tags)
    if "=" in markup:
        markup = _VALUE.sub(r'\1=""', markup)
    return declaration + markup, parts


_BARE_TAG = re.compile(r"(?!\?)[^\s\"'=/!?:]+/?|/[^\s\"'=/!?:]+")
"""A tag without attributes and prefix, and without white space."""


def written_as_it_is(document: str) -> str | None:
    """A well-formed document as the parser would write its root element, where that certainly is
    its own text; else None.

    >>> written_as_it_is("<a>x<b/> y</a>\\n"), written_as_it_is("<a></a>")
    ('<a>x<b/> y</a>', None)
    """
    if "&" in document:
        return None
    cut = cut_text(document)
    if cut is None:
        return None
    markup, parts = cut
    filled = _to_be_filled(markup)
    if filled is None or not all(parts[place] for place in filled):
        return None
    return document.rstrip(" \t\n")


@lru_cache(maxsize=10_000)
def _to_be_filled(markup: str) -> tuple[int, ...] | None:
    """The parts of a document with some markup that must not be empty if it is to be written as it
    is, since an element without content has one tag there; None where it never is."""
    tags = markup.split("\0")
    if not all(map(_BARE_TAG.fullmatch, {*tags})):
        return None
    return tuple(
        2 * number
        for number in range(1, len(tags))
        if tags[number][0] == "/" and tags[number - 1][0] != "/" and tags[number - 1][-1] != "/"
    )


def texts_of_tags(markup: str, parts: Sequence[str]) -> list[slice] | None:
    """For each element of a document, in document order: which of the document's parts are its
    texts.

    None unless all documents with this markup have the structure of this one, which a parser has
    read.
    """
    tags = markup.split("\0")
    if not all(map(_TAG.fullmatch, {*tags[tags[0].startswith("?") :]})):
        return None
    texts: list[slice] = []
    opened: list[int] = []
    for place in range(1, len(parts), 2):
        tag = parts[place]
        if tag.startswith("?"):
            continue
        if tag.startswith("/"):
            number = opened.pop()
            texts[number] = slice(texts[number].start, place, 2)
        elif tag.endswith("/"):
            texts.append(slice(len(parts) - 1, len(parts)))
        else:
            opened.append(len(texts))
            texts.append(slice(place + 1, None))
    return texts


def attribute_values(parts: Sequence[str]) -> list[str]:
    """The values of all attributes, in order; those of namespaces are empty."""
    tags = "\0".join(parts[1::2]).replace("\n", " ").replace("\t", " ")
    return [_without_entities(value) for _, value in _VALUE.findall(tags)]


def places_of_attributes(
    root: etree._Element, parts: Sequence[str]
) -> dict[tuple[int, str], slice]:
    """Where the values of attributes are, if `attribute_values` follow the parts of the document
    with this root: by the number of the element in document order and the attribute's name."""
    places: dict[tuple[int, str], slice] = {}
    elements = enumerate(root.iter("*"))
    number = len(parts)
    for tag in parts[1::2]:
        values = list(enumerate(_VALUE.findall(tag), number))
        number += len(values)
        if not tag.startswith(("/", "?")):
            node, element = next(elements)
            own = [place for place, (namespace, _) in values if not namespace]
            for name, place in zip(element.keys(), own, strict=True):
                places[node, str(name)] = slice(place, place + 1)
    return places


def _without_entities(text: str) -> str:
    for reference, character in _ENTITIES.items():
        text = text.replace(reference, character)
    return text
