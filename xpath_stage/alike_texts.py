"""XML texts that are built alike: what is read of the next one is at the same places.

A text is cut at its brackets, without a parser.  Texts of one structure have the same nodes, so
what was reached from a node of one of them is, in all of them, among the same parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from lxml import etree

from xscl.xpath_stage.parsing.markup import attribute_values, cut_text, places_of_nodes
from xscl.xpath_stage.structures import StreamStructures

__all__ = ["AlikeTexts", "Cut", "Found"]

T = TypeVar("T")

Found: TypeAlias = T | dict[str, T] | None
"""What is read: a node or the place of one, or several by name."""

Node = tuple[etree._Element, str | None]
"""An element, or its attribute of a Clark name."""

Cut = tuple[str, list[str]]
"""The structure of a text, which is its markup, and its parts."""

_FEW = 1_000
"""Texts of more parts are parsed: each is of another structure as a rule."""

_MOST = 500_000
"""The maximal number of parts, over all structures whose places are cached."""


class _Places(NamedTuple):
    """Where among the parts is what a reader reads; if there are `attributes`, their values follow
    the parts."""

    found: Sequence[Found[slice]]
    attributes: bool


class AlikeTexts:
    """The XML texts of one stream, as far as nodes of them were read."""

    def __init__(self) -> None:
        self._known = StreamStructures[dict[Hashable, _Places]]()
        self._cached = 0

    def cut(self, text: str | bytes) -> Cut | None:
        """A text in parts; None for one that must be parsed."""
        cut = cut_text(text) if self._known.pay else None
        return None if cut is None or len(cut[1]) > _FEW else cut

    def found(
        self, cut: Cut | None, reader: Hashable
    ) -> tuple[Sequence[Found[slice]], list[str]] | None:
        """What a reader reads of a text, as places among its parts, and these; None where the text
        must be parsed."""
        known = self._known.find(cut)
        if cut is None or known is None or reader not in known:
            return None
        found, attributes = known[reader]
        parts = cut[1]
        return found, [*parts, *attribute_values(parts)] if attributes else parts

    def note(
        self, cut: Cut | None, reader: Hashable, output: Node, found: Sequence[Found[Node]]
    ) -> None:
        """Notes what a reader has read of a text that was parsed: nodes of the tree that has the
        output node."""
        if cut is None or not self._known.met_before((cut[0], reader)):
            return
        places = places_of_nodes(output[0].getroottree().getroot(), *cut)
        if places is None:
            return
        if self._cached > _MOST:
            self._known.clear()
            self._cached = 0
        self._cached += len(cut[1])
        at = [_at(one, places) for one in found]
        attributes = any(name is not None for _, name in _nodes(found))
        self._known.setdefault(cut[0], {})[reader] = _Places(at, attributes)


def _nodes(found: Sequence[Found[Node]]) -> Iterator[Node]:
    for one in found:
        if isinstance(one, dict):
            yield from one.values()
        elif one is not None:
            yield one


def _at(one: Found[Node], places: Mapping[Node, slice]) -> Found[slice]:
    if isinstance(one, dict):
        return {name: places[node] for name, node in one.items()}
    return None if one is None else places[one]
