"""What an event query that parses says that cannot be meant, whatever its streams hold
(docs/semantics.md#refused-event-queries); its names are seen to where its streams are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xscl.language.events.walk import conditions, parts
from xscl.language.patterns.check import level_problems
from xscl.language.problems import Problem
from xscl.language.syntax import Events, Fold, Query, Select
from xscl.language.values.walk import atoms

__all__ = ["event_problems", "size_problems"]

_MOST_ITEMS = 2_000
_MOST_COMPARISONS = 1_000


def event_problems(query: Query, *, inner: bool) -> Iterator[Problem]:
    """The problems of an event query without its sub-queries; `inner` says whether it is one."""
    source = query.source
    if not isinstance(source, Events):
        return
    yield from level_problems(source.consistency, inner=inner)
    comparisons = (
        atom
        for part in parts(source.expression)
        for condition in conditions(part)
        for atom in atoms(condition)
    )
    yield from size_problems(comparisons, query.select)
    for part in parts(source.expression):
        if isinstance(part, Fold) and len(part.aggregates) > _MOST_ITEMS:
            at = part.aggregates[_MOST_ITEMS].at
            yield Problem(at, f"a FOLD has at most {_MOST_ITEMS:,} aggregates")


def size_problems(comparisons: Iterable[Any], select: Select) -> Iterator[Problem]:
    """The comparison and the item, if any, with which a query has more than it may."""
    for number, atom in enumerate(comparisons):
        if number == _MOST_COMPARISONS:
            problem = f"a query has at most {_MOST_COMPARISONS:,} comparisons and tests, without "
            yield Problem(atom.at, problem + "its sub-queries'; write several queries")
            break
    if isinstance(select, tuple) and len(select) > _MOST_ITEMS:
        at = select[_MOST_ITEMS].path.at
        yield Problem(at, f"a SELECT has at most {_MOST_ITEMS:,} items")
