"""Stage 1 without sharing: each pattern is an XPath expression, compiled by lxml once and evaluated
on each document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from lxml import etree


class Finder(Protocol):
    """What finds the witnesses of the same patterns in a document's text."""

    def witnesses(self, document: str) -> list[tuple[int, int]]: ...


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

    def run(self, documents: Sequence[Mapping[str, Any]]) -> None:
        """Parses documents and evaluates the patterns, and does nothing with what they find."""
        for document in documents:
            root = etree.fromstring(document["xml"])
            for evaluate in self._patterns:
                evaluate(root)

    def check(self, other: Finder, documents: Sequence[Mapping[str, Any]]) -> None:
        """Raises AssertionError unless the other finds the same in the documents."""
        for document in documents:
            expected = sorted(self.witnesses(etree.fromstring(document["xml"])))
            if sorted(other.witnesses(document["xml"])) != expected:
                raise AssertionError(f"other witnesses in {document['xml']}")
