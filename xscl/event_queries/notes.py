"""Notes on an event query: costs and meanings that its writer may not have meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal

from xscl.event_queries.bounds import bounds
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.event_queries.functions import OWN
from xscl.pattern_stage.algebra import nodes
from xscl.pattern_stage.algebra.nodes import Condition
from xscl.pattern_stage.values.terms import Column, Truth, leaves

__all__ = ["notes"]

_READING = ("condition", "continuing", "items", "keys", "aggregates")
_ADVICE = "write `DUR <= 1 h` in its braces"


def notes(compiled: CompiledEvents) -> list[str]:
    """The notes on a query, each once."""
    found = chain(_notes(compiled.root, bounded=False), _of_documents(compiled.step))
    return list(dict.fromkeys(found))


def _of_documents(step: Step) -> Iterator[str]:
    """The names that are attributes here, and may be meant for those that all documents have."""
    for side, inner in enumerate(step.inputs):
        yield from _of_documents(inner)
        if step.node is not inner.node and inner.schema.open:
            parts = tuple(getattr(step.node, part, ()) for part in _READING)
            read = [one for one in leaves(parts) if isinstance(one, Column) and one.side == side]
            for name in sorted(OWN & {one.name for one in read}):
                if not inner.schema.has(name):
                    own = {"document": "id", "timestamp": "time"}[name]
                    yield (
                        f"`{name}` is an attribute of that name; the {own} of a document is "
                        f"`{name}()`"
                    )


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
        case nodes.Iterate(condition, continuing) if not _bounded(condition, None):
            if bounded:
                yield _cut("FOLD")
            elif not continuing:
                kept = "nothing ends an iteration, so that each event on its left is kept for good"
                yield f"FOLD without a bound on DUR: {kept}; {_ADVICE}"
            elif not _bounded(continuing, None):
                kept = "an iteration that no event ends is kept for good"
                yield f"FOLD without a bound on DUR: {kept}; {_ADVICE}"
        case nodes.Aggregate(window=None):
            yield "WINDOW{INF}: each group is kept for good"
    for one in node.inputs:
        yield from _notes(one, bounded=below)


def _cut(operator: str) -> str:
    return (
        f"FILTER with a bound on DUR above {operator} cuts results alone; write the bound in "
        f"{operator}'s braces, too, so that what is too old is dropped"
    )


def _bounded(condition: Condition, side: Literal[0] | None) -> bool:
    """Whether a conjunct bounds the DUR of a side, or of the composite, from above."""
    return any(True for _ in bounds(condition, (side,)))
