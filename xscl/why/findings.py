"""What `why` tells: a finding for each condition of a query, judged on some documents.

The conditions stand in the order in which they are judged, each on what those above it leave;
one that is false is left out for those below it, so that all that fails is seen and not only
the first.  Where a predicate has OR, the findings that only some of its disjuncts have bear the
disjunct's number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Finding", "Kind", "Values", "Why", "values_of"]

Kind = Literal["stream", "step", "filter", "documents", "time", "comparison"]

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
    shown = (_shortened(value) for value, _ in zip(distinct, range(_SHOWN), strict=False))
    return Values(tuple(shown), max(0, len(distinct) - _SHOWN))


def _shortened(value: str) -> str:
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition and whether it holds.

    `block` is the number of the block it is about, from 1, None where it is about several.
    `holds` is None where nothing is left to judge it on.  `left` and `right` are the values on
    its two sides.  `near` says what keeps a false one from being true ("but for case"), `note`
    what else is to be said.  `satisfied` is the number of nodes (of a comparison: of pairs of
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
class Why:
    """Why some documents match a query, or do not.

    `documents` are the ids of the blocks' documents, None where none was given; `disjuncts` is
    the number of the query's disjuncts.
    """

    query: str
    documents: tuple[str | None, ...]
    findings: tuple[Finding, ...]
    disjuncts: int = 1

    @property
    def holds(self) -> bool:
        """Whether the documents match."""
        return any(all(f.holds for f in self.of(d + 1)) for d in range(self.disjuncts))

    @property
    def cause(self) -> Finding | None:
        """The first condition that is false, of the disjunct with the fewest false ones; None
        where none is."""
        some = ([f for f in self.of(d + 1) if f.holds is False] for d in range(self.disjuncts))
        fewest: list[Finding] = min(some, key=len)
        return fewest[0] if fewest else None

    def of(self, disjunct: int) -> list[Finding]:
        """The findings that a disjunct consists of, by its number from 1."""
        return [f for f in self.findings if f.disjunct in (None, disjunct)]

    def __str__(self) -> str:
        """As text of 100 columns."""
        from xscl.why.rendering import as_text  # which is made of what is defined here

        return as_text(self)

    def __rich__(self) -> RenderableType:
        """As a table for a terminal."""
        from xscl.why.rendering import why_table

        return why_table(self)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        cause = self.cause
        return {
            "query": self.query,
            "documents": list(self.documents),
            "holds": self.holds,
            "cause": None if cause is None else self.findings.index(cause),
            "findings": [asdict(finding) for finding in self.findings],
        }
