"""The tree of a document and its nodes: where a path or a side of a condition leads to.

Everything is XPath 1.0, evaluated by libxml2 on the whole tree; nothing of stage 1 takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml import etree

from xscl.dissection.xpath_text import filters_of, path_expression
from xscl.documents.document import Document
from xscl.documents.trees import parsed
from xscl.errors import XSCLError
from xscl.language.syntax import Condition, Function, Path, Step
from xscl.xpath_stage import EXTENSIONS, decode_name, string_value

__all__ = ["Node", "Tree", "along", "compiled", "label", "local_name", "nodes", "place", "strings"]

_SELF = Step("/", ".", None, (), 0)


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or its attribute of a Clark name or (`text()`) one of its texts, with a value."""

    element: etree._Element
    attribute: str | None = None
    value: str = ""

    @property
    def leaf(self) -> bool:
        """Whether no element is below it."""
        return self.attribute is not None or next(self.element.iterchildren("*"), None) is None

    def string(self) -> str:
        """The string value."""
        return string_value(self.element) if self.attribute is None else self.value


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The elements of a document in document order, which stay the same objects with it."""

    elements: tuple[etree._Element, ...]

    @classmethod
    def of(cls, document: Document) -> Tree:
        """Parses a document; raises DocumentError if it cannot be read."""
        return cls(tuple(parsed(document).iter("*")))

    @property
    def root(self) -> etree._Element:
        """The root element."""
        return self.elements[0]


@lru_cache(maxsize=1_000)
def compiled(steps: tuple[Step, ...], start: str = "") -> etree.XPath:
    """A path from the document (`/`), from an element, or from its attribute of a Clark name."""
    expression, namespaces = path_expression(steps)
    if start == "/":
        # `/a`, and `//a` for the `.//a` of a relative path.
        expression = ("/" if steps[0].axis == "/" else "") + expression.removeprefix(".")
    elif start:
        uri, _, local = start.rpartition("}")
        namespaces["the-attribute"] = uri[1:] or "none"
        expression = f"@{'the-attribute:' if uri else ''}{local}/{expression}"
    return etree.XPath(expression, namespaces=namespaces, extensions=EXTENSIONS)


def nodes(path: etree.XPath, element: etree._Element) -> list[Node]:
    """The nodes that a path leads to, in document order."""
    return [
        Node(one)
        if isinstance(one, etree._Element)
        # A string that knows where it comes from.
        else Node(one.getparent(), one.attrname if one.is_attribute else "text()", str(one))
        for one in _evaluated(path, element)
    ]


def along(node: Node, steps: Sequence[Step]) -> list[Node]:
    """The nodes that a relative path leads to from a node."""
    if not steps or node.attribute == "text()":
        return [] if steps else [node]
    return nodes(compiled(tuple(steps), node.attribute or ""), node.element)


def strings(node: Node, condition: Condition) -> list[str]:
    """The string values that a side of a condition stands for at a node: one for each node of a
    path, one of everything else."""
    if isinstance(condition, Path):
        return [found.string() for found in along(node, condition.steps)]
    element = node.element
    if node.attribute is not None:
        # XPath evaluates nothing at an attribute: an element of its value stands for it.
        element = etree.Element("attribute")
        element.text = node.string()
    (side,) = filters_of(_SELF, (Function("string", (condition,), condition.at),))
    return [str(_evaluated(_side(side.expression, side.namespaces), element))]


def label(tag: str) -> str:
    """A name as people read it: that of a JSON key is the key."""
    key = decode_name(tag)
    return tag if key is None else key


def local_name(tag: str) -> str:
    """A name as people read it, without its namespace."""
    key = decode_name(tag)
    return tag.rpartition("}")[2] if key is None else key


def place(node: Node) -> str:
    """The way to a node from the root, by local names: `/rss/channel/item`."""
    above = reversed([node.element, *node.element.iterancestors()])
    way = "".join(f"/{local_name(str(element.tag))}" for element in above)
    attribute = "" if node.attribute is None else f"/@{node.attribute.rpartition('}')[2]}"
    return way + attribute


@lru_cache(maxsize=1_000)
def _side(expression: str, namespaces: tuple[tuple[str, str], ...]) -> etree.XPath:
    return etree.XPath(expression, namespaces=dict(namespaces), extensions=EXTENSIONS)


def _evaluated(path: etree.XPath, element: etree._Element) -> Any:
    try:
        return path(element)
    except etree.XPathError as error:
        raise XSCLError(f"`{path.path}` cannot be evaluated: {error}") from error
