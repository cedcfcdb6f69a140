"""The nodes of a match, as results are made of them: their strings, copies and JSON values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from lxml import etree

from xscl.documents.document import Document, is_streamed
from xscl.documents.trees import Nodes, nodes_of
from xscl.xpath_stage import EXTENSIONS, decode_name, string_value, written_as_it_is

if TYPE_CHECKING:
    from xscl.language.syntax import Step

__all__ = ["START_OF_TAG", "BoundNode", "name_keys", "read_in_order"]

START_OF_TAG = re.compile(r"<[^\s/>]+")


@dataclass(frozen=True, slots=True)
class BoundNode:
    """A node of a document: the element of a number, or its attribute of a Clark name."""

    document: Document
    number: int
    attribute: str | None

    @property
    def element(self) -> etree._Element:
        """The element, or the one that the attribute belongs to."""
        return self._nodes.element(self.number)

    @property
    def _nodes(self) -> Nodes:
        """The nodes of the document, or of a part that has this one and all below it."""
        return nodes_of(self.document, self.number)

    @property
    def name(self) -> str:
        """The node's name without its namespace; for a JSON node its key."""
        return _name(self.element.tag if self.attribute is None else self.attribute)

    def string(self) -> str:
        """The string value."""
        if self.attribute is None:
            return string_value(self.element)
        return str(self.element.get(self.attribute, ""))

    def text(self, most: int) -> str | None:
        """The string value, None for an element with child elements; for a longer one the first
        `most` characters, the last of them `…`."""
        element = self.element
        if self.attribute is not None:
            value = str(element.get(self.attribute, ""))
        elif len(element) and next(element.iterchildren("*"), None) is not None:
            return None
        else:
            value = string_value(element)
        return value if len(value) <= most else f"{value[: most - 1]}…"

    def markup(self, *, in_default: bool = False) -> str:
        """A copy of the node, as XML; `in_default`: for a place where a default namespace is in
        scope.

        A copied attribute is always an element, and a JSON key that is no XML name an `item` with a
        `key`.  It is text, because lxml gives an element that it moves to another tree the prefixes
        of its new place.
        """
        body = self.document.body
        if self.number == 0 and self.attribute is None and type(body) is str and not in_default:
            # Most documents are written as they came, and need no tree.
            text = None if self.document.json else written_as_it_is(body)
            if text is not None:
                return text
        if self.attribute is not None:
            uri = etree.QName(self.attribute).namespace
            prefixes = {p: u for p, u in self.element.nsmap.items() if u == uri and p is not None}
            copied = etree.Element(self.attribute, nsmap=prefixes or None)
            copied.text = self.string()
        else:
            copied = deepcopy(self.element)
            copied.tail = None
            if self.document.json:
                name_keys(copied)
        text = etree.tostring(copied, encoding="unicode")
        if in_default and None not in copied.nsmap:
            # An element without a namespace must not get the default one.
            text = START_OF_TAG.sub(r'\g<0> xmlns=""', text, count=1)
        return text

    def value(self) -> object:
        """The node as JSON: its original value, or the conversion of an XML node."""
        original = self._nodes.values
        if original is not None:
            return original[self.number]
        return self.string() if self.attribute is not None else _as_json(self.element)

    def along(self, steps: tuple[Step, ...]) -> list[BoundNode]:
        """The nodes that a path from this one leads to, in document order."""
        if not steps:
            return [self]
        if self.attribute is not None:
            return []
        here = self._nodes
        numbers = here.numbers
        found = []
        for node in cast(list[Any], _compiled(steps)(here.element(self.number))):
            if isinstance(node, etree._Element):
                found.append(BoundNode(self.document, numbers[node], None))
            else:
                found.append(BoundNode(self.document, numbers[node.getparent()], node.attrname))
        return found


def read_in_order(bound: Iterable[BoundNode]) -> None:
    """Reads the parts of large documents that some nodes need, in the order of each document."""
    streamed = (one for one in bound if is_streamed(one.document))
    for node in sorted(streamed, key=lambda one: one.number):
        nodes_of(node.document, node.number)


@lru_cache(maxsize=10_000)
def _compiled(steps: tuple[Step, ...]) -> etree.XPath:
    from xscl.dissection.xpath_text import path_expression

    expression, namespaces = path_expression(steps)
    return etree.XPath(expression, namespaces=namespaces, extensions=EXTENSIONS)


def _name(tag: str) -> str:
    key = decode_name(tag)
    return etree.QName(tag).localname if key is None else key


def name_keys(copied: etree._Element) -> None:
    """Turns an element for a JSON key that is no XML name into an `item` with a `key`."""
    for element in copied.iter("*"):
        key = decode_name(element.tag)
        if key is not None:
            element.tag = "item"
            element.set("key", key)
    etree.cleanup_namespaces(copied)


def _as_json(element: etree._Element) -> object:
    """Section 7 reversed: an object of the children, or the string where there are none."""
    children = list(element.iterchildren("*"))
    if not children:
        return string_value(element)
    groups: dict[str, list[object]] = {}
    for child in children:
        groups.setdefault(_name(child.tag), []).append(_as_json(child))
    return {name: values[0] if len(values) == 1 else values for name, values in groups.items()}
