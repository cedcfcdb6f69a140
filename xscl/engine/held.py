"""Questions about the documents that an engine holds: what they are, how many of them came through
a query's conditions, and what keeps it from matching."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document, is_small
from xscl.documents.intake import Intake
from xscl.documents.trees import content_of
from xscl.errors import StateError
from xscl.event_queries.compile import compile_events
from xscl.language.syntax import EventPattern, Events
from xscl.times import to_seconds
from xscl.why import Funnel, Names, conditions_of, funnel, lacking_event, missing_name, where_lost

__all__ = ["Envelopes", "envelope_of", "funnel_of_held", "hint", "named"]

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


def named(id: str, stream: str, intake: Intake) -> Document:
    """The document of an id that is held, that of a stream if there are several; raises
    StateError if there is none."""
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
    return next((one for one in readable if one.stream == stream), readable[0])


def envelope_of(document: Document) -> dict[str, object]:
    """A document as an envelope; that of a sub-query's result names the sub-query."""
    return {
        "stream": document.source,
        "id": document.id,
        "timestamp": to_seconds(document.time),
        "json" if document.json else "xml": content_of(document),
    }


def funnel_of_held(
    dissection: Dissection, documents: Iterable[Document], most: int | None = None
) -> Funnel:
    """How many of the documents held, `most` at most, come through each condition of a query."""
    read = {stream for one in dissection.everything() for stream in one.streams}
    of_streams = (
        one for one in documents if one.stream in read and (most is None or is_small(one))
    )
    held = [*islice(of_streams, most)]
    results = [
        [document for document in held if document.stream == stream]
        for stream, _ in dissection.subqueries
    ]
    return funnel(dissection.query, held, results)


def hint(
    dissection: Dissection,
    intake: Intake,
    names: Names,
    sample: Iterable[Mapping[str, object]],
    fed: Collection[str],
) -> str | None:
    """What keeps a query from matching, in a sentence, as `Engine.hint` says it; of a pattern,
    nothing is known.  Queries publish to the streams that are `fed`."""
    if isinstance(dissection.query.source, EventPattern):
        return None
    if isinstance(dissection.query.source, Events):
        # Its documents may have been read as columns, of which nobody knows any others.
        known = zip(dissection.streams, dissection.schemas or (), strict=False)
        compiled = compile_events(dissection.query, dict(known).get)
        some = [*map(intake.document, sample)]
        lost = lacking_event(dissection.query, compiled, some, fed)
        return f"{_looked_at(len(some))}: {lost}" if lost and len(some) < intake.documents else lost
    conditions = conditions_of(dissection.query)
    missing = missing_name(conditions, names)
    if missing is not None or not conditions.few:
        return missing

    def of_sample() -> Funnel:
        documents = map(intake.document, sample)
        return funnel(dissection.query, documents, [[] for _ in dissection.subqueries])

    held = funnel_of_held(dissection, intake.readable, most=_HINTED)
    lost = where_lost(conditions, held, of_sample)
    if lost is None or (intake.lateness is None and held.documents < _HINTED):
        return lost
    return f"{_looked_at(held.documents)}: {lost}"


def _looked_at(number: int) -> str:
    return f"of the {number:,} documents looked at"
