"""One condition's finding on some documents, and its tally over many.

Conditions stand in the order in which they are judged, each on what those above it leave; one that
is false is left out for those below it, so that all that fails is seen and not only the first.
Where a predicate has OR, what only some of its disjuncts have bears the disjunct's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from xscl.pattern_stage.algebra.functions import as_text
from xscl.pattern_stage.values.interpreter import Interpreter
from xscl.pattern_stage.values.terms import (
    MISSING,
    Age,
    And,
    Comparison,
    Constant,
    ForAll,
    Not,
    Or,
    Predicate,
    Spread,
    Truth,
)
from xscl.times import span
from xscl.why.near_values import SPELLING, Near, near_equal

__all__ = [
    "LISTED",
    "Finding",
    "Kind",
    "Miss",
    "Tally",
    "Values",
    "instead",
    "judged_by",
    "likeness_of",
    "reached",
    "shown_sides",
    "values_of",
]

Kind = Literal["stream", "step", "filter", "documents", "time", "comparison"]

LISTED = 20
"""Misses that are listed of one condition."""

_SHOWN = 5
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Values:
    """A few values, long ones shortened, and how many more there are."""

    shown: tuple[str, ...]
    more: int = 0


def values_of(values: Iterable[str | None], first: str | None = None) -> Values:
    """Distinct values as they are shown, `first` before all others; None, which is NaN, as `NaN`.

    >>> values_of(["b", "a", "b", None], first="a")
    Values(shown=('a', 'b', 'NaN'), more=0)
    """
    distinct = dict.fromkeys("NaN" if value is None else value for value in values)
    if first is not None:
        distinct = {first: None} | distinct
    shown = [v if len(v) <= _LONGEST else f"{v[: _LONGEST - 1]}…" for v in [*distinct][:_SHOWN]]
    return Values(tuple(shown), max(0, len(distinct) - _SHOWN))


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition and whether it holds.

    `block` is the number of the block it is about, from 1, None where it is about several.
    `holds` is None where nothing is left to judge it on.  `left` and `right` are the values on
    its two sides.  `near` says what keeps a false one from being true ("but for case"), `note`
    what else there is to say.  `satisfied` is the number of nodes (of a comparison: of pairs of
    values, counted to 100,000) for which it holds.
    """

    kind: Kind
    block: int | None
    text: str
    holds: bool | None
    left: Values | None = None
    right: Values | None = None
    near: str | None = None
    note: str | None = None
    satisfied: int = 0
    disjunct: int | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """Documents (by id) that failed by one condition alone, and its finding for them."""

    documents: tuple[str, ...]
    finding: Finding


@dataclass(frozen=True, slots=True)
class Tally:
    """One condition: how many `passed` it and all before it, and how many failed by it `alone`, of
    which a few are listed, near misses first.  A number that is `capped` is a lower bound.

    With `pairs` it is pairs that are counted, else documents.
    """

    kind: Kind
    block: int | None
    text: str
    passed: int
    capped: bool = False
    alone: int = 0
    alone_capped: bool = False
    missed: tuple[Miss, ...] = ()
    pairs: bool = False
    disjunct: int | None = None


def reached(findings: Iterable[Finding]) -> tuple[bool, int, int]:
    """How far documents come: to the end, else by what holds before the first that fails."""
    held = [finding.holds is True for finding in findings]
    first = next((number for number, one in enumerate(held) if not one), len(held))
    return all(held), first, sum(held)


def likeness_of(finding: Finding) -> float:
    """The likeness that the note of a comparison by likeness begins with; 0 of any other."""
    found = re.match(r"likeness ([0-9.e-]+)", finding.note or "")
    return float(found[1]) if found else 0.0


def instead(finding: Finding) -> str:
    """What a condition was all but met by, as the end of a sentence."""
    degree = likeness_of(finding)
    sides = (finding.left, finding.right)
    shown = [value for side in sides if side is not None for value in side.shown[:1]]
    if not ((finding.near or degree) and len(shown) == 2):
        return ""
    left, right = shown
    if degree:
        return f"; '{left}' and '{right}' are most alike, {degree:g}"
    if finding.note is not None:
        # It is a path that all but leads somewhere.
        return f"; {finding.note}"
    if finding.near == SPELLING:
        # What is written is in the text.
        written = any(f"{quote}{left}{quote}" in finding.text for quote in "'\"")
        return f"; did you mean '{right if written else left}'?"
    return f"; '{left}' and '{right}' are equal {finding.near}"


def judged_by(sight: Interpreter, one: Predicate, finding: Finding) -> Finding:
    """A finding with whether a condition holds, the values on the left and the right of its
    comparisons, and what is near."""
    holds, sides = sight.holds(one), shown_sides(sight, one)
    near = None if holds else _near(sight, one)
    firsts = (None, None) if near is None else (near.left, near.right)
    left, right = map(values_of, sides, firsts)
    words = None if near is None else near.words
    return replace(finding, holds=holds, left=left, right=right, near=words)


def _near(sight: Interpreter, one: Predicate) -> Near | None:
    """Values that a condition requires to be equal, and that are all but equal."""
    match one:
        case And(parts) | Or(parts):
            return next(filter(None, (_near(sight, part) for part in parts)), None)
        case Comparison("=", left, right) if MISSING not in map(sight.value, (left, right)):
            written = (at for at, side in enumerate((left, right)) if isinstance(side, Constant))
            return near_equal([shown_sides(sight, one)], written=next(written, None))
    return None


def shown_sides(sight: Interpreter, one: Predicate) -> tuple[list[str], list[str]]:
    """The values on the left and the right of all comparisons in a condition."""
    match one:
        case Truth() | ForAll():
            return [], []
        case Not(operand):
            return shown_sides(sight, operand)
        case And(parts) | Or(parts):
            sides = [shown_sides(sight, part) for part in parts]
            return [v for left, _ in sides for v in left], [v for _, r in sides for v in r]
    ages = isinstance(one.left, Age | Spread) or isinstance(one.right, Age | Spread)
    left, right = (_shown(sight.value(side), ages=ages) for side in (one.left, one.right))
    return [left], [right]


def _shown(value: object, *, ages: bool) -> str:
    if ages and isinstance(value, int):
        return span(value)
    return "(none)" if value is MISSING else as_text(value) or ""
