"""JSON documents as trees of the same kind as XML ones (docs/semantics.md#json-as-a-tree).

The root element is `json`; an object's members are children named by their keys, an array's members
are siblings under the array's name (`item` where it has none of its own), a scalar is text.  A key
that is no XML name becomes a name in a namespace of its own; node tests are encoded the same way,
so that no other module knows of it.  Keys are texts, as values are: a value with a character that
XML lacks cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from math import isfinite

from lxml import etree

from xscl.xpath_stage.parsing.characters import foreign_character
from xscl.xpath_stage.parsing.documents import MalformedDocument

__all__ = ["DEEPEST", "decode_name", "encode_name", "json_tree", "json_values", "number_text"]

DEEPEST = 256
"""libxml2's own limit on the depth of a document, applied to JSON, too."""

_NO_INNER = (
    "\0-,/:-@\\[-\\^`{-\xb6\xb8-\xbf\xd7\xf7\u037e\u2000-\u200b\u200e-\u203e\u2041-\u206f"
    "\u2190-\u2bff\u2ff0-\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
)
"""Characters that no XML name has: fewer, so compiled faster, than those that names have."""
_NCNAME = re.compile(f"[^{_NO_INNER}\\-.0-9\xb7\u0300-\u036f\u203f\u2040][^{_NO_INNER}]*")
_KEY = "{urn:xscl:json-key}k"


@lru_cache(maxsize=100_000)
def encode_name(key: str) -> str:
    """The tag of a key: the key itself where that is an XML name.  Raises MalformedDocument for a
    key with a character that XML lacks.

    >>> encode_name("title"), encode_name("dc creator")
    ('title', '{urn:xscl:json-key}k64632063726561746f72')
    """
    if _NCNAME.fullmatch(key):
        return key
    # Checked once for each key, since the result is cached: most documents bring no new keys.
    if (alien := foreign_character(key)) is not None:
        raise MalformedDocument(f"it cannot be read as a tree: a key holds {alien}")
    return _KEY + key.encode().hex()


def decode_name(tag: str) -> str | None:
    """The key of an encoded tag, None for any other tag.

    >>> decode_name(encode_name("dc creator")), decode_name("title")
    ('dc creator', None)
    """
    if not tag.startswith(_KEY):
        return None
    return bytes.fromhex(tag.removeprefix(_KEY)).decode()


def json_tree(value: object) -> etree._Element:
    """The root element of a JSON value (as `json.loads` returns it).

    Raises MalformedDocument for what no XML text can contain, and for more than 256 levels.
    """
    root = etree.Element("json")
    try:
        _fill(root, value, DEEPEST - 1)
    except MalformedDocument:
        raise
    except ValueError as error:
        # lxml's error for a character that XML lacks, or Python's for a number that is too long.
        texts = (one for one in json_values(value) if isinstance(one, str))
        alien = next(filter(None, map(foreign_character, texts)), None)
        reason = str(error) if alien is None else f"a value holds {alien}"
        raise MalformedDocument(f"it cannot be read as a tree: {reason}") from error
    return root


def json_values(value: object) -> list[object]:
    """The original values of a JSON document's nodes, by node number."""
    return list(_values(value))


def number_text(number: float) -> str:
    """A number as JavaScript prints it.

    >>> number_text(1.50), number_text(100.0), number_text(1e21), number_text(1e-7)
    ('1.5', '100', '1e+21', '1e-7')
    """
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    shortest = Decimal(repr(float(number)))
    if not number or 1e-6 <= abs(number) < 1e21:
        text = f"{abs(shortest) if not number else shortest:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits, _, exponent = f"{shortest.normalize():e}".partition("e")
    return f"{digits}e{int(exponent):+d}"


def _fill(element: etree._Element, value: object, levels: int) -> None:
    """Writes a value into its element."""
    if isinstance(value, str):
        # An empty text would still be a text node, which XML never has.
        element.text = value or None
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str):
                raise MalformedDocument(f"the key {key!r} of an object is no string")
            _add(element, encode_name(key), member, levels)
    elif isinstance(value, list | tuple):
        for member in value:
            # An array in an array, or as the root, has no name of its own.
            _child(element, "item", member, levels)
    elif value is not None:
        element.text = _scalar(value)


def _add(parent: etree._Element, tag: str, value: object, levels: int) -> None:
    """Adds a member of an object: one element, or one for each member of an array."""
    if isinstance(value, list | tuple):
        for member in value:
            _child(parent, tag, member, levels)
    else:
        _child(parent, tag, value, levels)


def _child(parent: etree._Element, tag: str, value: object, levels: int) -> None:
    if not levels:
        raise MalformedDocument(f"it is deeper than {DEEPEST} elements")
    child = etree.SubElement(parent, tag)
    if isinstance(value, str):
        child.text = value or None
    else:
        _fill(child, value, levels - 1)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise MalformedDocument(f"{value} is no number of JSON, or one beyond all doubles")
        return number_text(value)
    raise MalformedDocument(
        f"{type(value).__name__} is no type of JSON; give dicts, lists, strings, numbers, True, "
        "False and None"
    )


def _values(value: object) -> Iterator[object]:
    """The values of a value's node and of those below it, in document order."""
    yield value
    if isinstance(value, Mapping):
        for member in value.values():
            for one in member if isinstance(member, list | tuple) else (member,):
                yield from _values(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
