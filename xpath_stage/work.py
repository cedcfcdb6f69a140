"""A bound on the work that one document may cause in stage 1 (law 11).

Structure costs one lookup an element whatever the queries; filters and string values do not:
a search below each of many nested elements, a comparison of all pairs of two long lists, the
text of a large document once for each of its ancestors, one value at thousands of nodes.  What
a filter may cost is estimated before it runs; a document beyond the bound is refused, whatever
its queries would have said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import cast

from lxml import etree

from xpath_stage.patterns import Filter

__all__ = ["ExcessiveDocument", "Work"]

_STEPS = 100_000_000
_CHARACTERS = 100_000_000
_LITTLE_TEXT = 50_000
_ROWS_COUNTED_FROM = 1_000
_ALIKE = 16
_EQUAL = 3_000

_text = etree.XPath("string-length(/)")
_elements_below = etree.XPath("count(descendant::*)")
_text_below = etree.XPath("string-length(.)")


class ExcessiveDocument(ValueError):
    """A document that would cause more work than one may."""


class Work:
    """What is left for one document: filter steps, characters of string values, equal leaves.

    A large document has of the first two `times` as many as another.
    """

    __slots__ = ("_alike", "_characters", "_depth", "_equal", "_little_text", "_rows", "_steps")

    def __init__(self, times: float = 1) -> None:
        self._steps = _STEPS * times
        self._characters = _CHARACTERS * times
        self._rows = 0
        self._alike: Counter[object] = Counter()
        self._equal: Counter[object] = Counter()
        self._depth: int | None = None
        self._little_text: bool | None = None

    def next_part(self) -> None:
        """Another part of a document is there now, instead of what was: how much text it has and
        how deep it is may be other than before."""
        self._depth = self._little_text = None

    def evaluate(self, filter: Filter, context: etree._Element) -> None:
        """Before a filter is evaluated at a node; raises ExcessiveDocument.

        A search (`//`) may visit all of the subtree, one within another all of it again for
        each node on the way; what reads strings, all of its text; a comparison of two paths all
        pairs of their nodes.
        """
        reach: float = len(context) + 1
        searches = filter.searches
        if searches:
            reach += cast(float, _elements_below(context))
        if filter.strings:
            if self._little_text is None:
                self._little_text = cast(float, _text(context)) < _LITTLE_TEXT
            if not self._little_text:
                # Characters are copied, many at a time.
                reach += cast(float, _text_below(context)) / 16
                searches += bool(searches)
        steps = reach
        if searches > 1:
            steps *= min(reach, self._depth_of(context)) ** (searches - 1)
        self._steps -= steps * reach if filter.pairs else steps
        if self._steps < 0:
            raise ExcessiveDocument(
                f"its filters would take more than {_STEPS:,} steps; "
                "narrow the queries' filters or split the document"
            )

    def _depth_of(self, context: etree._Element) -> int:
        """How deep the document is: nothing can be within more nodes than that."""
        if self._depth is None:
            self._depth = 0
            level = [context.getroottree().getroot()]
            while level:
                self._depth += 1
                level = [child for element in level for child in element]
        return self._depth

    def take_string(self, value: str) -> None:
        """After a string value has been taken; raises ExcessiveDocument."""
        self._characters -= len(value)
        if self._characters < 0:
            raise ExcessiveDocument(
                f"the string values that queries compare have more than {_CHARACTERS:,} "
                "characters in all; bind leaves instead of whole subtrees"
            )

    def counts(self) -> bool:
        """Whether the document has left so many rows that `keeps` must be asked."""
        self._rows += 1
        return self._rows > _ROWS_COUNTED_FROM

    def keeps(self, leaf: int, string: int | None, marked: Iterable[int]) -> bool:
        """Whether a leaf must leave a row: False where many alike, of the same string below the
        same marked nodes, have left one already.  Raises ExcessiveDocument.

        Equal values are joined all with all: a value that stands a thousand times in two
        documents makes a million pairs.
        """
        if string is None:
            return True
        equal = (leaf, string)
        # Most values stand at few nodes, and of these no more is counted.
        if self._equal[equal] >= _ALIKE:
            alike = (leaf, string, *marked)
            self._alike[alike] += 1
            if self._alike[alike] > _ALIKE:
                return False
        self._equal[equal] += 1
        if self._equal[equal] > _EQUAL:
            raise ExcessiveDocument(
                f"a value that queries join stands at more than {_EQUAL:,} nodes that they tell "
                "apart; filter them or split the document"
            )
        return True
