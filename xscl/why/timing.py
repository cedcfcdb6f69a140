"""The two conditions of an operator on whole documents: that they differ, and their times.

A composite runs from its earliest to its latest document's time (section 3 of the language).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from xscl.documents.document import Document
from xscl.why.durations import moment, span
from xscl.why.findings import Finding, Values, values_of
from xscl.why.operators import Operator

__all__ = ["DIFFERENT", "identity", "in_time", "judge_documents", "judge_time", "overshoot"]

DIFFERENT = "different documents"
"""The text of the condition that the documents of a match differ."""


def identity(document: Document) -> tuple[int, str, str]:
    """What two copies of one document have in common, and no two documents."""
    return document.number, document.stream, document.id


def in_time(operator: Operator, latest_left: int, earliest: int, latest: int) -> bool:
    """Whether a composite that runs from `earliest` to `latest` is in an operator's time of one
    whose latest document is of `latest_left`."""
    window = float("inf") if operator.window is None else operator.window
    if operator.kind == "FOLLOWED BY":
        return earliest > latest_left and latest - latest_left <= window
    return abs(latest - latest_left) <= window


def overshoot(operator: Operator, latest_left: int, earliest: int, latest: int) -> int:
    """By how much a composite that is not in an operator's time of another misses it."""
    window = operator.window or 0
    if operator.kind == "FOLLOWED BY":
        return max(latest_left - earliest, latest - latest_left - window)
    return abs(latest - latest_left) - window


def judge_documents(operator: Operator, documents: Sequence[Document | None]) -> Finding:
    """Whether no document stands on both sides of an operator."""
    left, right = _sides(operator, documents)
    if not left or not right:
        return Finding("documents", None, DIFFERENT, None)
    both = [one for one, other in product(left, right) if identity(one) == identity(other)]
    return Finding(
        "documents",
        None,
        DIFFERENT,
        not both,
        values_of(document.id for document in left),
        values_of(document.id for document in right),
        note=f"'{both[0].id}' is on both sides" if both else None,
        satisfied=int(not both),
    )


def judge_time(operator: Operator, documents: Sequence[Document | None]) -> Finding:
    """Whether the documents on the two sides of an operator are in its time."""
    left, right = _sides(operator, documents)
    if not left or not right:
        return Finding("time", None, operator.text, None)
    before = max(document.time for document in left)
    earliest, latest = min(d.time for d in right), max(d.time for d in right)
    holds = in_time(operator, before, earliest, latest)
    decisive = earliest if operator.kind == "FOLLOWED BY" and earliest <= before else latest
    return Finding(
        "time",
        None,
        operator.text,
        holds,
        Values((moment(before),)),
        Values((moment(decisive),)),
        note=_note(operator, before, earliest, latest),
        satisfied=int(holds),
    )


def _note(operator: Operator, before: int, earliest: int, latest: int) -> str:
    """How far apart in time, and what that must be."""
    window = "" if operator.window is None else f"; the window is {span(operator.window)}"
    if operator.kind == "JOIN":
        return f"{span(abs(latest - before))} apart{window}"
    of = _document(operator.left, "latest")
    if earliest <= before:
        who = _document(operator.right, "earliest")
        if earliest == before:
            return f"{who} comes at the same time as {of}; it must come later"
        return f"{who} comes {span(before - earliest)} before {of}; it must come later"
    return f"{_document(operator.right, 'latest')} comes {span(latest - before)} after {of}{window}"


def _document(blocks: range, which: str) -> str:
    if len(blocks) == 1:
        return f"document {blocks[0] + 1}"
    return f"the {which} of documents {blocks[0] + 1} to {blocks[-1] + 1}"


def _sides(
    operator: Operator, documents: Sequence[Document | None]
) -> tuple[list[Document], list[Document]]:
    """The documents on both sides; none of a side where one of them was not given."""
    sides = ([documents[block] for block in side] for side in (operator.left, operator.right))
    left, right = ([d for d in side if d is not None] if None not in side else [] for side in sides)
    return left, right
