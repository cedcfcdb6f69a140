"""Writes the result document of a match as XML text, for SELECT *, lists and XML constructors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from tests.oracle.terms import Constructor, Insert, Item, Select, VariablePath
from tests.oracle.xpath import path_in_xpath

__all__ = ["composed"]

Nodes = Callable[[VariablePath], list[Any]]


def composed(
    select: Select, outputs: Sequence[Any], bound: Mapping[str, Any], namespaces: Mapping[str, str]
) -> str:
    """The text; nodes are elements, and attributes as lxml's strings.

    A constructor's literal text is taken as it is, so that none may be white space only.
    """

    def nodes(path: VariablePath) -> list[Any]:
        start = bound[path.variable]
        if not path.path:
            return [start]
        if isinstance(start, str):
            return []  # nothing is below an attribute
        return list(start.xpath(path_in_xpath(path.path, "."), namespaces=namespaces))

    match select:
        case "" | "*":
            copies = "".join(map(_copied, outputs))
            return copies if len(outputs) == 1 else f"<result>{copies}</result>"
        case Constructor():
            return _constructed(select, nodes)
        case tuple():
            items = "".join(_item(item, nodes(item.path)) for item in select)
            return f"<result>{items}</result>"
    raise TypeError("a JSON constructor makes no XML")


def _copied(node: Any) -> str:
    """A copy of a node; an attribute becomes an element."""
    if not isinstance(node, str):
        return str(etree.tostring(node, encoding="unicode", with_tail=False))
    name = etree.QName(node.attrname)  # type: ignore[attr-defined]
    if name.namespace is None:
        return f"<{name.localname}>{escape(node)}</{name.localname}>"
    prefixed, declared = f"a:{name.localname}", quoteattr(name.namespace)
    return f"<{prefixed} xmlns:a={declared}>{escape(node)}</{prefixed}>"


def _text(node: Any) -> str:
    return node if isinstance(node, str) else str(node.xpath("string()"))


def _item(item: Item, found: list[Any]) -> str:
    if item.alias is None:
        return "".join(map(_copied, found))
    return "".join(f"<{item.alias}>{escape(_text(node))}</{item.alias}>" for node in found)


def _constructed(element: Constructor, nodes: Nodes) -> str:
    def inserted(insert: Insert, *, text: bool) -> str:
        found = nodes(insert.path)
        if text:
            return escape(" ".join(map(_text, found)), {'"': "&quot;", "\n": "&#10;"})
        return "".join(map(_copied, found))

    head = "".join(
        f' {"xmlns" + (prefix and ":" + prefix)}="{uri}"' for prefix, uri in element.namespaces
    )
    for name, parts in element.attributes:
        value = "".join(
            _literal(p) if isinstance(p, str) else inserted(p, text=True) for p in parts
        )
        head += f' {name}="{value}"'
    content = ""
    for part in element.content:
        match part:
            case str():
                content += _literal(part)
            case Insert():
                content += inserted(part, text=part.string)
            case Constructor():
                content += _constructed(part, nodes)
    return f"<{element.name}{head}>{content}</{element.name}>"


def _literal(text: str) -> str:
    return {"{{": "{", "}}": "}"}.get(text, text)
