"""The tree of a document and its nodes: what a step, a path or a side of a condition leads to.

Everything is XPath 1.0, evaluated by libxml2 from the node asked; nothing of stage 1 takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from lxml import etree

from xpath_stage import decode_name, string_value
from xpath_stage.functions import EXTENSIONS
from xscl.dissection.xpath_text import filters_of, path_expression
from xscl.documents.document import Document
from xscl.documents.trees import parsed
from xscl.errors import XSCLError
from xscl.language.syntax import Condition, Function, Path, Step

__all__ = ["Node", "Tree", "along", "label", "local_name", "place", "select", "strings"]

_SELF = Step("/", ".", None, (), 0)


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or its attribute of a Clark name, or (`text()`) one of its texts."""

    element: etree._Element
    attribute: str | None = None

    @property
    def leaf(self) -> bool:
        """Whether no element is below it."""
        return self.attribute is not None or next(self.element.iterchildren("*"), None) is None

    def string(self) -> str:
        """The string value."""
        if self.attribute is None:
            return string_value(self.element)
        return str(self.element.get(self.attribute, ""))


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A document and its elements in document order, which stay the same objects with it."""

    document: Document
    elements: tuple[etree._Element, ...]

    @classmethod
    def of(cls, document: Document) -> Tree:
        """Parses a document; raises DocumentError if it cannot be read."""
        return cls(document, tuple(parsed(document).iter("*")))

    @property
    def root(self) -> etree._Element:
        """The root element."""
        return self.elements[0]


def select(
    tree: Tree, context: Node | None, step: Step, conditions: Sequence[Condition]
) -> list[Node]:
    """The nodes that a step with these filters leads to from a node, or (None) from the
    document, in document order."""
    written = replace(step, variable=None, filters=tuple(conditions))
    expression, namespaces = path_expression((written,))
    if context is None:
        # Absolute: `/a`, and `//a` for the `.//a` of a relative path.
        prefix = "/" if step.axis == "/" else ""
        return _nodes(_evaluate(prefix + expression.removeprefix("."), namespaces, tree.root))
    if context.attribute is None:
        return _nodes(_evaluate(expression, namespaces, context.element))
    if step.test != ".":
        return []
    filters = expression.removeprefix("self::node()").removeprefix(".")
    expression = _attribute(context.attribute, namespaces) + filters
    return _nodes(_evaluate(expression, namespaces, context.element))


def along(node: Node, steps: Sequence[Step]) -> list[Node]:
    """The nodes that a relative path leads to from a node; an attribute has none but itself."""
    if node.attribute is not None:
        while steps and steps[0].test == "." and not steps[0].filters:
            steps = steps[1:]
        return [] if steps else [node]
    return _nodes(_evaluate(*path_expression(steps), node.element)) if steps else [node]


def strings(node: Node, condition: Condition) -> list[str]:
    """The string values that a side of a condition stands for at a node: those of all nodes of a
    path, one of everything else."""
    if isinstance(condition, Path):
        return [found.string() for found in along(node, condition.steps)]
    if node.attribute is not None:
        return [node.string()]
    (side,) = filters_of(_SELF, (Function("string", (condition,), condition.at),))
    return [str(_evaluate(side.expression, dict(side.namespaces), node.element))]


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


def _attribute(name: str, namespaces: dict[str, str]) -> str:
    uri, _, local = name.rpartition("}")
    if not uri:
        return f"@{local}"
    namespaces["the-attribute"] = uri[1:]
    return f"@the-attribute:{local}"


def _evaluate(expression: str, namespaces: dict[str, str], element: etree._Element) -> Any:
    try:
        return _compiled(expression, tuple(namespaces.items()))(element)
    except etree.XPathError as error:
        raise XSCLError(f"`{expression}` cannot be evaluated: {error}") from error


@lru_cache(maxsize=10_000)
def _compiled(expression: str, namespaces: tuple[tuple[str, str], ...]) -> etree.XPath:
    return etree.XPath(expression, namespaces=dict(namespaces), extensions=EXTENSIONS)


def _nodes(found: list[Any]) -> list[Node]:
    nodes = []
    for one in found:
        if isinstance(one, etree._Element):
            nodes.append(Node(one))
        else:
            # A string that knows where it comes from.
            nodes.append(Node(one.getparent(), one.attrname if one.is_attribute else "text()"))
    return nodes
