"""Questions about the documents that an engine holds: what they are, how many of them came through
a query's conditions, and what keeps it from matching."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document, is_small
from xscl.documents.intake import Intake
from xscl.documents.trees import content_of, parsed
from xscl.errors import DocumentError, StateError
from xscl.event_queries.compile import CompiledEvents
from xscl.language.syntax import EventPattern
from xscl.language.unparse import Wording
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.patterns.compile_composition import CompiledComposition
from xscl.times import to_seconds
from xscl.why import (
    AutomatonFunnel,
    Funnel,
    Names,
    Reading,
    conditions_of,
    count_automaton,
    funnel,
    funnel_of_composition,
    funnel_of_events,
    funnel_of_sequence,
    lacking,
    missing_name,
    pattern_of,
    read_by_automaton,
    read_by_composition,
    read_by_events,
    read_by_pattern,
    untaken,
    where_lost,
)

__all__ = ["Asked", "Envelopes", "envelope_of", "funnel_of", "hint", "named"]

_HINTED = 200


class Envelopes(Iterator[dict[str, object]]):
    """Documents as envelopes, from the last on, each made when it is asked for; `len` is how many
    are left."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents, self._left = documents, len(documents)

    def __len__(self) -> int:
        return self._left

    def __next__(self) -> dict[str, object]:
        if not self._left:
            raise StopIteration
        self._left -= 1
        return envelope_of(self._documents[self._left])


def named(id: str, streams: Collection[str], intake: Intake, place: int = 0) -> Document:
    """The document of an id that is held: of several that of some streams, and of these the one at
    a place, from 0; raises StateError if there is none."""
    found = intake.named(id)
    if not found:
        raise StateError(
            f"no document {id!r} is held: it has not come, was skipped, or no query can reach "
            "it any more"
        )
    readable = [one for one in found if one.body is not None]
    if not readable:
        raise StateError(
            f"of document {id!r} the id alone is held, as event queries alone read its stream; "
            "give the document itself, as an envelope"
        )
    own = [one for one in readable if one.stream in streams] or readable
    return own[min(place, len(own) - 1)]


def envelope_of(document: Document) -> dict[str, object]:
    """A document as an envelope; that of a sub-query's result names the sub-query."""
    start = document.start
    return {
        "stream": document.source,
        "id": document.id,
        "timestamp": to_seconds(document.time),
        **({} if start is None else {"start": to_seconds(start)}),
        "json" if document.json else "xml": content_of(document),
    }


def funnel_of(dissection: Dissection, documents: Iterable[Document]) -> Funnel | AutomatonFunnel:
    """How many of some documents came through each condition of a query; of an automaton how far
    its runs come."""
    some = [*documents]
    match dissection.compiled:
        case CompiledAutomaton():
            return count_automaton(dissection, some)
        case CompiledComposition():
            return funnel_of_composition(dissection, some)
        case CompiledEvents():
            return funnel_of_events(dissection, some)
        case CompiledPattern():
            return funnel_of_sequence(dissection, some)
    return _funnel_of_held(dissection, some)


def _funnel_of_held(
    dissection: Dissection, documents: Iterable[Document], most: int | None = None
) -> Funnel:
    """How many of the documents held come through each condition of a query; of `most` at most,
    as many of each stream, evenly spread."""
    read = {stream for one in dissection.everything() for stream in one.streams}
    held = [one for one in documents if one.stream in read]
    if most is not None:
        by_stream: dict[str, list[Document]] = {}
        for one in filter(is_small, held):
            by_stream.setdefault(one.stream, []).append(one)
        share = max(1, most // max(1, len(by_stream)))
        held = [one for some in by_stream.values() for one in some[:: -(-len(some) // share)]]
        held.sort(key=lambda one: one.number)
    results = [
        [document for document in held if document.stream == stream]
        for stream, _ in dissection.subqueries
    ]
    return funnel(dissection.query, held, results)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a hint goes by: the paths of all documents, the streams that queries publish to, and
    whether only names are asked for."""

    names: Names
    fed: Collection[str]
    names_only: bool


def hint(
    dissection: Dissection, intake: Intake, sample: Iterable[Mapping[str, object]], asked: Asked
) -> str | None:
    """What keeps a query from matching, in a sentence, as `Engine.hint` says it."""
    query, compiled = dissection.query, dissection.compiled
    some = [*_readable(sample, intake)]
    parts: Iterable[Reading] | None = None
    if isinstance(compiled, CompiledEvents):
        parts = read_by_events(query, compiled, some)
    elif isinstance(query.source, EventPattern) and isinstance(compiled, CompiledPattern):
        parts = read_by_pattern(query, compiled, some)
    elif isinstance(compiled, CompiledAutomaton):
        parts = read_by_automaton(compiled, some)
    elif isinstance(compiled, CompiledComposition):
        parts = read_by_composition(query, compiled, some)
    if parts is not None:
        readings = [one for one in parts if one.block.stream.text not in asked.fed]
        wording = Wording(query.text)
        # Of a block without a path, members may be read as columns: stage 1 has no names of it.
        streams = {one.stream for one in some}
        patterns = [
            pattern_of(1, one.block, wording)
            for one in readings
            if one.block.steps and one.block.stream.text in streams
        ]
        missing = missing_name(patterns, asked.names)
        if missing is not None:
            return missing
        lost = lacking(readings, some, names_only=asked.names_only)
        if lost is None and isinstance(compiled, CompiledAutomaton) and not asked.names_only:
            lost = untaken(dissection, some)
        return _of_all(lost, len(some), len(some) >= intake.documents)
    if query.language.timed and not query.language.schemas:
        return None
    conditions = conditions_of(query)
    missing = missing_name(conditions.patterns, asked.names)
    if missing is not None or asked.names_only or not conditions.few:
        return missing

    def of_sample() -> Funnel:
        return funnel(query, some, [[] for _ in dissection.subqueries])

    held = _funnel_of_held(dissection, intake.readable, most=_HINTED)
    lost, sampled = where_lost(conditions, held, of_sample if some else None) or (None, False)
    if sampled:
        return _of_all(lost, len(some), len(some) >= intake.documents)
    return _of_all(lost, held.documents, intake.lateness is None and held.documents < _HINTED)


def _readable(sample: Iterable[Mapping[str, object]], intake: Intake) -> Iterator[Document]:
    """The documents of a sample that can be read; what is wrong with others was said."""
    for envelope in sample:
        with suppress(DocumentError):
            document = intake.document(envelope)
            parsed(document)
            yield document


def _of_all(lost: str | None, number: int, every: bool) -> str | None:
    """A sentence about documents; of a sample it says that it is."""
    return lost if lost is None or every else f"of the {number:,} documents looked at: {lost}"
