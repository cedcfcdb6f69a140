"""One condition's finding on some documents, and its tally over many.

Conditions stand in the order in which they are judged, each on what those above it leave; one that
is false is left out for those below it, so that all that fails is seen and not only the first.
Where a predicate has OR, what only some of its disjuncts have bears the disjunct's number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["LISTED", "Finding", "Kind", "Miss", "Tally", "Values", "values_of"]

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
