"""Structures: documents that are built alike leave the same layout.

What a walk finds out is a function of a document's structure, unless filters come in; so it is
remembered by what stands for the structure (the markup of a text, the keys of a JSON value), and
the next such document is neither parsed nor walked: its values are read where the first one's were.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter

from xpath_stage.layouts import Layout
from xpath_stage.parsing.markup import attribute_values
from xpath_stage.strings import Strings
from xpath_stage.values import apply

__all__ = ["FEW", "Alike", "Asked", "StreamStructures", "Structures"]

FEW = 500
"""Documents of so many elements are not compared with others."""

_REMEMBERED = 300_000
"""So many elements of structures are remembered, of all streams."""

_MET = 100_000
"""So many structures of a stream are known to have been met."""

_STREAMS = 1_000
"""So many streams have structures."""

_CREDIT = 1_000
"""So many documents in a row that are like none before show that they rarely are."""

Asked = tuple[slice, tuple[str, ...]]
"""A value that is asked for: the parts of a document that make it, and the functions that are
applied to it."""


class Alike:
    """What all documents of a structure leave: a layout, and strings that are read in their parts,
    after which come the values of their attributes, if any is `attributes` asked for."""

    __slots__ = ("_asked", "_plain", "attributes", "layout")

    def __init__(self, layout: Layout, asked: Sequence[Asked], *, attributes: bool) -> None:
        self.layout = layout
        self.attributes = attributes
        self._asked = asked
        self._plain: Callable[[Sequence[str]], Sequence[str]] | None = None
        places = [
            parts.start
            for parts, functions in asked
            if parts.stop - parts.start == 1 and not functions
        ]
        if len(places) == len(asked) > 1:
            self._plain = itemgetter(*places)

    def numbers(self, parts: list[str], strings: Strings) -> list[int]:
        """The numbers of a document's strings."""
        if self.attributes:
            parts += attribute_values(parts)
        if self._plain is not None:
            return list(map(strings.numbers.__getitem__, self._plain(parts)))
        numbers: list[int] = []
        for some, functions in self._asked:
            value = apply(functions, "".join(parts[some]))
            numbers.append(strings.unequal() if value is None else strings.numbers[value])
        return numbers


class StreamStructures(dict[Hashable, Alike]):
    """What is known of the structures of one stream's documents; None stands for one of which
    nothing can be known.

    Where they are rarely alike they are not compared for a while: `pay` says whether to, and that
    it pays while there is `credit`.
    """

    __slots__ = ("_met", "credit")

    def __init__(self) -> None:
        super().__init__()
        self.credit = _CREDIT
        self._met: set[int] = set()

    @property
    def pay(self) -> bool:
        """Whether the next document is to be looked up."""
        if self.credit > 0:
            return True
        self.credit -= 1
        if self.credit < -_CREDIT:
            self.credit = _CREDIT // 10
        return False

    def find(self, cut: tuple[Hashable, list[str]] | None) -> Alike | None:
        """What a document leaves of which this is cut off, if its structure is known."""
        alike = self.get(cut[0]) if cut is not None else None
        if alike is None:
            self.credit -= self.credit > 0
        elif self.credit < _CREDIT:
            self.credit += 1
        return alike

    def again(self, structure: Hashable) -> bool:
        """Whether a document of a structure, or one of its hash, was met before: most of those that
        are met once are never met again, and looking into them costs more than cutting."""
        number = hash(structure)
        if number in self._met:
            return True
        if len(self._met) > _MET:
            self._met.clear()
        self._met.add(number)
        return False


class Structures(dict[str, StreamStructures]):
    """What is known of structures, by stream, as long as paths mean what they do."""

    def __init__(self) -> None:
        super().__init__()
        self._elements = 0

    def __missing__(self, stream: str) -> StreamStructures:
        if len(self) > _STREAMS:
            self.clear()
        of = self[stream] = StreamStructures()
        return of

    def remember(self, stream: str, structure: Hashable, alike: Alike, elements: int) -> None:
        """Remembers what a document of so many elements leaves."""
        if self._elements > _REMEMBERED:
            self.forget()
        self[stream][structure] = alike
        self._elements += elements

    def forget(self) -> None:
        """Forgets all: a path may mean something else now."""
        for of in self.values():
            of.clear()
        self._elements = 0
