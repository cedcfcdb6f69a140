"""XML texts that are built alike: what is read of the next one is at the same places.

A text is cut at its brackets, without a parser.  Texts of one structure have the same nodes, so
what was reached from a node of one of them is, in all of them, among the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from lxml import etree

from xscl.xpath_stage.parsing.markup import (
    attribute_values,
    cut_text,
    places_of_attributes,
    texts_of_tags,
)
from xscl.xpath_stage.structures import StreamStructures

__all__ = ["AlikeTexts", "CutText", "Reached"]

T = TypeVar("T")

Reached: TypeAlias = T | dict[str, T] | None
"""What is read: a node, or the place of one; or several, by name."""

Node = tuple[etree._Element, str | None]
"""An element, or its attribute of a Clark name."""

_MOST_PARTS = 200
"""Texts of more parts are parsed: most are of a structure of their own."""

_MOST_CACHED = 500_000
"""The maximal number of parts of all structures, and of places in them, that are cached."""


class _Places(NamedTuple):
    """Where what a key reads is among the parts of a text, which the values of its attributes
    follow if there are `attributes`."""

    places: Sequence[Reached[slice]]
    attributes: bool


class _Structure(NamedTuple):
    """Of the texts of one structure: where the texts of elements are, where the values of
    attributes, by the element's number and the name, and what was read of them, by key."""

    texts: Sequence[slice]
    attributes: Mapping[tuple[int, str], slice]
    read: dict[Hashable, _Places]


class CutText:
    """A text in parts, and what is known of its structure."""

    __slots__ = ("_alike", "_known", "_markup", "_parts", "_with_attributes")

    def __init__(
        self, markup: str, parts: list[str], known: _Structure | None, alike: AlikeTexts
    ) -> None:
        self._markup = markup
        self._parts = parts
        self._known = known
        self._alike = alike
        self._with_attributes: list[str] | None = None

    def places(self, key: Hashable) -> tuple[Sequence[Reached[slice]], list[str]] | None:
        """Where what a key reads is, and the parts where it is; None where that is not known."""
        if self._known is None or (found := self._known.read.get(key)) is None:
            return None
        if not found.attributes:
            return found.places, self._parts
        if self._with_attributes is None:
            self._with_attributes = [*self._parts, *attribute_values(self._parts)]
        return found.places, self._with_attributes

    def note(self, key: Hashable, output: Node, reached: Sequence[Reached[Node]]) -> None:
        """Notes what a key has read of the text when it was parsed: nodes of the tree that has the
        output node."""
        elements = [*output[0].getroottree().getroot().iter("*")]
        known = self._known
        if known is None:
            known = self._known = self._alike.new(self._markup, self._parts, elements)
        # A tree may be of a part of the document, and each node in one of its own.
        if known is None or len(elements) != len(known.texts):
            return
        numbers = {element: number for number, element in enumerate(elements)}
        named = [one if isinstance(one, dict) else {"": one} for one in reached if one is not None]
        nodes = [node for one in named for node in one.values()]
        if any(element not in numbers for element, _ in nodes):
            return

        def place(node: Node) -> slice:
            number, name = numbers[node[0]], node[1]
            return known.texts[number] if name is None else known.attributes[number, name]

        places = [_placed(one, place) for one in reached]
        known.read[key] = _Places(places, any(name is not None for _, name in nodes))
        self._alike.cached += len(nodes)


class AlikeTexts:
    """The XML texts of one stream, as far as nodes of them were read; `cached` counts the parts of
    all structures, and the places in them."""

    def __init__(self) -> None:
        self._structures = StreamStructures[_Structure]()
        self.cached = 0

    def cut(self, text: str | bytes) -> CutText | None:
        """A text in parts; None for one that must be parsed."""
        cut = cut_text(text) if self._structures.pay else None
        if cut is not None and len(cut[1]) > _MOST_PARTS:
            cut = None
        known = self._structures.find(cut)
        return None if cut is None else CutText(*cut, known, self)

    def new(
        self, markup: str, parts: Sequence[str], elements: Sequence[etree._Element]
    ) -> _Structure | None:
        """A structure that is met again; None of one for which another text may differ."""
        if not self._structures.met_before(markup):
            return None
        texts = texts_of_tags(markup, parts)
        if texts is None or len(texts) != len(elements):
            return None
        if self.cached > _MOST_CACHED:
            self._structures.clear()
            self.cached = 0
        self.cached += len(parts)
        places = places_of_attributes(elements[0], parts)
        known = self._structures[markup] = _Structure(texts, places, {})
        return known


def _placed(one: Reached[Node], place: Callable[[Node], slice]) -> Reached[slice]:
    if isinstance(one, dict):
        return {name: place(node) for name, node in one.items()}
    return None if one is None else place(one)
