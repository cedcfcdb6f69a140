"""What keeps an event query or a pattern from matching, in a sentence: of the documents that it
reads themselves, the first stream, name or condition that none of a sample had.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from xscl.documents.document import Document
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.event_queries.functions import nearest
from xscl.language.syntax import Block, Filtered, Query
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select, Union
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.values.terms import Column, leaves
from xscl.stream_names import is_internal
from xscl.why.events.judge import Judge
from xscl.why.findings import Finding, instead

__all__ = ["Reading", "lacking", "read_by_events"]

Seen = tuple[Sequence[Finding], Collection[str] | None]
"""The findings of a block on a document, and the names of the attributes of an event of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A block, the names that are asked of its events, and what a document of its stream is to
    it."""

    block: Block
    asked: tuple[str, ...]
    of: Callable[[int], Iterable[Seen]]


def lacking(
    readings: Iterable[Reading], documents: Sequence[Document], *, names_only: bool = False
) -> str | None:
    """The first thing that none of some documents had; None if nothing is known."""
    if not documents:
        return None
    for reading in readings:
        stream = reading.block.stream.text
        if is_internal(stream):
            continue
        places = [place for place, one in enumerate(documents) if one.stream == stream]
        if not places:
            near = _instead(stream, dict.fromkeys(one.stream for one in documents))
            return f"no document is of stream `{stream}`{near}"
        seen = [one for place in places for one in reading.of(place)]
        names = dict.fromkeys(name for _, some in seen for name in some or ())
        for name in reading.asked:
            if names and name not in names:
                return f"no document of {stream} had `{name}`{_instead(name, names)}"
        found = [findings for findings, _ in seen]
        if not names_only and not any(all(one.holds for one in some) for some in found):
            return _unmet(stream, found)
    return None


def read_by_events(
    query: Query, compiled: CompiledEvents, documents: Sequence[Document]
) -> Iterator[Reading]:
    """The blocks of an event query, each with the FILTERs right above it."""
    judge = Judge(query, compiled, documents)

    def of(top: Step, place: int) -> Iterator[Seen]:
        for way in judge.ways(top, (place,)):
            yield way.findings, None if way.event is None else way.event.attributes

    for top, block, asked in _read(compiled.step, ()):
        yield Reading(block, asked, partial(of, top))


def _unmet(stream: str, found: Sequence[Sequence[Finding]]) -> str | None:
    """The first condition that no document met."""
    filters = [one for findings in found for one in findings if one.kind == "filter"]
    met = {one.text: False for one in filters} | {one.text: True for one in filters if one.holds}
    for text, holds in met.items():
        if not holds:
            near = (instead(one) for one in filters if one.text == text)
            return f"no document of {stream} met `{text}`{next(filter(None, near), '')}"
    if met:
        return f"no document of {stream} met all of {', '.join(f'`{text}`' for text in met)}"
    return None


def _instead(name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    if near is not None:
        return f"; did you mean `{near}`?"
    there = [f"`{one}`" for one in known if not one.endswith("()")]
    return f"; there is {', '.join(there[:6])}" if there else ""


def _read(step: Step, asked: tuple[str, ...]) -> Iterator[tuple[Step, Block, tuple[str, ...]]]:
    """The blocks that a query requires, from the first to the last, each with the FILTERs right
    above it, and the names that are asked of its events; `asked` are those that the operator above
    asks."""
    top, names = step, list(asked)
    while isinstance(step.part, Filtered):
        # `FILTER{}` is no node of its own.
        if isinstance(step.node, Select):
            names += _columns(step.node.condition, 0)
        (step,) = step.inputs
    if isinstance(step.part, Block):
        yield top, step.part, tuple(dict.fromkeys(names))
        return
    node = step.node
    if isinstance(node, Union):
        # What one side lacks, the other may have.
        return
    for side, one in enumerate(step.inputs):
        below: list[str] = []
        if isinstance(node, Following | Iterate):
            below += _columns(node.condition, side)
            below += _columns(node.continuing, side) if isinstance(node, Iterate) else ()
        elif isinstance(node, Map | Aggregate) and node is not one.node:
            below += _columns(node.items, 0)
        yield from _read(one, tuple(below))


def _columns(term: object, side: int) -> list[str]:
    """The names that a term reads of a side."""
    return [one.name for one in leaves(term) if isinstance(one, Column) and one.side == side]
