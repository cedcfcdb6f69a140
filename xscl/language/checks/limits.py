"""How large a query may be: bounds that no sensible query meets, so that none can do harm.

A text is measured before it is read.  The cost of dissecting a query grows faster than its
text: with its blocks, the depth of their patterns, the steps that bind or lead to a binding, and
the comparisons that hold together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from xscl.language.conditions import conjuncts_of, paths_of
from xscl.language.problems import Problem
from xscl.language.scan import Statement
from xscl.language.syntax import (
    Block,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Path,
    Predicate,
    Query,
    Step,
    SubQuery,
)
from xscl.language.walk import operands, operators, with_sub_queries

__all__ = ["MOST_INSERTIONS", "limits", "too_long", "too_many_blocks"]

MOST_INSERTIONS = 2_000
"""How many paths a SELECT may have: each may insert a whole document."""

_LONGEST = 1_000_000
_DEEPEST = 256
_MOST_STEPS = 2_000
_MOST_FILTERS = 2_000
_MOST_BLOCKS = 256
_MOST_COMPARISONS = 32
_MOST_DISJUNCTS = 256


def too_long(statement: Statement) -> Problem | None:
    """The place, if any, from which on a statement has more characters than it may."""
    if statement.end - statement.start <= _LONGEST:
        return None
    problem = f"a query has at most {_LONGEST:,} characters; write several queries"
    return Problem(statement.start + _LONGEST, problem)


def too_many_blocks(query: Query) -> Problem | None:
    """The block, if any, with which a query and its sub-queries have more than they may."""
    parts = with_sub_queries(query)
    places = sorted(operand.at for part in parts for operand in operands(part.source))
    if len(places) <= _MOST_BLOCKS:
        return None
    problem = f"a query has at most {_MOST_BLOCKS} blocks, its sub-queries' included"
    return Problem(places[_MOST_BLOCKS], problem)


def limits(query: Query) -> Iterator[Problem]:
    """The bounds that a query passes without its sub-queries: the tree patterns of its blocks,
    the predicates of all its operators."""
    for operand in operands(query.source):
        yield from _pattern(operand)
    filters = (one for operand in operands(query.source) for one in _filters(operand.steps))
    beyond = next(itertools.islice(filters, _MOST_FILTERS, None), None)
    if beyond is not None:
        yield Problem(
            beyond.at, f"a query has at most {_MOST_FILTERS:,} filters; write several queries"
        )
    predicates = [
        join.predicate for join, _ in operators(query.source) if join.predicate is not None
    ]
    yield from _predicates(sorted(predicates, key=lambda predicate: predicate.at))


def _pattern(operand: Block | SubQuery) -> Iterator[Problem]:
    for count, (depth, step) in enumerate(_steps(operand.steps, 0), 1):
        if depth > _DEEPEST:
            yield Problem(
                step.at,
                f"this step can only match {depth} levels deep or more; "
                f"documents have at most {_DEEPEST}",
            )
            return
        if count > _MOST_STEPS:
            yield Problem(
                step.at,
                f"a block has at most {_MOST_STEPS:,} steps that bind or lead to what is bound; "
                "write several queries",
            )
            return


def _steps(steps: tuple[Step, ...], depth: int) -> Iterator[tuple[int, Step]]:
    """The steps of a tree pattern, each with the least depth at which it can match."""
    for step in steps:
        depth += step.test != "." and not step.test.startswith("@")
        yield depth, step
        for condition in step.filters:
            for path in conjuncts_of(condition):
                if isinstance(path, Path):
                    yield from _steps(path.steps, depth)


def _filters(steps: tuple[Step, ...]) -> Iterator[Condition]:
    """All filters of a tree pattern, those within filters included."""
    for step in steps:
        for condition in step.filters:
            yield condition
            for path in paths_of(condition):
                yield from _filters(path.steps)


def _predicates(predicates: list[Predicate]) -> Iterator[Problem]:
    """The first predicate that passes the bounds, alone or with those to its left."""
    all_disjuncts, all_comparisons = 1, 0
    for predicate in predicates:
        disjuncts, comparisons = _size(predicate)
        all_disjuncts *= disjuncts
        all_comparisons += comparisons
        if all_disjuncts > _MOST_DISJUNCTS:
            what = "this predicate splits"
            if disjuncts <= _MOST_DISJUNCTS:
                what = "with those to its left, this predicate splits"
            yield Problem(
                predicate.at,
                f"{what} into more than {_MOST_DISJUNCTS} disjuncts (those of parts "
                "joined by AND multiply); write several queries",
            )
            return
        if all_comparisons > _MOST_COMPARISONS:
            where = "in this predicate"
            if comparisons <= _MOST_COMPARISONS:
                where = "in this predicate and those to its left"
            yield Problem(
                predicate.at,
                f"more than {_MOST_COMPARISONS} comparisons are joined by AND {where}; "
                "compare less, or what contains it all",
            )
            return


def _size(predicate: Predicate) -> tuple[int, int]:
    """The disjuncts that a predicate splits into, and the comparisons of the longest."""
    if isinstance(predicate, Comparison):
        return 1, 1
    sizes = [_size(part) for part in predicate.parts]
    if isinstance(predicate, Disjunction):
        return sum(size[0] for size in sizes), max(size[1] for size in sizes)
    assert isinstance(predicate, Conjunction)
    disjuncts = 1
    for size in sizes:
        # Far beyond the bound, exact numbers would only grow without end.
        disjuncts = min(disjuncts * size[0], 10 * _MOST_DISJUNCTS)
    return disjuncts, sum(size[1] for size in sizes)
