"""Stage 1 alone: path patterns, as XPath text, into the witnesses that the engine finds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from xscl.xpath_stage import (
    Definition,
    Spine,
    Step,
    Strings,
    Witnesses,
    XPathEvaluator,
    evaluate_text,
)

STEP = re.compile(r"(//?)([^/]+)")
STREAM = "S"


class PatternSet:
    """Patterns, registered together.  `valued` are those whose string values are needed, too, as
    those of joining leaves are."""

    def __init__(self, patterns: Sequence[str], *, valued: Collection[str] = ()) -> None:
        self._evaluator = XPathEvaluator(Strings())
        self._patterns: dict[int, list[int]] = {}
        for number, pattern in enumerate(patterns):
            steps = steps_of(pattern)
            spine = Spine(STREAM, steps, (len(steps) - 1,), () if pattern in valued else None)
            self._patterns.setdefault(self._evaluator.register(spine), []).append(number)

    def evaluate(self, document: str, to: Witnesses) -> None:
        """Reads a document and leaves its witnesses."""
        evaluate_text(self._evaluator, STREAM, document, 0, to)

    def witnesses(self, document: str) -> list[tuple[int, int]]:
        """The witnesses as (number of the pattern, number of the element in document order)."""
        rows = Witnesses()
        self.evaluate(document, rows)
        return [
            (pattern, node)
            for _, node, path, _, _ in rows.rows()
            for spine in self._evaluator.spines_of(path)
            for pattern in self._patterns[spine]
        ]


def evaluate_all(patterns: PatternSet, documents: Sequence[Mapping[str, Any]]) -> None:
    """Leaves the witnesses of all documents, and does nothing with them."""
    rows = Witnesses()
    for document in documents:
        patterns.evaluate(document["xml"], rows)


def steps_of(pattern: str) -> Definition:
    """The steps of an absolute path of names and wildcards.

    >>> [step.axis for step in steps_of("/a//*")]
    ['child', 'descendant']
    """
    return tuple(
        Step("descendant" if axis == "//" else "child", name)
        for axis, name in STEP.findall(pattern)
    )
