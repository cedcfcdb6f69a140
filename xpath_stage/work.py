"""A bound on the work that one document may cause in stage 1 (docs/laws.md#bounded-work).

Structure costs one lookup an element whatever the queries; filters and string values do not: a
search below each of many nested elements, a comparison of all pairs of two long lists, the text of
a large document once for each of its ancestors.  The cost of a filter is estimated before it runs;
a document beyond the bound is refused, even if no query would match.  `equal_leaves` bounds one
value at thousands of nodes.
"""

from __future__ import annotations

from typing import cast

from lxml import etree

from xscl.xpath_stage.patterns import Filter

__all__ = ["ExcessiveDocument", "Work"]

_STEPS = 100_000_000
_CHARACTERS = 100_000_000
_LITTLE_TEXT = 50_000

_text = etree.XPath("string-length(/)")
_elements_below = etree.XPath("count(descendant::*)")
_text_below = etree.XPath("string-length(.)")


class ExcessiveDocument(ValueError):
    """A document that would cause too much work."""


class Work:
    """The remaining budget of one document: filter steps and characters of string values.

    A large document has `times` the budget of another.
    """

    __slots__ = ("_characters", "_depth", "_little_text", "_steps")

    def __init__(self, times: float = 1) -> None:
        self._steps = _STEPS * times
        self._characters = _CHARACTERS * times
        self._depth: int | None = None
        self._little_text: bool | None = None

    def next_part(self) -> None:
        """Notes that another part of a document has replaced the previous one: its amount of text
        and its depth may differ."""
        self._depth = self._little_text = None

    def evaluate(self, filter: Filter, context: etree._Element) -> None:
        """To be called before a filter is evaluated at a node; raises ExcessiveDocument.

        A search (`//`) may visit all of the subtree; a nested one visits all of it again for each
        node on the way.  A filter that reads strings reads all text.  A comparison of two paths
        compares all pairs of their nodes.
        """
        reach: float = len(context) + 1
        searches = filter.searches
        if searches:
            reach += cast(float, _elements_below(context))
        if filter.strings:
            if self._little_text is None:
                self._little_text = cast(float, _text(context)) < _LITTLE_TEXT
            if not self._little_text:
                # Characters are copied, many in one step.
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
        """The depth of the document: no node has more ancestors than that."""
        if self._depth is None:
            self._depth = 0
            level = [context.getroottree().getroot()]
            while level:
                self._depth += 1
                level = [child for element in level for child in element]
        return self._depth

    def take_string(self, value: str) -> None:
        """To be called after a string value has been read; raises ExcessiveDocument."""
        self._characters -= len(value)
        if self._characters < 0:
            raise ExcessiveDocument(
                f"the string values that queries compare have more than {_CHARACTERS:,} "
                "characters in all; bind leaves instead of whole subtrees"
            )
