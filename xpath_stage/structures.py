"""Structures: documents with the same names in the same places leave the same layout.

What a walk finds out is a function of a document's structure, unless filters or attributes come
in; so it is remembered by the names of its elements and the numbers of their children, and the
next such document is not walked at all: its texts are read where the first one's were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from xpath_stage.layouts import Layout, Trace

__all__ = ["FEW", "Alike", "Structure", "Structures", "structure_of"]

FEW = 500
"""Documents of so many elements are not compared with others."""

_REMEMBERED = 300_000
"""So many elements of structures are remembered."""

_CREDIT = 1_000
"""So many documents in a row that are like none before show that they rarely are."""

Structure = tuple[str, tuple[object, ...], tuple[int, ...]]
"""A stream; the names of elements (comments and the like among them) in document order; the
numbers of their children, none where all are children of the first."""


@dataclass(frozen=True, slots=True)
class Alike:
    """The trace of all documents of a structure: a layout, and the elements whose texts are its
    strings, as places in document order."""

    layout: Layout
    texts: tuple[int, ...]


def structure_of(stream: str, elements: Sequence[etree._Element]) -> Structure:
    """The structure of a document, in document order."""
    names = tuple([element.tag for element in elements])
    if elements and len(elements[0]) == len(elements) - 1:
        # All others are the first one's children.
        return stream, names, ()
    return stream, names, tuple(map(len, elements))


class Structures:
    """What is known of structures, as long as paths mean what they do.

    Where documents are rarely alike they are not compared for a while: `pay` says whether to.
    """

    def __init__(self) -> None:
        self._known: dict[Structure, Alike] = {}
        self._elements = 0
        self._credit = _CREDIT

    @property
    def pay(self) -> bool:
        """Whether the next document is to be looked up."""
        if self._credit > 0:
            return True
        self._credit -= 1
        if self._credit < -_CREDIT:
            self._credit = _CREDIT // 10
        return False

    def find(self, structure: Structure) -> Alike | None:
        """The trace of the documents of a structure, if it is known."""
        alike = self._known.get(structure)
        if alike is None:
            self._credit -= 1
        elif self._credit < _CREDIT:
            self._credit += 1
        return alike

    def remember(
        self, structure: Structure, trace: Trace, reads: Sequence[int], layout: Layout
    ) -> None:
        """Remembers what a document has left, whose trace is that of its elements alone; `reads`
        says of which paths the texts were read."""
        _, names, _ = structure
        elements = [place for place, name in enumerate(names) if isinstance(name, str)]
        texts = (place for place, path in zip(elements, trace, strict=True) if reads[path])
        if self._elements > _REMEMBERED:
            self.clear()
        self._known[structure] = Alike(layout, tuple(texts))
        self._elements += len(names)

    def clear(self) -> None:
        """Forgets all: a path may mean something else now."""
        self._known.clear()
        self._elements = 0
