"""From a state file to the engine as it was.

Queries come in the order in which they came, and between them the documents still in reach: each
is evaluated when the queries that it then met are there, under the number that it had, without a
word.  Its witnesses, and with them how long it can be reached, are a function of that.  Composites
are made of the documents at the end; what is a mere number, such as the watermark, was kept.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from xscl.consistency import Level
from xscl.documents.bodies import size_of
from xscl.documents.document import Document
from xscl.documents.intake import Intake
from xscl.documents.revisable import Revisable
from xscl.durable.changes import CLOSED, Kept
from xscl.durable.keeper import Going, Keeper, recalled
from xscl.durable.state_file import StateFile
from xscl.errors import QueryError, StateError
from xscl.evaluation.evaluation import Evaluation
from xscl.evaluation.pending_rows import Before
from xscl.language.parameters import Prepared
from xscl.language.syntax import Query
from xscl.queries.catalogue import Catalogue
from xscl.queries.registration import Read, Registration, Request, Text

__all__ = ["recover"]

_Review = tuple[int, int, list[str]]
"""The number of the subscription that it was for, how many documents had come, and the streams."""

_AT_ONCE = 5_000
_BYTES = 16 * 1024 * 1024


def recover(
    file: StateFile,
    keeper: Keeper,
    registration: Registration,
    evaluation: Evaluation,
    intake: Intake,
    queries: Catalogue,
) -> None:
    """Fills an engine that is new, and lets its keeper begin; raises StateError for a query that
    cannot be subscribed any more."""
    counters = file.counters()
    intake.latest, intake.last_arrival = counters.latest, counters.last_arrival
    intake.advanced, intake.flushed = counters.advanced, counters.flushed
    intake.documents = counters.documents
    intake.skipped.malformed = counters.malformed
    intake.skipped.duplicate = counters.duplicate
    intake.skipped.late = counters.late
    intake.skipped.unknown = counters.unknown
    going = Going.read(file.patterns())
    intake.clocks.update(going.clocks)
    intake.promises = going.promises
    intake.freed.update(going.freed)
    for stream, floor in file.floors().items():
        intake.retention.keep_recent(stream, floor)
    texts = file.texts()
    reviews = _last(file.reviews())
    documents = _Documents(file.documents(), evaluation)
    readings = _Readings(registration)
    for one in list(file.subscriptions()):
        _reviewed(reviews, one.number, documents, evaluation)
        documents.restore(one.position)
        _subscribe(one, texts[one.text], readings, file)
    _reviewed(reviews, None, documents, evaluation)
    intake.next_number = counters.next_number
    documents.restore(None)
    # As it was: what another lateness lets patterns find is reported by the next step.
    late, level, streams = going.before or (counters.lateness, going.level, going.revisable)
    lateness, intake.lateness = intake.lateness, late
    remembered, saved, arcs = recalled(file.patterns())
    queries.recall_arcs(arcs)
    was = Level.of(level)
    revisable = queries.revisable_before(Revisable.read(streams), was)
    then = Before(was, revisable, frozenset(going.waiting))
    evaluation.history.recompose(remembered, saved, then)
    intake.follow(lateness, falls=not evaluation.waits)
    intake.settled = False
    keeper.begin(texts, (late, level, streams))


def _last(reviews: Iterable[_Review]) -> deque[_Review]:
    """Reviews, each of the streams that no later one is of: that reads all documents of before it,
    for all queries that are there."""
    found: deque[_Review] = deque()
    later = set[str]()
    for number, position, streams in reversed([*reviews]):
        if some := [one for one in streams if one not in later]:
            found.appendleft((number, position, some))
        later.update(streams)
    return found


def _reviewed(
    reviews: deque[_Review],
    before: int | None,
    documents: _Documents,
    evaluation: Evaluation,
) -> None:
    """Reads documents again where that was done before a subscription came."""
    while reviews and (before is None or reviews[0][0] < before):
        _, position, streams = reviews.popleft()
        documents.restore(position)
        evaluation.history.reread(streams)


def _subscribe(kept: Kept, text: Text, readings: _Readings, file: StateFile) -> None:
    values = None if kept.parameters is None else json.loads(kept.parameters)
    known = {} if values is None else values.pop(CLOSED, {})
    closed = {stream: tuple(names) for stream, names in known.items()}
    if known and not values:
        values = None
    try:
        readings.subscribe(
            text,
            kept.written,
            kept.name,
            values,
            closed,
            since=kept.since,
            history=kept.history,
        )
    except (QueryError, KeyError) as error:
        raise StateError(
            f"{file.path}: the query {kept.name!r} in it cannot be read by this version ({error}); "
            "use the version that made the file (xscl state shows it)"
        ) from error


class _Readings:
    """The queries of texts, each text read once for all in it, and for all rows of a table."""

    def __init__(self, registration: Registration) -> None:
        self._registration = registration
        self._text: Text | None = None
        self._queries: dict[str, Read] = {}
        self._prepared: dict[tuple[Text, str], Prepared] = {}

    def subscribe(
        self,
        text: Text,
        written: str,
        name: str,
        values: Mapping[str, object] | None,
        closed: Mapping[str, tuple[str, ...]],
        *,
        since: int,
        history: bool,
    ) -> None:
        """Subscribes a query as it was."""
        read: Read | Prepared
        if values is None:
            read = self._take(text, written)
        elif (text, written) in self._prepared:
            read = self._prepared[text, written]
        else:
            query = self._take(text, written)
            read = Prepared(query if isinstance(query, Query) else query.query)
            self._prepared[text, written] = read
        request = Request(read, name, values or {})
        self._registration.resume(request, closed, since=since, history=history)

    def _take(self, text: Text, written: str) -> Read:
        # One that is asked for twice is read twice: the second time it is like the first.
        if text != self._text or written not in self._queries:
            queries, _, _ = self._registration.read(*text)
            self._text, self._queries = text, {query.name: query for query in queries}
        return self._queries.pop(written)


class _Documents:
    """The documents of a file, restored bit by bit."""

    def __init__(self, documents: Iterator[Document], evaluation: Evaluation) -> None:
        self._documents = documents
        self._evaluation = evaluation
        self._next = next(documents, None)

    def restore(self, before: int | None) -> None:
        """Restores those with numbers before one, or all that are left."""
        while some := self._portion(before):
            self._evaluation.history.restore(some)

    def _portion(self, before: int | None) -> list[Document]:
        some: list[Document] = []
        size = 0
        while (document := self._next) is not None and (before is None or document.number < before):
            some.append(document)
            if document.body is not None:
                assert isinstance(document.body, str | bytes)
                size += size_of(document.body)
            self._next = next(self._documents, None)
            if len(some) == _AT_ONCE or size > _BYTES:
                break
        return some
