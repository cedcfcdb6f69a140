"""Documents, and nodes in them, -> events of the pattern stage (`pattern_stage/layouts.py`).

Attributes of a whole JSON document are read from its members, without a tree, for many documents
together; a value is then the member as it is, for XML it is the string value.  Attributes that
several stages need of the same documents are read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import itemgetter
from typing import Any, TypeVar

from lxml import etree

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
from xscl.pattern_stage.algebra.functions import as_json
from xscl.pattern_stage.layouts import Event
from xscl.pattern_stage.values.terms import EVERYTHING, NULL, Attribute, Form, Slot
from xscl.times import to_seconds
from xscl.xpath_stage import Reached, decode_name

__all__ = ["Columns", "attributes_of", "values_in"]

T = TypeVar("T")

ValueOf = Callable[[Node], object]

_PLAIN = {str, int, float, bool}
_AS_IT_IS = {str, int, bool}
_DICT, _FLOAT, _INT, _STR = {dict}, {float}, {int}, {str}


class Columns:
    """Reads events for several stages, given the slots of each (None where any value is
    allowed)."""

    def __init__(self, stages: Sequence[Sequence[Slot | None]]) -> None:
        slots = [*dict.fromkeys(one for some in stages for one in some if one is not None)]
        # Slots that allow any value follow all others.
        place = {slot: place for place, slot in enumerate([*slots, None])}
        self._stages = [[place[slot] for slot in some] for some in stages]
        self._slots = slots
        self._attributes = [*dict.fromkeys(slot.attribute for slot in slots)]
        names = dict.fromkeys(slot.attribute.steps[0] for slot in slots if _is_member(slot))
        self._members = _members([*names])
        at = {name: place for place, name in enumerate(names)}
        self._columns = [
            (_CONVERTED[slot.form], at[slot.attribute.steps[0]], _of_value(slot))
            if _is_member(slot)
            else (None, 0, _of_value(slot))
            for slot in slots
        ]
        self._by_name = [
            (slot.attribute.steps[0], _CONVERTED_ONE[slot.form])
            for slot in slots
            if _is_member(slot)
        ]

    def of_values(
        self,
        values: Sequence[object],
        starts: Sequence[int],
        ends: Sequence[int],
        numbers: Sequence[int],
        ids: Sequence[str],
    ) -> list[list[Event]]:
        """The events of each stage for whole JSON documents."""
        if len(values) == 1:
            row = [*self._of_value(values[0], ids[0], ends[0]), None]
            event = starts[0], ends[0], numbers[0]
            return [[(*event, *[row[place] for place in some])] for some in self._stages]
        members = self._members(values)
        columns: list[Iterable[object]] = [
            [of_value(*one) for one in zip(values, ids, ends, strict=False)]
            if convert is None
            else convert(members[place])
            for convert, place, of_value in self._columns
        ]
        columns.append(repeat(None))
        return [
            [*zip(starts, ends, numbers, *[columns[place] for place in some], strict=False)]
            for some in self._stages
        ]

    def _of_value(self, value: object, id: str, end: int) -> list[object]:
        if type(value) is dict and len(self._by_name) == len(self._slots):
            # As most are.
            get = value.get
            return [convert(get(name, MISSING)) for name, convert in self._by_name]
        return [of_value(value, id, end) for _, _, of_value in self._columns]

    def nodes(self, output: Node, bound: Mapping[str, Node]) -> list[Reached[Node]]:
        """The node that each slot reads of an output node, given the nodes of the block's
        variables; where it is all attributes, these by name."""
        nodes = {
            one: None if one.own is not None else next(reached(output, bound, one), None)
            for one in self._attributes
        }
        return [
            _named(output, bound) if slot == EVERYTHING else nodes[slot.attribute]
            for slot in self._slots
        ]

    def of_reached(
        self,
        nodes: Sequence[Reached[T]],
        text_of: Callable[[T], str],
        value_of: Callable[[T], object],
        start: int,
        end: int,
        number: int,
        id: str,
    ) -> list[Event]:
        """The event of each stage, given the node that each slot reads, or its place, and how these
        are read."""

        def of(slot: Slot, node: Reached[T]) -> object:
            if slot.attribute.own is not None:
                return _CONVERTED_ONE[slot.form](_own(slot.attribute, id, end))
            if node is None:
                return None
            if isinstance(node, dict):
                return {name: as_json(value_of(one)) for name, one in node.items()}
            if slot.form is Form.VALUE:
                return value_of(node)
            text = text_of(node)
            return text if slot.form is Form.TEXT else number_of_text(text)

        row = [*map(of, self._slots, nodes), None]
        return [(start, end, number, *[row[place] for place in some]) for some in self._stages]


def _is_member(slot: Slot) -> bool:
    """Whether it is a member of a JSON object."""
    attribute = slot.attribute
    return len(attribute.steps) == 1 and attribute.attribute is None


def _of_value(slot: Slot) -> Callable[[object, str, int], object]:
    """Reads a slot of a JSON document, given its value, its id and its time."""
    attribute, convert = slot.attribute, _CONVERTED_ONE[slot.form]
    if slot == EVERYTHING:
        return lambda value, id, end: members_of(value)
    if attribute.own is not None:
        return lambda value, id, end: convert(_own(attribute, id, end))
    if attribute.attribute is not None:
        # JSON has no attributes.
        return lambda value, id, end: None
    return lambda value, id, end: convert(first_member(value, attribute.steps))


def _own(attribute: Attribute, id: str, end: int) -> str | float:
    """The attribute that every event has."""
    return id if attribute.own == "document" else to_seconds(end)


def _members(names: Sequence[str]) -> Callable[[Sequence[Any]], Sequence[Sequence[object]]]:
    """Reads the members of some names of values, one column for each."""
    every = itemgetter(*names) if names else None

    def read(values: Sequence[Any]) -> Sequence[Sequence[object]]:
        if not _DICT.issuperset(map(type, values)):
            return [[first_member(one, (name,)) for one in values] for name in names]
        try:
            # Most values have the members.
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
    return column if _PLAIN.issuperset(map(type, column)) else [*map(member_value, column)]


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
    if type(value) is not dict and not isinstance(value, Mapping):
        return {}
    if type(value) is dict and _AS_IT_IS.issuperset(map(type, value.values())):
        return value.copy()
    found = ((name, member_value(member)) for name, member in value.items())
    return {name: as_json(one) for name, one in found if one is not None}


def values_in(document: Document, numbers: Mapping[etree._Element, int] | None = None) -> ValueOf:
    """A reader of values of a document's nodes; `numbers` are those of the elements of another tree
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
    return {name: as_json(value_of(node)) for name, node in _named(output, bound).items()}


def _named(output: Node, bound: Mapping[str, Node]) -> dict[str, Node]:
    """The nodes that are a node's attributes: the block's variables, then children, then its
    own."""
    nodes = dict(bound)
    element, attribute = output
    for child in element.iterchildren("*") if attribute is None else ():
        name = _bare(child.tag)
        if name is not None and name not in nodes:
            nodes[name] = child, None
    for own in map(str, element.attrib) if attribute is None else ():
        if not own.startswith("{") and own not in nodes:
            nodes[own] = element, own
    return nodes


@lru_cache(maxsize=100_000)
def _bare(tag: str) -> str | None:
    """The name of a tag in no namespace; of a JSON node, its key."""
    key = decode_name(tag)
    if key is not None:
        return key
    return None if tag.startswith("{") else tag
