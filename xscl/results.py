"""Result documents, as a query's SELECT says (section 5 of the language).

A constructor says of what kind they are; without one, they are JSON where all documents of the
match are (section 7), else XML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lxml import etree

from xscl.language.syntax import (
    Element,
    Insert,
    Item,
    JSONArray,
    JSONConstant,
    JSONObject,
    JSONValue,
    Select,
    VariablePath,
)
from xscl.nodes import BoundNode, grouped

__all__ = ["as_json", "as_xml", "is_json"]

Variables = Mapping[str, BoundNode]


def is_json(select: Select, outputs: Sequence[BoundNode]) -> bool:
    """Whether the result of a match is a JSON value; else it is an XML document."""
    if isinstance(select, JSONObject):
        return True
    return not isinstance(select, Element) and all(node.document.json for node in outputs)


def as_json(select: Select, outputs: Sequence[BoundNode], variables: Variables) -> object:
    """The result of one match as a JSON value."""
    if isinstance(select, JSONObject):
        return _json(select, variables)
    assert not isinstance(select, Element)
    if select is None:
        values = [output.value() for output in outputs]
        return values[0] if len(values) == 1 else values
    return grouped(
        (node.name if item.alias is None else item.alias.text, node.value())
        for item in select
        for node in _nodes(item.path, variables)
    )


def as_xml(select: Select, outputs: Sequence[BoundNode], variables: Variables) -> etree._Element:
    """The result of one match as an XML element."""
    if isinstance(select, Element):
        return _element(select, variables)
    if isinstance(select, JSONObject):
        raise TypeError("the result of a JSON constructor is no XML")
    if select is None and len(outputs) == 1:
        return outputs[0].copy()
    result = etree.Element("result")
    if select is None:
        result.extend(output.copy() for output in outputs)
    else:
        for item in select:
            result.extend(_item(item, variables))
    return result


def _nodes(path: VariablePath, variables: Variables) -> list[BoundNode]:
    return variables[path.variable.text].along(path.steps)


def _item(item: Item, variables: Variables) -> list[etree._Element]:
    nodes = _nodes(item.path, variables)
    if item.alias is None:
        return [node.copy() for node in nodes]
    named = []
    for node in nodes:
        element = etree.Element(item.alias.text)
        element.text = node.string()
        named.append(element)
    return named


def _string(insert: Insert, variables: Variables) -> str:
    return " ".join(node.string() for node in _nodes(insert.path, variables))


def _element(constructor: Element, variables: Variables) -> etree._Element:
    namespaces = dict(constructor.namespaces)
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
                for node in _nodes(part.path, variables):
                    _add(element, node.copy())
            case Element():
                _add(element, _element(part, variables))
            case ("comment", text):
                element.append(etree.Comment(text))
            case (_, target, text):
                element.append(etree.ProcessingInstruction(target, text))
    return element


def _add(parent: etree._Element, child: etree._Element) -> None:
    """Appends an element, in its own namespace also where the parent has a default one: lxml
    writes an element without a namespace as if it were in that."""
    parent.append(child)
    if parent.nsmap.get(None):
        _undeclare(child)


def _undeclare(element: etree._Element) -> None:
    """Puts `xmlns=""` where elements without a namespace begin."""
    if not isinstance(element.tag, str):
        return
    if element.tag.startswith("{"):
        for child in list(element):
            _undeclare(child)
        return
    parent = element.getparent()
    assert parent is not None
    namespaces = {prefix: uri for prefix, uri in element.nsmap.items() if prefix} | {None: ""}
    undeclared = etree.Element(element.tag, element.attrib, nsmap=namespaces)  # type: ignore[arg-type]
    undeclared.text, undeclared.tail = element.text, element.tail
    parent.replace(element, undeclared)
    undeclared.extend(element)


def _add_text(element: etree._Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _json(value: JSONValue, variables: Variables) -> object:
    match value:
        case JSONConstant():
            return value.value
        case JSONObject():
            return {key: _json(member, variables) for key, member in value.members}
        case JSONArray():
            members: list[object] = []
            for member in value.items:
                if isinstance(member, VariablePath):
                    # In an array, a path is all of its nodes.
                    members += (node.value() for node in _nodes(member, variables))
                else:
                    members.append(_json(member, variables))
            return members
        case VariablePath():
            values = [node.value() for node in _nodes(value, variables)]
            return None if not values else values[0] if len(values) == 1 else values
