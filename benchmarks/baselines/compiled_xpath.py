"""Stage 1 without sharing: each pattern is an XPath expression, compiled by lxml once and evaluated
on each document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from lxml import etree


class CompiledXPath:
    """The patterns, compiled."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [etree.XPath(pattern) for pattern in patterns]

    def witnesses(self, document: etree._Element) -> list[tuple[int, int]]:
        """The witnesses as (number of the pattern, number of the element in document order)."""
        numbers = {element: number for number, element in enumerate(document.iter())}
        return [
            (pattern, numbers[element])
            for pattern, evaluate in enumerate(self._patterns)
            for element in cast(list[etree._Element], evaluate(document))
        ]
