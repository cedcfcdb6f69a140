"""The attributes of events: a document, an output node and a path -> a text or a number.

An attribute is the first node that its path leads to from the output node: a variable of the block,
else a child element, else an attribute of that name.  Of a whole JSON document they are read in its
members, without a tree, and are what the tree would have said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from lxml import etree

from pattern_stage.pattern import Attribute, Form, Slot
from xpath_stage import double_of, encode_name, number_text, string_value
from xscl.times import to_seconds

__all__ = [
    "MISSING",
    "Node",
    "Values",
    "first_member",
    "number_of_member",
    "number_of_text",
    "of_members",
    "of_nodes",
    "reached",
    "text_of_member",
    "text_of_node",
]

Node = tuple[etree._Element, str | None]
"""An element, or its attribute of a Clark name."""

Values = tuple[str | float | None, ...]

_NaN = float("nan")
MISSING = object()


def reached(output: Node, bound: Mapping[str, Node], attribute: Attribute) -> Iterator[Node]:
    """The nodes that the path of an attribute leads to, in document order; `bound` are those of the
    block's variables."""
    steps, name = attribute.steps, attribute.attribute
    start = bound.get(steps[0]) if steps else None
    element, of_element = output if start is None else start
    below = steps if start is None else steps[1:]
    if of_element is not None:
        # Below an attribute is nothing.
        if not below and name is None:
            yield element, of_element
        return
    found = False
    for one in _below(element, [encode_name(step) for step in below]):
        if name is None or name in one.attrib:
            found = True
            yield one, name
    if not found and name is None and len(steps) == 1 and steps[0] in element.attrib:
        yield element, steps[0]


def text_of_node(node: Node) -> str:
    """The string value of a node."""
    element, name = node
    return string_value(element) if name is None else str(element.get(name, ""))


def of_nodes(
    slots: Sequence[Slot | None],
) -> Callable[[Node, Mapping[str, Node], int, str], Values]:
    """Reads slots (None: read by nobody) of an output node, given the nodes of the block's
    variables, and the time (microseconds) and the id of the document."""

    def read(output: Node, bound: Mapping[str, Node], time: int, document: str) -> Values:
        def of(slot: Slot) -> str | float | None:
            node = next(reached(output, bound, slot.attribute), None)
            text = None if node is None else text_of_node(node)
            return text if text is None or slot.form is Form.TEXT else number_of_text(text)

        return _values(slots, of, time, document)

    return read


def of_members(slots: Sequence[Slot | None]) -> Callable[[object, int, str], Values]:
    """Reads slots of the root of a JSON document, as `of_nodes` does of its tree, given its value,
    time and id."""
    plain: list[tuple[str, Callable[[object], str | float | None]]] = []
    for slot in slots:
        if slot is None:
            break
        attribute = slot.attribute
        if len(attribute.steps) != 1 or attribute.attribute is not None:
            break
        plain.append(
            (attribute.steps[0], text_of_member if slot.form is Form.TEXT else number_of_member)
        )

    def read_plain(value: object, time: int, document: str) -> Values:
        if type(value) is not dict:
            return read(value, time, document)
        get = value.get
        return tuple([convert(get(key, MISSING)) for key, convert in plain])

    def read(value: object, time: int, document: str) -> Values:
        def of(slot: Slot) -> str | float | None:
            # What is JSON has no attributes.
            named = slot.attribute.attribute is not None
            first = MISSING if named else first_member(value, slot.attribute.steps)
            return text_of_member(first) if slot.form is Form.TEXT else number_of_member(first)

        return _values(slots, of, time, document)

    return read_plain if len(plain) == len(slots) else read


def _values(
    slots: Sequence[Slot | None],
    of: Callable[[Slot], str | float | None],
    time: int,
    document: str,
) -> Values:
    """The values of slots, where `of` reads those that are of the event's own node."""
    return tuple(
        [
            None
            if slot is None
            else of(slot)
            if slot.attribute.own is None
            else _own(slot, time, document)
            for slot in slots
        ]
    )


def _own(slot: Slot, time: int, document: str) -> str | float:
    if slot.attribute.own == "timestamp":
        return to_seconds(time)
    return document if slot.form is Form.TEXT else number_of_text(document)


_double_of = lru_cache(maxsize=100_000)(double_of)


def number_of_text(text: str) -> float:
    """The double of a text, NaN where it is none."""
    double = _double_of(text)
    return _NaN if double is None else double


def _below(element: etree._Element, tags: Sequence[str]) -> Iterator[etree._Element]:
    """The elements that child steps lead to."""
    if not tags:
        yield element
        return
    for child in element.iterchildren(tags[0]):
        yield from _below(child, tags[1:])


# JSON


def _children(value: object, step: str) -> Sequence[object]:
    """The members of a value that are its children of a name; an array in an array is one, whose
    members are named `item`."""
    if isinstance(value, Mapping):
        member = value.get(step, MISSING)
        if member is MISSING:
            return ()
        return member if isinstance(member, list | tuple) else (member,)
    return value if isinstance(value, list | tuple) and step == "item" else ()


def first_member(value: object, steps: Sequence[str]) -> object:
    """The first member that some steps lead to from a value; MISSING if there is none."""
    if not steps:
        return (value,) if isinstance(value, list | tuple) else value
    for child in _children(value, steps[0]):
        found = first_member(child, steps[1:])
        if found is not MISSING:
            return found
    return MISSING


def text_of_member(value: object) -> str | None:
    """The string value of a member, the first of an array; None where it is missing."""
    kind = type(value)
    if isinstance(value, str):
        return value
    if kind is int:
        return str(value)
    if value is MISSING:
        return None
    if isinstance(value, list | tuple):
        return _joined(value[0]) if value else None
    return _joined(value)


def number_of_member(value: object) -> float | None:
    """The number that a member casts to."""
    if type(value) is float:
        # As a text, 0 has no sign.
        return value + 0.0
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return float("-inf" if value < 0 else "inf")
    text = text_of_member(value)
    return None if text is None else number_of_text(text)


def _joined(value: object) -> str:
    """The texts of a value and of all below it."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "".join(map(_joined, value.values()))
    if isinstance(value, list | tuple):
        return "".join(map(_joined, value))
    return number_text(value) if isinstance(value, float) else str(value)
