"""Result documents, as a query's SELECT says (section 5 of the language)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from lxml import etree

from xpath_stage import string_value
from xscl.document import Document, elements
from xscl.filters import path_expression
from xscl.language.syntax import Element, Insert, Item, Select, Step, VariablePath

__all__ = ["BoundNode", "build"]


@dataclass(frozen=True, slots=True)
class BoundNode:
    """A node of a match: an element of a document, or its attribute of that Clark name."""

    document: Document
    number: int
    attribute: str | None


@dataclass(frozen=True, slots=True)
class _Node:
    """An element, or one of its attributes."""

    element: etree._Element
    attribute: str | None

    def string(self) -> str:
        if self.attribute is None:
            return str(string_value(self.element))
        return str(self.element.get(self.attribute, ""))

    def copy(self) -> etree._Element:
        """A copy of the node; a copied attribute is an element everywhere."""
        if self.attribute is None:
            copied = deepcopy(self.element)
            copied.tail = None
            return copied
        uri = etree.QName(self.attribute).namespace
        prefixes = {p: u for p, u in self.element.nsmap.items() if u == uri and p is not None}
        copied = etree.Element(self.attribute, nsmap=prefixes or None)
        copied.text = self.string()
        return copied


def build(
    select: Select, outputs: Sequence[BoundNode], variables: Mapping[str, BoundNode]
) -> etree._Element:
    """The result of one match, from its blocks' output nodes and the variables selected."""
    if select is None:
        if len(outputs) == 1:
            return _node(outputs[0]).copy()
        result = etree.Element("result")
        result.extend(_node(output).copy() for output in outputs)
        return result
    if isinstance(select, Element):
        return _element(select, variables)
    result = etree.Element("result")
    for item in select:
        result.extend(_item(item, variables))
    return result


def _node(bound: BoundNode) -> _Node:
    return _Node(elements(bound.document)[bound.number], bound.attribute)


def _nodes(path: VariablePath, variables: Mapping[str, BoundNode]) -> list[_Node]:
    """The nodes that a path from a variable leads to, in document order."""
    start = _node(variables[path.variable.text])
    if not path.steps:
        return [start]
    if start.attribute is not None:
        return []
    found = []
    for value in cast(list[Any], _compiled(path.steps)(start.element)):
        if isinstance(value, etree._Element):
            found.append(_Node(value, None))
        else:
            found.append(_Node(value.getparent(), value.attrname))
    return found


@lru_cache(maxsize=10_000)
def _compiled(steps: tuple[Step, ...]) -> etree.XPath:
    expression, namespaces = path_expression(steps)
    return etree.XPath(expression, namespaces=namespaces)


def _item(item: Item, variables: Mapping[str, BoundNode]) -> list[etree._Element]:
    nodes = _nodes(item.path, variables)
    if item.alias is None:
        return [node.copy() for node in nodes]
    named = []
    for node in nodes:
        element = etree.Element(item.alias.text)
        element.text = node.string()
        named.append(element)
    return named


def _string(insert: Insert, variables: Mapping[str, BoundNode]) -> str:
    return " ".join(node.string() for node in _nodes(insert.path, variables))


def _element(constructor: Element, variables: Mapping[str, BoundNode]) -> etree._Element:
    # `xmlns=""` undoes a default namespace; where there is none, lxml must not hear of it.
    namespaces = {prefix: uri for prefix, uri in constructor.namespaces if uri}
    element = etree.Element(constructor.tag, nsmap=namespaces or None)  # type: ignore[arg-type]
    for name, parts in constructor.attributes:
        texts = (part if isinstance(part, str) else _string(part, variables) for part in parts)
        element.set(name, "".join(texts))
    for part in constructor.content:
        match part:
            case str():
                _add_text(element, part)
            case Insert(string=True):
                _add_text(element, _string(part, variables))
            case Insert():
                element.extend(node.copy() for node in _nodes(part.path, variables))
            case Element():
                element.append(_element(part, variables))
            case ("comment", text):
                element.append(etree.Comment(text))
            case (_, target, text):
                element.append(etree.ProcessingInstruction(target, text))
    return element


def _add_text(element: etree._Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text
