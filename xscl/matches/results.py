"""Result documents, as a query's SELECT says (section 5 of the language).

A constructor says of what kind they are; without one, they are JSON where all documents of the
match are (section 7), else XML.
"""

from __future__ import annotations

import re
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
    Parameter,
    Select,
    VariablePath,
)
from xscl.matches.nodes import BoundNode, grouped, read_in_order

__all__ = ["as_json", "as_xml", "is_json"]

Variables = Mapping[str, BoundNode]

_TARGET = "xscl-place-of-a-copy"
_PLACE = re.compile(rf"<\?{_TARGET} (\d+)\?>")


def is_json(select: Select, outputs: Sequence[BoundNode]) -> bool:
    """Whether the result of a match is a JSON value; else it is an XML document."""
    if isinstance(select, JSONObject):
        return True
    return not isinstance(select, Element) and all(node.document.json for node in outputs)


def as_json(select: Select, outputs: Sequence[BoundNode], variables: Variables) -> object:
    """The result of one match as a JSON value."""
    read_in_order(variables.values() if select is not None else outputs)
    if isinstance(select, JSONObject):
        return _json(select, variables)
    assert not isinstance(select, Element)
    if select is None:
        values = [output.value() for output in outputs]
        return values[0] if len(values) == 1 else values
    return grouped(
        (item.written or node.name, node.value())
        for item in select
        for node in _nodes(item.path, variables)
    )


def as_xml(select: Select, outputs: Sequence[BoundNode], variables: Variables) -> str:
    """The result of one match as XML text."""
    read_in_order(variables.values() if select is not None else outputs)
    if isinstance(select, Element):
        return _constructed(select, variables)
    if isinstance(select, JSONObject):
        raise TypeError("the result of a JSON constructor is no XML")
    if select is None and len(outputs) == 1:
        return outputs[0].markup()
    if select is None:
        return _result([output.markup() for output in outputs])
    return _result([text for item in select for text in _item(item, variables)])


def _result(parts: Sequence[str]) -> str:
    content = "".join(parts)
    return f"<result>{content}</result>" if content else "<result/>"


def _nodes(path: VariablePath, variables: Variables) -> list[BoundNode]:
    return variables[path.variable.text].along(path.steps)


def _item(item: Item, variables: Variables) -> list[str]:
    nodes = _nodes(item.path, variables)
    if item.alias is None:
        return [node.markup() for node in nodes]
    named = []
    for node in nodes:
        element = etree.Element(item.alias.text)
        element.text = node.string()
        named.append(etree.tostring(element, encoding="unicode"))
    return named


def _string(insert: Insert, variables: Variables) -> str:
    return " ".join(node.string() for node in _nodes(insert.path, variables))


def _constructed(constructor: Element, variables: Variables) -> str:
    """A constructed element.  It is built as a tree, in which processing instructions hold the
    places of the copies, and these are put in when it is text."""
    namespaces = dict(constructor.namespaces)
    root = etree.Element(constructor.tag, nsmap=namespaces or None)  # type: ignore[arg-type]
    copies: list[str] = []
    _fill(root, constructor, variables, copies)
    text = etree.tostring(root, encoding="unicode")
    return _PLACE.sub(lambda place: copies[int(place[1])], text)


def _fill(
    element: etree._Element, constructor: Element, variables: Variables, copies: list[str]
) -> None:
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
                element.append(etree.ProcessingInstruction(_TARGET, str(len(copies))))
                in_default = bool(element.nsmap.get(None))
                nodes = _nodes(part.path, variables)
                copies.append("".join(node.markup(in_default=in_default) for node in nodes))
            case Element():
                namespaces = dict(part.namespaces)
                child = etree.SubElement(element, part.tag, nsmap=namespaces or None)  # type: ignore[arg-type]
                _fill(child, part, variables, copies)
            case ("comment", text):
                element.append(etree.Comment(text))
            case (_, target, text):
                element.append(etree.ProcessingInstruction(target, text))


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
        case Parameter():
            raise ValueError(f"the parameter `:{value.name}` is not bound")
