"""How large a query may be: bounds that no sensible query meets, so that none can do harm.

What a query costs to dissect grows faster than its text: with the depth of its patterns, the
steps that bind or lead to what is bound, and the comparisons that hold together.
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.problems import Problem
from xscl.language.syntax import (
    Binary,
    Block,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Path,
    Predicate,
    Source,
    Step,
)

__all__ = ["limits"]

_DEEPEST = 256
_MOST_STEPS = 2_000
_MOST_COMPARISONS = 32
_MOST_DISJUNCTS = 256


def limits(source: Source) -> Iterator[Problem]:
    """The bounds that a query's blocks and predicates pass."""
    if isinstance(source, Block):
        yield from _block(source)
        return
    yield from limits(source.left)
    if source.predicate is not None:
        yield from _predicate(source.predicate)
    yield from limits(source.right)


def _block(block: Block) -> Iterator[Problem]:
    for count, (depth, step) in enumerate(_steps(block.steps, 0), 1):
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
            for path in _binding(condition):
                yield from _steps(path.steps, depth)


def _binding(condition: Condition) -> Iterator[Path]:
    """The paths of a filter that may bind: its conjuncts."""
    if isinstance(condition, Path):
        yield condition
    elif isinstance(condition, Binary) and condition.operator == "and":
        yield from _binding(condition.left)
        yield from _binding(condition.right)


def _predicate(predicate: Predicate) -> Iterator[Problem]:
    disjuncts, comparisons = _size(predicate)
    if disjuncts > _MOST_DISJUNCTS:
        yield Problem(
            predicate.at,
            f"this predicate splits into more than {_MOST_DISJUNCTS} disjuncts (those of parts "
            "joined by AND multiply); write several queries",
        )
    elif comparisons > _MOST_COMPARISONS:
        yield Problem(
            predicate.at,
            f"more than {_MOST_COMPARISONS} comparisons are joined by AND in this predicate; "
            "compare less, or what contains it all",
        )


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
