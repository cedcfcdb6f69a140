"""The two conditions of an operator on whole documents: that they differ, and their times.

A composite runs from its earliest to its latest document's time
(docs/semantics.md#times-and-durations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xscl.documents.document import Document
from xscl.times import moment, span
from xscl.why.conditions import Operator
from xscl.why.findings import Finding, Values, values_of
from xscl.why.relations import Relation

__all__ = [
    "DIFFERENT",
    "Composite",
    "identity",
    "in_time",
    "judge_documents",
    "judge_time",
    "overshoot",
]

DIFFERENT = "different documents"
"""The text of the condition that the documents of a match differ."""


@dataclass(frozen=True, slots=True)
class Composite:
    """Documents of consecutive blocks, their times in microseconds, and the assignments that are
    left of them."""

    documents: tuple[Document, ...]
    earliest: int
    latest: int
    relations: Sequence[Relation] = ()

    @classmethod
    def of(cls, documents: Sequence[Document], relations: Sequence[Relation] = ()) -> Composite:
        """That of some documents."""
        times = [document.time for document in documents]
        return cls(tuple(documents), min(times), max(times), relations)


def identity(document: Document) -> tuple[int, str, str]:
    """What two copies of one document have in common, and no two documents."""
    return document.number, document.stream, document.id


def in_time(operator: Operator, left: Composite, right: Composite) -> bool:
    """Whether two composites are in an operator's time of each other."""
    return overshoot(operator, left, right) <= 0


def overshoot(operator: Operator, left: Composite, right: Composite) -> float:
    """By how much two composites miss an operator's time, 0 or less where they are in it."""
    window = float("inf") if operator.window is None else operator.window
    if operator.kind == "FOLLOWED BY":
        return max(left.latest - right.earliest + 1, right.latest - left.latest - window)
    return abs(right.latest - left.latest) - window


def judge_documents(left: Composite | None, right: Composite | None) -> Finding:
    """Whether no document stands on both sides of an operator; None where one was not given."""
    if left is None or right is None:
        return Finding("documents", None, DIFFERENT, None)
    pairs = product(left.documents, right.documents)
    both = next((one for one, other in pairs if identity(one) == identity(other)), None)
    return Finding(
        "documents",
        None,
        DIFFERENT,
        both is None,
        values_of(document.id for document in left.documents),
        values_of(document.id for document in right.documents),
        note=None if both is None else f"'{both.id}' is on both sides",
        satisfied=int(both is None),
    )


def judge_time(operator: Operator, left: Composite | None, right: Composite | None) -> Finding:
    """Whether the documents on the two sides of an operator are in its time."""
    if left is None or right is None:
        return Finding("time", None, operator.text, None)
    holds = in_time(operator, left, right)
    too_early = operator.kind == "FOLLOWED BY" and right.earliest <= left.latest
    decisive = right.earliest if too_early else right.latest
    return Finding(
        "time",
        None,
        operator.text,
        holds,
        Values((moment(left.latest),)),
        Values((moment(decisive),)),
        note=_note(operator, left.latest, right.earliest, right.latest),
        satisfied=int(holds),
    )


def _note(operator: Operator, before: int, earliest: int, latest: int) -> str:
    """How far apart in time, and what that must be."""
    window = "" if operator.window is None else f"; the window is {span(operator.window)}"
    if operator.kind == "JOIN":
        return f"{span(abs(latest - before), 2)} apart{window}"
    of = _document(operator.left, "latest")
    if earliest <= before:
        who = _document(operator.right, "earliest")
        if earliest == before:
            return f"{who} comes at the same time as {of}; it must come later"
        return f"{who} comes {span(before - earliest, 2)} before {of}; it must come later"
    return (
        f"{_document(operator.right, 'latest')} comes {span(latest - before, 2)} after {of}{window}"
    )


def _document(blocks: range, which: str) -> str:
    if len(blocks) == 1:
        return f"document {blocks[0] + 1}"
    return f"the {which} of documents {blocks[0] + 1} to {blocks[-1] + 1}"
