"""What keeps an event query that has found nothing from matching, in a sentence: of the documents
that it reads themselves, the first stream, name or condition that none of a sample had.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass

from pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select
from pattern_stage.algebra.nodes import Sequence as Following
from pattern_stage.algebra.terms import Column
from xscl.documents.document import Document
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.event_queries.functions import nearest
from xscl.language.syntax import Block, Query
from xscl.stream_names import is_internal
from xscl.why.events.judge import Judge
from xscl.why.findings import Finding

__all__ = ["lacking_event"]


def lacking_event(
    query: Query, compiled: CompiledEvents, documents: Sequence[Document], fed: Collection[str]
) -> str | None:
    """The first thing that none of some documents had; None if nothing is known.  The streams that
    are `fed` have no documents of their own."""
    judge = Judge(query, compiled, documents)
    for top, block, asked in _read(compiled.step, ()):
        stream = block.stream.text
        places = [place for place, one in enumerate(documents) if one.stream == stream]
        if is_internal(stream) or stream in fed or not documents:
            continue
        if not places:
            near = _instead(stream, dict.fromkeys(one.stream for one in documents))
            return f"no document is of stream `{stream}`{near}"
        ways = [judge.ways(top, (place,)) for place in places]
        events = [way.event for some in ways for way in some if way.event is not None]
        names = dict.fromkeys(name for event in events for name in event.attributes)
        for name in asked:
            if events and name not in names:
                return f"no document of {stream} had `{name}`{_instead(name, names)}"
        found = [way.findings for some in ways for way in some]
        if not any(all(one.holds for one in findings) for findings in found):
            return _unmet(stream, found)
    return None


def _unmet(stream: str, found: Sequence[Sequence[Finding]]) -> str | None:
    """The first condition that no document met."""
    met: dict[str, bool] = {}
    for findings in found:
        for one in findings:
            if one.kind == "filter":
                met[one.text] = met.get(one.text, False) or bool(one.holds)
    unmet = [text for text, holds in met.items() if not holds]
    if unmet:
        return f"no document of {stream} met `{unmet[0]}`"
    if met:
        return f"no document of {stream} met all of {', '.join(f'`{text}`' for text in met)}"
    return None


def _instead(name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    if near is not None:
        return f"; did you mean `{near}`?"
    return f"; there is {', '.join(f'`{one}`' for one in list(known)[:6])}" if known else ""


def _read(step: Step, asked: tuple[str, ...]) -> Iterator[tuple[Step, Block, tuple[str, ...]]]:
    """The blocks of a query from the first to the last, each with the FILTERs right above it, and
    the names that are asked of its events; `asked` are those that the operator above asks."""
    top, names = step, list(asked)
    while isinstance(step.node, Select) and not isinstance(step.part, Query) and step.inputs:
        names += _columns(step.node.condition, 0)
        (step,) = step.inputs
    if isinstance(step.part, Block):
        yield top, step.part, tuple(dict.fromkeys(names))
        return
    node = step.node
    for side, one in enumerate(step.inputs):
        below: list[str] = []
        if isinstance(node, Following | Iterate):
            below += _columns(node.condition, side)
            below += _columns(node.going_on, side) if isinstance(node, Iterate) else ()
        elif isinstance(node, Map | Aggregate) and node is not one.node:
            below += _columns(node.items, 0)
        yield from _read(one, tuple(below))


def _columns(term: object, side: int) -> Iterator[str]:
    """The names that a term reads of a side."""
    if isinstance(term, Column):
        if term.side == side:
            yield term.name
    elif isinstance(term, tuple):
        for one in term:
            yield from _columns(one, side)
    elif is_dataclass(term):
        for member in fields(term):
            yield from _columns(getattr(term, member.name), side)
