"""What an event query that parses says that cannot be meant, whatever its streams hold
(patterns-cel.md, sections 1 and 8); its names are seen to where its streams are known."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.events.walk import atoms, conditions, parts
from xscl.language.patterns.check import consistency_problems
from xscl.language.problems import Problem
from xscl.language.syntax import Events, Fold, Query

__all__ = ["event_problems"]

_MOST_ITEMS = 2_000
_MOST_COMPARISONS = 1_000


def event_problems(query: Query, *, inner: bool) -> Iterator[Problem]:
    """The problems of an event query without its sub-queries; `inner` says whether it is one."""
    source = query.source
    if not isinstance(source, Events):
        return
    if inner and source.consistency is not None:
        problem = "a sub-query goes by the level of the query around it; write CONSISTENCY there"
        yield Problem(source.consistency.at, problem)
    else:
        yield from consistency_problems(source.consistency)
    comparisons = (
        atom
        for part in parts(source.expression)
        for condition in conditions(part)
        for atom in atoms(condition)
    )
    for number, atom in enumerate(comparisons):
        if number == _MOST_COMPARISONS:
            problem = f"a query has at most {_MOST_COMPARISONS:,} comparisons and tests, without "
            yield Problem(atom.at, problem + "its sub-queries'; write several queries")
            break
    if isinstance(query.select, tuple) and len(query.select) > _MOST_ITEMS:
        at = query.select[_MOST_ITEMS].path.at
        yield Problem(at, f"a SELECT has at most {_MOST_ITEMS:,} items")
    for part in parts(source.expression):
        if isinstance(part, Fold) and len(part.aggregates) > _MOST_ITEMS:
            at = part.aggregates[_MOST_ITEMS].at
            yield Problem(at, f"a FOLD has at most {_MOST_ITEMS:,} aggregates")
