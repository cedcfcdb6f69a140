"""Notes on an event query: costs and meanings that its writer may not have meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pattern_stage.algebra import nodes
from pattern_stage.algebra.localised import inputs
from pattern_stage.algebra.nodes import Condition
from pattern_stage.algebra.terms import Truth
from xscl.event_queries.bounds import bounds
from xscl.event_queries.compile import CompiledEvents

__all__ = ["notes"]

_ADVICE = "write `DUR <= 1 h` in its braces"


def notes(compiled: CompiledEvents) -> list[str]:
    """The notes on a query, each once."""
    return list(dict.fromkeys(_notes(compiled.root, bounded=False)))


def _notes(node: nodes.Node, *, bounded: bool) -> Iterator[str]:
    """Those on a plan; `bounded` says that a FILTER right above has a bound on DUR."""
    below = False
    match node:
        case nodes.Select(condition):
            if Truth(False) in condition:
                yield "a FILTER is FALSE: nothing comes through"
            below = bounded or _bounded(condition, 0)
        case nodes.Map():
            below = bounded
        case nodes.Sequence(condition) if condition and not _bounded(condition, None):
            kept = "an event that no other follows is kept for good"
            yield _cut("NEXT") if bounded else f"NEXT without a bound on DUR: {kept}; {_ADVICE}"
        case nodes.Iterate(condition, going_on) if not _bounded(condition, None):
            if bounded:
                yield _cut("FOLD")
            elif not going_on:
                kept = "nothing ends an iteration, so that each event on its left is kept for good"
                yield f"FOLD without a bound on DUR: {kept}; {_ADVICE}"
            elif not _bounded(going_on, None):
                kept = "an iteration that no event ends is kept for good"
                yield f"FOLD without a bound on DUR: {kept}; {_ADVICE}"
        case nodes.Aggregate(window=None):
            yield "WINDOW{INF}: each group is kept for good"
    for one in inputs(node):
        yield from _notes(one, bounded=below)


def _cut(operator: str) -> str:
    return (
        f"FILTER with a bound on DUR above {operator} cuts results alone; write the bound in "
        f"{operator}'s braces, too, so that what is too old is let go"
    )


def _bounded(condition: Condition, side: Literal[0] | None) -> bool:
    """Whether a conjunct bounds the DUR of a side, or of the composite, from above."""
    return any(True for _ in bounds(condition, (side,)))
