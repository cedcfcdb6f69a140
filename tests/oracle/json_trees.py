"""JSON documents as XML, by docs/semantics.md#json-as-a-tree, and nodes as JSON.

A key that is no XML name is a name that starts with two underscores, which no drawn name does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from lxml import etree

__all__ = ["JSONTree", "escaped_name", "gathered", "value_of_xml"]

_NAME = re.compile(r"[^\W\d][\w.\-]*")


def escaped_name(key: str) -> str:
    """The name of a key's elements.

    >>> escaped_name("a"), escaped_name("b c")
    ('a', '__62.20.63')
    """
    if _NAME.fullmatch(key):
        return key
    return "__" + ".".join(f"{ord(sign):x}" for sign in key)


class JSONTree:
    """A JSON value as an element, with the value that each element represents."""

    def __init__(self, value: object) -> None:
        self.values: list[object] = []
        self.names: list[str] = []
        self.root = etree.Element("json")
        self._grow(self.root, "json", value)

    def _grow(self, element: Any, key: str, value: object) -> None:
        self.values.append(value)
        self.names.append(key)
        if isinstance(value, dict):
            for name, member in value.items():
                for one in member if isinstance(member, list) else [member]:
                    self._grow(etree.SubElement(element, escaped_name(name)), name, one)
        elif isinstance(value, list):
            for one in value:
                self._grow(etree.SubElement(element, "item"), "item", one)
        else:
            element.text = _scalar(value)


def _scalar(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return _number(value)
    return str(value)


def _number(value: float) -> str:
    """As JavaScript prints it: plain between a millionth and 10²¹."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if 1e-6 <= abs(value) < 1e21:
        return f"{Decimal(repr(value)):f}"
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"


def value_of_xml(element: Any) -> object:
    """An element of an XML document as JSON: an object of its children, else its string."""
    children = list(element.iterchildren(etree.Element))
    if not children:
        return str(element.xpath("string()"))
    return gathered((etree.QName(child).localname, value_of_xml(child)) for child in children)


def gathered(members: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Each name's value, or the array of its values where there are several."""
    lists: dict[str, list[object]] = {}
    for name, value in members:
        lists.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in lists.items()}
