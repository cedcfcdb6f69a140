"""The columns of event queries: a document, or a node in it -> the tuple of an event.

An event is `(start, end, number, whole, *slots)`, its times in microseconds; `whole` are all its
attributes by name, where somebody asks for them.  Of a whole JSON document it is read in the
members, without a tree; a value is then the member as it is, of XML it is the string value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lxml import etree

from pattern_stage.algebra import NULL
from pattern_stage.algebra.functions import as_json
from pattern_stage.pattern import Form, Slot
from xpath_stage import decode_name
from xscl.documents.attributes import (
    MISSING,
    Node,
    first_member,
    number_of_member,
    number_of_text,
    reached,
    text_of_member,
    text_of_node,
)
from xscl.documents.document import Document
from xscl.documents.trees import nodes_of

__all__ = [
    "NodeColumns",
    "ValueColumns",
    "attributes_of",
    "columns_of_nodes",
    "columns_of_value",
    "values_in",
]

ValueColumns = Callable[[object, int, int, int], tuple[Any, ...]]
"""The event of a JSON value, given start, end and number."""

ValueOf = Callable[[Node], object]

NodeColumns = Callable[[Node, Mapping[str, Node], ValueOf, int, int, int], tuple[Any, ...]]
"""The event of an output node, given the nodes of the block's variables and what reads values."""

_PLAIN = {str, int, float, bool}
_AS_IT_IS = {str, int, bool}


def columns_of_value(slots: Sequence[Slot], *, whole: bool) -> ValueColumns:
    """Reads the events that JSON documents are, as such."""
    names: dict[str, Any] = {"MISSING": MISSING, "of_any": _of_any(slots, whole=whole)}
    names |= {"text": text_of_member, "number": number_of_member, "value": member_value}
    names["all_of"] = members_of
    columns = ["start", "end", "event", "all_of(members)" if whole else "None"]
    for place, slot in enumerate(slots):
        names[f"name{place}"] = slot.attribute.steps[0]
        read = f"(found := get(name{place}, MISSING))"
        columns.append(
            {
                Form.TEXT: f"found if type{read} is str else text(found)",
                Form.NUMBER: f"found + 0.0 if type{read} is float else number(found)",
                Form.VALUE: f"found if type{read} in plain else value(found)",
            }[slot.form]
        )
    names["plain"] = _PLAIN
    text = (
        "def read(members, start, end, event):\n"
        "    if type(members) is not dict:\n"
        "        return of_any(members, start, end, event)\n"
        "    get = members.get\n"
        f"    return ({', '.join(columns)},)\n"
    )
    exec(compile(text, "<columns>", "exec"), names)
    made: ValueColumns = names["read"]
    return made


def _of_any(slots: Sequence[Slot], *, whole: bool) -> ValueColumns:
    """The same of a value that need not be an object."""
    readers = {Form.TEXT: text_of_member, Form.NUMBER: number_of_member, Form.VALUE: member_value}

    def read(value: object, start: int, end: int, number: int) -> tuple[Any, ...]:
        firsts = [(slot, first_member(value, slot.attribute.steps)) for slot in slots]
        columns = [readers[slot.form](first) for slot, first in firsts]
        return start, end, number, members_of(value) if whole else None, *columns

    return read


def member_value(member: object) -> object:
    """A member as the value of an attribute: of an array its first entry, None if there is none."""
    if isinstance(member, list | tuple):
        member = member[0] if member else MISSING
    if member is None:
        return NULL
    return None if member is MISSING else member


def members_of(value: object) -> dict[str, object]:
    """All attributes of a JSON value by name, as results show them."""
    if isinstance(value, list | tuple):
        value = {"item": value}
    if not isinstance(value, Mapping):
        return {}
    if type(value) is dict and _AS_IT_IS.issuperset(map(type, value.values())):
        return value.copy()
    found = ((name, member_value(member)) for name, member in value.items())
    return {name: as_json(one) for name, one in found if one is not None}


def columns_of_nodes(slots: Sequence[Slot], *, whole: bool) -> NodeColumns:
    """Reads the events that nodes are."""

    def read(
        output: Node, bound: Mapping[str, Node], value_of: ValueOf, start: int, end: int, event: int
    ) -> tuple[Any, ...]:
        def column(slot: Slot) -> object:
            node = next(reached(output, bound, slot.attribute), None)
            if node is None:
                return None
            if slot.form is Form.VALUE:
                return value_of(node)
            text = text_of_node(node)
            return text if slot.form is Form.TEXT else number_of_text(text)

        everything = attributes_of(output, bound, value_of) if whole else None
        return start, end, event, everything, *map(column, slots)

    return read


def values_in(document: Document, numbers: Mapping[etree._Element, int] | None = None) -> ValueOf:
    """What reads values of a document's nodes; `numbers` are those of the elements of another tree
    of it."""
    if not document.json:
        return text_of_node
    nodes = nodes_of(document, 0)
    values, number_of = nodes.values, nodes.numbers if numbers is None else numbers
    assert values is not None

    def value(node: Node) -> object:
        found = values[number_of[node[0]]]
        return NULL if found is None else found

    return value


def attributes_of(output: Node, bound: Mapping[str, Node], value_of: ValueOf) -> dict[str, object]:
    """All attributes of a node by name, as results show them: the block's variables, then
    children, then its own."""
    nodes = dict(bound)
    element, attribute = output
    if attribute is not None:
        return _shown(nodes, value_of)
    for child in element.iterchildren("*"):
        name = _bare(child.tag)
        if name is not None and name not in nodes:
            nodes[name] = child, None
    for own in map(str, element.attrib):
        if not own.startswith("{") and own not in nodes:
            nodes[own] = element, own
    return _shown(nodes, value_of)


def _shown(nodes: Mapping[str, Node], value_of: ValueOf) -> dict[str, object]:
    return {name: as_json(value_of(node)) for name, node in nodes.items()}


def _bare(tag: str) -> str | None:
    """The name of a tag in no namespace, of a JSON node its key."""
    key = decode_name(tag)
    if key is not None:
        return key
    return None if tag.startswith("{") else tag
