"""The attributes of events: a document, an output node and a path -> a text or a number.

An attribute is the first node that its path leads to from the output node: a variable of the block,
else a child element, else an attribute of that name.  For a whole JSON document they are read from
its members, without a tree, with the same result as from the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from lxml import etree

from xscl.pattern_stage.values.terms import MISSING, Attribute
from xscl.xpath_stage import double_of, encode_name, number_text, string_value

__all__ = [
    "MISSING",
    "Node",
    "first_member",
    "number_of_member",
    "number_of_text",
    "reached",
    "text_of_member",
    "text_of_node",
]

Node = tuple[etree._Element, str | None]
"""An element, or its attribute of a Clark name."""

_NaN = float("nan")


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
    if type(value) is dict or isinstance(value, Mapping):
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
    """The string value of a member, of an array the first entry's; None where it is missing."""
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
