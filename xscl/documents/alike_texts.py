"""XML texts that are built alike: what events read of the next one is at the same places.

A text is cut at its brackets, without a parser (`xpath_stage`).  Texts of one structure have the
same nodes, so what was reached from a node of one of them is, in all of them, among the same parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from xscl.documents.attributes import Node
from xscl.documents.bodies import Body, size_of
from xscl.documents.columns import Found
from xscl.documents.document import Document
from xscl.xpath_stage import (
    LONGEST,
    StreamStructures,
    attribute_values,
    cut_text,
    places_of_nodes,
)

__all__ = ["AlikeTexts"]

_FEW = 1_000
"""Texts of more parts are parsed: each is of another structure as a rule."""

_MOST = 500_000
"""The maximal number of parts, over all structures whose places are cached."""


class _Places(NamedTuple):
    """What the slots of a reader are of: places among the parts, which the values of attributes
    follow if there are `attributes`."""

    found: Sequence[Found[slice]]
    attributes: bool


class AlikeTexts:
    """The XML documents of one stream, as far as nodes of them were read."""

    def __init__(self) -> None:
        self._known = StreamStructures[dict[Hashable, _Places]]()
        self._cached = 0
        self._document: Document | None = None
        self._cut: tuple[str, list[str]] | None = None

    def found(
        self, document: Document, reader: Hashable
    ) -> tuple[Sequence[Found[slice]], list[str]] | None:
        """What the slots of a reader are of, and the parts among which that is; None where the
        document must be parsed."""
        cut = self._cut_of(document)
        known = self._known.find(cut)
        if cut is None or known is None or reader not in known:
            return None
        found, attributes = known[reader]
        parts = cut[1]
        return found, [*parts, *attribute_values(parts)] if attributes else parts

    def note(
        self, document: Document, reader: Hashable, output: Node, found: Sequence[Found[Node]]
    ) -> None:
        """Notes what the slots of a reader are of in a document that was parsed: nodes of the tree
        that has the output node."""
        cut = self._cut_of(document)
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

    def _cut_of(self, document: Document) -> tuple[str, list[str]] | None:
        """A document in parts, after its markup; None for one that must be parsed.  Several may
        read the same one in a row."""
        if document is not self._document:
            self._document, self._cut = document, self._newly_cut(document)
        return self._cut

    def _newly_cut(self, document: Document) -> tuple[str, list[str]] | None:
        body = document.body
        if not isinstance(body, str | bytes | Body) or size_of(body) > LONGEST:
            return None
        if not self._known.pay:
            return None
        cut = cut_text(body.read() if isinstance(body, Body) else body)
        return None if cut is None or len(cut[1]) > _FEW else cut


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
