"""The columns of event queries: a document, or a node in it -> the tuple of an event.

An event is `(start, end, number, whole, *slots)`, its times in microseconds; `whole` are all its
attributes by name, where somebody asks for them.  Of a whole JSON document it is read in the
members, without a tree; a value is then the member as it is, of XML it is the string value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import itemgetter
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

ValueColumns = Callable[
    [Sequence[object], Iterable[int], Iterable[int], Iterable[int]], list[tuple[Any, ...]]
]
"""The events of JSON values, given their starts, ends and numbers."""

ValueOf = Callable[[Node], object]

NodeColumns = Callable[[Node, Mapping[str, Node], ValueOf, int, int, int], tuple[Any, ...]]
"""The event of an output node, given the nodes of the block's variables and what reads values."""

_PLAIN = {str, int, float, bool}
_AS_IT_IS = {str, int, bool}
_DICT, _FLOAT, _INT, _STR = {dict}, {float}, {int}, {str}


def columns_of_value(slots: Sequence[Slot], *, whole: bool) -> ValueColumns:
    """Reads the events that JSON documents are, as such."""
    names = [*dict.fromkeys(slot.attribute.steps[0] for slot in slots)]
    wanted = [(names.index(slot.attribute.steps[0]), slot.form) for slot in slots]
    members = _members(names)
    every = [(slot.attribute.steps, _CONVERTED_ONE[slot.form]) for slot in slots]

    def one(value: Any) -> list[object]:
        if type(value) is not dict:
            return [convert(first_member(value, steps)) for steps, convert in every]
        get = value.get
        return [convert(get(steps[0], MISSING)) for steps, convert in every]

    def read(
        values: Sequence[object], starts: Iterable[int], ends: Iterable[int], events: Iterable[int]
    ) -> list[tuple[Any, ...]]:
        if len(values) == 1:
            (value,) = values
            whole_of = members_of(value) if whole else None
            return [(*starts, *ends, *events, whole_of, *one(value))]
        found = members(values)
        as_they_are = Form.VALUE if _PLAIN.issuperset(map(type, chain(*found))) else None
        everything = map(members_of, values) if whole else repeat(None)
        columns = [
            found[place] if form is as_they_are else _CONVERTED[form](found[place])
            for place, form in wanted
        ]
        return [*zip(starts, ends, events, everything, *columns, strict=False)]

    return read


def _members(names: Sequence[str]) -> Callable[[Sequence[Any]], Sequence[Sequence[object]]]:
    """Reads the members of some names of values, one column for each."""
    every = itemgetter(*names) if names else None

    def read(values: Sequence[Any]) -> Sequence[Sequence[object]]:
        if not _DICT.issuperset(map(type, values)):
            return [[first_member(one, (name,)) for one in values] for name in names]
        try:
            # As most have what is asked for.
            rows = map(every, values) if every else ()
            return [[*rows]] if len(names) == 1 else [*zip(*rows, strict=True)]
        except KeyError:
            return [[one.get(name, MISSING) for one in values] for name in names]

    return read


def _texts(column: Sequence[Any]) -> Sequence[object]:
    kinds = {*map(type, column)}
    if kinds == _INT:
        return [*map(str, column)]
    return column if kinds == _STR else [*map(text_of_member, column)]


def _numbers(column: Sequence[Any]) -> Sequence[object]:
    if _FLOAT.issuperset(map(type, column)):
        # As a text, 0 has no sign.
        return [one + 0.0 for one in column]
    return [*map(number_of_member, column)]


def _values(column: Sequence[Any]) -> Sequence[object]:
    return [*map(member_value, column)]


_CONVERTED = {Form.TEXT: _texts, Form.NUMBER: _numbers, Form.VALUE: _values}


def member_value(member: object) -> object:
    """A member as the value of an attribute: of an array its first entry, None if there is none."""
    if isinstance(member, list | tuple):
        member = member[0] if member else MISSING
    if member is None:
        return NULL
    return None if member is MISSING else member


_CONVERTED_ONE: Mapping[Form, Callable[[object], object]] = {
    Form.TEXT: text_of_member,
    Form.NUMBER: number_of_member,
    Form.VALUE: member_value,
}


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
    wanted = [(slot.attribute.steps[0], slot.form) for slot in slots]

    def read(
        output: Node, bound: Mapping[str, Node], value_of: ValueOf, start: int, end: int, event: int
    ) -> tuple[Any, ...]:
        nodes = _nodes(output, bound)
        columns: list[object] = []
        for name, form in wanted:
            node = nodes.get(name)
            if node is None:
                columns.append(None)
            elif form is Form.VALUE:
                columns.append(value_of(node))
            else:
                text = text_of_node(node)
                columns.append(text if form is Form.TEXT else number_of_text(text))
        return start, end, event, _shown(nodes, value_of) if whole else None, *columns

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
    """All attributes of a node by name, as results show them."""
    return _shown(_nodes(output, bound), value_of)


def _nodes(output: Node, bound: Mapping[str, Node]) -> Mapping[str, Node]:
    """The nodes of all attributes of a node by name: the block's variables, then children, then its
    own."""
    nodes = dict(bound)
    element, attribute = output
    if attribute is not None:
        return nodes
    for child in element.iterchildren("*"):
        name = _bare(child.tag)
        if name is not None and name not in nodes:
            nodes[name] = child, None
    for own in map(str, element.attrib):
        if not own.startswith("{") and own not in nodes:
            nodes[own] = element, own
    return nodes


def _shown(nodes: Mapping[str, Node], value_of: ValueOf) -> dict[str, object]:
    return {name: as_json(value_of(node)) for name, node in nodes.items()}


@lru_cache(maxsize=100_000)
def _bare(tag: str) -> str | None:
    """The name of a tag in no namespace, of a JSON node its key."""
    key = decode_name(tag)
    if key is not None:
        return key
    return None if tag.startswith("{") else tag
