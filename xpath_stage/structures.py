"""Structures: documents of one structure have the same layout, as far as filters hold alike.

The result of a walk is a function of a document's structure and of the outcomes of filters.  So it
is cached by a key of the structure (the markup of a text, the keys of a JSON value), and below that
by outcomes.  The next such document is neither parsed nor walked: what queries need of it, and what
filters compare, is read from the places where the first one's values were.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from xscl.xpath_stage.constants import Constants, Satisfied
from xscl.xpath_stage.filters import Plain
from xscl.xpath_stage.layouts import Layout
from xscl.xpath_stage.parsing.markup import attribute_values
from xscl.xpath_stage.patterns import Family
from xscl.xpath_stage.strings import Strings
from xscl.xpath_stage.values import apply

__all__ = [
    "FEW",
    "Asked",
    "Comparison",
    "Decision",
    "Outcomes",
    "StreamStructures",
    "StructureLayout",
    "Structures",
]

FEW = 500
"""Documents with at most so many elements are compared with others."""

_MOST_CACHED = 300_000
"""The maximal number of elements of cached structures, over all streams."""

_MET = 100_000
"""The maximal number of structures of a stream that are noted as met."""

_STREAMS = 1_000
"""The maximal number of streams with structures."""

_MOST_VALUES = 1_000
"""The maximal number of values whose comparisons are cached in one place."""

_CREDIT = 1_000
"""After so many documents in a row with new structures, structures count as rarely repeated."""

Known = TypeVar("Known")

Asked = tuple[slice, tuple[str, ...]]
"""A value that a query needs: the parts of a document that compose it, and the functions to apply
to it."""


class StructureLayout:
    """The layout of all documents of a structure, and how to read their strings from their parts.
    If `attributes`, the values of attributes follow the parts."""

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


class Comparison(NamedTuple):
    """A test at the element with that code, given the parts of each value that it compares."""

    test: Family | Plain
    code: int
    values: tuple[slice, ...]


class Decision:
    """The documents of a structure that differ in the outcome of a comparison, with what is known
    of those for which it holds and of the others.

    All comparisons in a row of the same values are made once for each distinct value.
    """

    __slots__ = ("_of_values", "_part", "comparison", "outcomes")

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.outcomes: dict[bool, Decision | StructureLayout] = {}
        self._of_values: dict[Hashable, Decision | StructureLayout] = {}
        self._part: int | None = None
        """The part that is the only value, if it is."""
        if len(comparison.values) == 1:
            (value,) = comparison.values
            self._part = value.start if value.stop - value.start == 1 else None

    def of(
        self, parts: list[str], constants: Constants, satisfied: list[tuple[int, int, Satisfied]]
    ) -> Decision | StructureLayout | None:
        """What is known of a document with these parts; what holds there is added to the
        `satisfied`."""
        test, code, places = self.comparison
        values = ("".join(parts[some]) for some in places)
        if isinstance(test, Plain):
            one = self._part
            return self._after((parts[one],) if one is not None else tuple(values))
        found = constants.satisfied(test, values)
        if found is not None:
            satisfied.append((code, *found))
        return self.outcomes.get(found is not None)

    def _after(self, values: tuple[str, ...]) -> Decision | StructureLayout | None:
        """What is known after all comparisons in a row of these values."""
        known = self._of_values.get(values)
        if known is not None:
            return known
        at: Decision | StructureLayout | None = self
        while isinstance(at, Decision) and at.comparison.values == self.comparison.values:
            test = at.comparison.test
            if not isinstance(test, Plain):
                break
            at = at.outcomes.get(test.holds(values))
        if at is not None and len(self._of_values) < _MOST_VALUES:
            self._of_values[values] = at
        return at


class StreamStructures(dict[Hashable, Known], Generic[Known]):
    """What is known of the structures of one stream's documents.

    Where structures are rarely repeated, they are not compared for a while: `pay` returns whether
    to compare, and counts down; comparing pays while there is `credit`.
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

    def find(self, cut: tuple[Hashable, list[str]] | None) -> Known | None:
        """What is known of a document with these parts."""
        stored = self.get(cut[0]) if cut is not None else None
        if stored is None:
            self.credit -= self.credit > 0
        elif self.credit < _CREDIT:
            self.credit += 1
        return stored

    def undecided(self) -> None:
        """The structure was known, but not with these outcomes: comparing has not paid."""
        self.credit = max(0, self.credit - 2)

    def met_before(self, structure: Hashable) -> bool:
        """Whether a document of a structure, or one with its hash, was met before.  Most structures
        that are met once are never met again, and analysing one costs more than cutting the
        document."""
        number = hash(structure)
        if number in self._met:
            return True
        if len(self._met) > _MET:
            self._met.clear()
        self._met.add(number)
        return False


Outcomes = StreamStructures[Decision | StructureLayout]
"""What is known of the documents of each structure, by the outcomes of comparisons."""


class Structures(dict[str, Outcomes]):
    """The known structures, by stream, as long as paths keep their meaning."""

    def __init__(self) -> None:
        super().__init__()
        self._elements = 0

    def __missing__(self, stream: str) -> Outcomes:
        if len(self) > _STREAMS:
            self.clear()
        of = self[stream] = Outcomes()
        return of

    def store(
        self,
        stream: str,
        structure: Hashable,
        comparisons: Sequence[tuple[Comparison, bool]],
        stored: StructureLayout,
        elements: int,
    ) -> None:
        """Caches the layout of a document with so many elements, for those of its structure for
        which the same comparisons hold."""
        if self._elements > _MOST_CACHED:
            self.drop_all()
        self._elements += elements + len(comparisons)
        known: dict[Any, Decision | StructureLayout] = self[stream]
        place: object = structure
        for comparison, holds in comparisons:
            at = known.setdefault(place, Decision(comparison))
            if not isinstance(at, Decision) or at.comparison != comparison:
                # Its tests were made in another order.
                return
            known, place = at.outcomes, holds
        known[place] = stored

    def drop_all(self) -> None:
        """Drops all structures: a path may have changed its meaning."""
        for of in self.values():
            of.clear()
        self._elements = 0
