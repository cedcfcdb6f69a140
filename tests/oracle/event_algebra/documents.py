"""Documents as trees, and the events of blocks over them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from tests.oracle.event_algebra.syntax import Block

__all__ = ["Event", "Tree", "event_of_tree", "events_of_block", "tree_of"]

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """Attributes from a start to an end, in microseconds; the `key` distinguishes it from others of
    that interval.  `document` is its id while it still is one."""

    start: int
    end: int
    attributes: Mapping[str, Any]
    key: Key
    document: str | None = None


@dataclass(slots=True)
class Tree:
    """An element, or a member of a JSON object, and its value."""

    name: str
    value: Any
    children: list[Tree] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def all(self) -> Iterator[Tree]:
        yield self
        for child in self.children:
            yield from child.all()


def tree_of(envelope: Mapping[str, Any]) -> Tree:
    """The root of an envelope's document."""
    if "xml" in envelope:
        return _of_element(etree.fromstring(envelope["xml"]))
    return _of_json("json", envelope["json"])


def _of_element(element: etree._Element) -> Tree:
    children = [_of_element(one) for one in element if isinstance(one.tag, str)]
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    return Tree(str(element.tag), "".join(map(str, element.itertext())), children, attributes)


def _of_json(name: str, value: Any) -> Tree:
    tree = Tree(name, value)
    members = value.items() if isinstance(value, dict) else []
    if isinstance(value, list):
        members = [("item", value)]
    for key, member in members:
        for one in member if isinstance(member, list) else [member]:
            tree.children.append(_of_json(key, one))
    return tree


def attributes_of(tree: Tree) -> dict[str, Any]:
    """First children, then attributes."""
    values = dict[str, Any]()
    for child in tree.children:
        values.setdefault(child.name, child.value)
    return {**tree.attributes, **values}


def event_of_tree(tree: Tree, start: int, end: int, key: Key, document: str | None) -> Event:
    """The event of a whole document."""
    return Event(start, end, attributes_of(tree), key, document)


def events_of_block(
    block: Block, tree: Tree, start: int, end: int, name: Key, document: str
) -> Iterator[Event]:
    """The events of a block in a document of its stream."""
    if not block.path:
        yield event_of_tree(tree, start, end, name, document)
        return
    nodes = list(tree.all())
    places = {id(node): place for place, node in enumerate(nodes)}
    test = block.path.lstrip("/")
    for node in nodes if block.path.startswith("//") else [tree]:
        if node.name != test:
            continue
        ranges = [
            [(one.name, found) for found in _selected(node, one.path)] for one in block.bindings
        ]
        for chosen in itertools.product(*ranges):
            bound = {variable: found.value for variable, found in chosen}
            key = (*name, places[id(node)], *(places.get(id(one), one.value) for _, one in chosen))
            yield Event(start, end, {**attributes_of(node), **bound}, key, document)


def _selected(node: Tree, path: str) -> list[Tree]:
    """The nodes of a path of children, the last of which may be an attribute."""
    nodes = [node]
    for step in path.split("/"):
        if step.startswith("@"):
            given = [one.attributes.get(step[1:]) for one in nodes]
            return [Tree(step, value) for value in given if value is not None]
        nodes = [child for one in nodes for child in one.children if child.name == step]
    return nodes
