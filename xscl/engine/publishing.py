"""Documents into an engine, and what they complete out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from xscl.documents.arrivals import Arrivals
from xscl.documents.batches import in_batches
from xscl.documents.retention import RETAINED, Floor
from xscl.engine.parts import EngineParts, lateness_of
from xscl.errors import DocumentError, QueryStopped, StateError, XSCLError
from xscl.evaluation.arc_changes import NotTogether
from xscl.evaluation.deliveries import Delivery, key_of
from xscl.evaluation.groups.match_groups import MatchGroup, MatchGroups
from xscl.evaluation.groups.settled import settle
from xscl.evaluation.stage_one import Preview
from xscl.join_stage.constraints import FOREVER
from xscl.matches.matches import Matches
from xscl.sources.tables import envelopes as envelopes_of
from xscl.stream_names import is_internal
from xscl.times import DAY, from_timestamp, now, to_seconds, too_far

if TYPE_CHECKING:
    from xscl.engine.arcs import ArcsOf
    from xscl.language.automata.description import Arc
    from xscl.matches.match import Match, Retraction
    from xscl.matches.published import MatchStream

__all__ = ["Publishing"]

Envelope = Mapping[str, object]

T = TypeVar("T")

_ALONE = frozenset({"retract", "revise", "where"})
"""A line with such a member is in no step with documents."""

_APART = _ALONE | {"automaton"}
"""The same of changes of arcs where these want a step of their own, as few do."""


class Publishing(EngineParts):
    """Publishes documents, and says how time passes."""

    @overload
    def publish(
        self,
        stream: str,
        document: object,
        *,
        id: str | None = None,
        timestamp: float | str | None = None,
        grouped: Literal[False] = False,
    ) -> Matches: ...

    @overload
    def publish(
        self,
        stream: str,
        document: object,
        *,
        id: str | None = None,
        timestamp: float | str | None = None,
        grouped: Literal[True],
    ) -> MatchGroups: ...

    def publish(
        self,
        stream: str,
        document: object,
        *,
        id: str | None = None,
        timestamp: float | str | None = None,
        grouped: bool = False,
    ) -> Matches | MatchGroups:
        """Publishes one document, XML as text, bytes or the Path of its file, or JSON as a dict or
        list; returns the matches that it completes, and those of queries that read what these
        publish; `grouped`, a sequence of groups, each of all the queries that the same documents
        satisfy.

        Raises DocumentError if it cannot be read.  A late or duplicate document is counted and
        has no matches.
        """
        kind = "xml" if isinstance(document, str | bytes | Path) else "json"
        envelope = {"stream": stream, kind: document, "id": id, "timestamp": timestamp}
        if grouped:
            return self._take_in([envelope], self._evaluation.publish_grouped, raising=True)
        return self._take_in([envelope], self._evaluation.publish, raising=True)

    @overload
    def publish_many(
        self,
        envelopes: object,
        *,
        stream: str | None = None,
        id: str | None = None,
        timestamp: str | None = None,
        grouped: Literal[False] = False,
    ) -> Matches: ...

    @overload
    def publish_many(
        self,
        envelopes: object,
        *,
        stream: str | None = None,
        id: str | None = None,
        timestamp: str | None = None,
        grouped: Literal[True],
    ) -> MatchGroups: ...

    def publish_many(
        self,
        envelopes: object,
        *,
        stream: str | None = None,
        id: str | None = None,
        timestamp: str | None = None,
        grouped: bool = False,
    ) -> Matches | MatchGroups:
        """Publishes documents as one batch; those that cannot be read are reported, counted and
        skipped.  An envelope is a dict as in a line of an events file; a table of them may be
        Arrow, pandas or Polars.

        With a `stream`, what is given is no envelopes but the rows of a table, or dicts: each is a
        JSON document of that stream.  `id` and `timestamp` name their columns; without, an id is
        made up, and the time is that of arrival."""
        if stream is None:
            if id is not None or timestamp is not None:
                raise XSCLError("publish_many: `id` and `timestamp` name columns of a `stream`")
            return self._publish(list(envelopes_of(envelopes)), grouped=grouped)
        from xscl.sources.fields import Fields
        from xscl.sources.json_rows import documents_of

        errors: list[DocumentError] = []
        rows = documents_of(envelopes, stream, errors.append, Fields(id, timestamp))
        batch = [*rows]
        if errors:
            with self._transactions.asking():
                self._intake.skipped.malformed += len(errors)
                self._skips += errors
        return self._publish(batch, grouped=grouped)

    @overload
    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: Literal[False] = False
    ) -> Iterator[Match]: ...

    @overload
    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: Literal[True]
    ) -> Iterator[MatchGroup | Retraction]: ...

    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: bool = False
    ) -> Iterator[Match] | Iterator[MatchGroup | Retraction]:
        """Publishes documents in batches, lazily, and flushes; yields the matches as they are
        found, or `grouped` those of the same documents together, after what is taken back."""
        for some in in_batches(envelopes_of(envelopes), batch):
            yield from _one_by_one(self._publish(some, grouped=grouped))
        if self.waits:
            yield from _one_by_one(self._publish([], grouped=grouped, ended=True))
        else:
            self._end()

    def advance(self, time: float | str, where: str | None = None) -> Matches:
        """Says that no document before a time (seconds or ISO 8601) will come: earlier ones are
        late from now on.  Returns the matches that waited for that, as of an absence; in an events
        file a line `{"advance": TIME}` does the same.  A time of more than a day ahead of the clock
        is refused, as by it all others would be late.

        `where` is a block: then no document will come, nor be retracted, that is earlier and in
        which it selects something.  Such a document is late from now on, all others are not.
        Raises QueryError for a block that cannot be read.
        """
        try:
            mark = from_timestamp(time)
        except ValueError as error:
            raise XSCLError(f"advance: {error}") from error
        if mark > now() + DAY:
            raise XSCLError(f"advance: {too_far(mark)}")
        if where is None:
            return self._take_in([{"advance": time}], self._evaluation.publish)
        return self._tell({"advance": time, "where": where})

    def retract(self, stream: str, id: str) -> Matches:
        """Takes a document of a `revisable` stream back: it is as if it had never come, and its id
        is free again.  One that is unknown, or whose time the watermark has reached, is counted and
        stays.  In an events file a line `{"retract": ID, "stream": STREAM}` does the same.

        Raises DocumentError if the stream is not revisable.
        """
        envelope = {"retract": id, "stream": stream}
        return self._take_in([envelope], self._evaluation.publish, raising=True)

    def arcs(self, name: str) -> ArcsOf:
        """The arcs of the automaton of a name, which can be inserted, deleted and replaced; what
        was known by the watermark stays.  In an events file the lines
        `{"automaton": NAME, "insert": {ARC}}`, `{…, "delete": "a3", "at": TIME}` and
        `{…, "replace": "a3", "with": {ARC}}` do the same.

        Raises StateError if there is no such query, XSCLError if it is no automaton.
        """
        from xscl.engine.arcs import ArcsOf

        def described() -> list[Arc]:
            with self._transactions.asking():
                return self._queries.automaton(name).described

        described()
        return ArcsOf(name, self._tell, described)

    def _tell(self, line: Envelope) -> Matches:
        """Takes in a line that is no document; where it is refused for what it says of a query,
        raises the QueryError."""
        try:
            return self._take_in([line], self._evaluation.publish, raising=True)
        except DocumentError as refused:
            if refused.__cause__ is None:
                raise
            raise refused.__cause__ from None

    def flush(self) -> Matches:
        """Says that the input has ended: returns all matches that waited for more of it, as if
        whatever may come came later.  Documents may follow all the same; what was returned stays.
        """
        if not self.waits:
            self._end()
            return Matches()
        return self._take_in([], partial(self._evaluation.publish, ended=True))

    @property
    def waits(self) -> bool:
        """Whether matches may wait for more of the input, or for its end: there are patterns, event
        queries or revisable streams."""
        with self._transactions.asking():
            return bool(self._queries.levels or self._intake.revisable)

    def _end(self) -> None:
        """The input has ended, while no query waits for that; one that looks back later knows."""
        with self._transactions.changing():
            self._intake.flushed = self._intake.next_number

    def count(self, envelopes: object, *, batch: int = 1000, flush: bool = True) -> Counter[str]:
        """Publishes documents in batches, flushes unless more of them follow, and counts the
        matches of each query, without building any that nobody reads: iterators of `stream` get
        theirs, callbacks are not called."""
        counts = Counter[str]()
        with self._transactions.asking():
            counts.update({one.name: 0 for one in self._queries})

        def evaluate(arrivals: Arrivals, *, ended: bool = False) -> tuple[None, Sequence[Delivery]]:
            if not self._transactions.streams.are_open:
                counts.update(self._evaluation.count(arrivals, ended=ended))
                return None, ()
            # Their readers get the matches themselves.
            matches, deliveries = self._evaluation.publish(arrivals, ended=ended)
            for match in matches:
                counts[match.query] += -1 if match.retracts else 1
            return None, deliveries

        for some in in_batches(envelopes_of(envelopes), batch):
            self._take_in(some, evaluate, to_callbacks=False)
        if flush and self.waits:
            self._take_in([], partial(evaluate, ended=True), to_callbacks=False)
        elif flush:
            self._end()
        return counts

    def stream(self, name: str) -> MatchStream:
        """An iterator over the matches that are published to a stream from now on, for use in
        another thread or, by `async for`, in an event loop; it ends when the engine is closed.

        Raises StateError if no query publishes to it.
        """
        with self._transactions.asking():
            published = self._queries.graph.published
            if name not in published:
                known = ", ".join(published) or "none"
                raise StateError(f"no query publishes to {name!r}; published are: {known}")
            return self._transactions.streams.open(name)

    def preview(self, envelope: Envelope) -> Preview:
        """How a document would be taken in, without taking it in; raises DocumentError if it
        cannot be read."""
        (found,) = self.previews([envelope])
        if isinstance(found, DocumentError):
            raise found
        return found

    def previews(self, envelopes: Sequence[Envelope]) -> list[Preview | DocumentError]:
        """As `preview`, of many documents; one that cannot be read has its error in place."""
        with self._transactions.asking():
            self._evaluation.follow_queries()
            return self._evaluation.previews(envelopes)

    def retain(self, stream: str, length: float | str = "1 week", *, most: int = RETAINED) -> None:
        """Retains the recent documents of a stream from now on, whether or not a query reads them,
        so that a query that is subscribed later with `history=True` finds them: those up to a
        length (seconds, or text such as `1 week`) before the watermark, and `most` at most of
        those that no query reaches.  A length of 0 takes that back.  A state file remembers it."""
        reach = lateness_of(length, "retain")
        if reach is None or not isinstance(most, int) or most < 0:
            raise XSCLError("retain: give a length that ends, such as `1 week`, and `most` from 0")
        if not stream or is_internal(stream) or not stream.isprintable():
            raise XSCLError(f"retain: {stream!r} is no name of a stream")
        floor = Floor(reach, most) if reach else None
        with self._transactions.changing():
            if self._intake.retention.floors.get(stream) == floor:
                return
            self._intake.retention.keep_recent(stream, floor)
            self._intake.settled = False
            if (keeper := self._transactions.keeper) is not None:
                keeper.retained(stream, floor)

    def clear(self) -> None:
        """Drops all documents, and the time that they have brought it to: the next one is
        as if it were the first.  Queries stay.  Raises StateError if there is a state file."""
        with self._transactions.asking():
            if self._transactions.keeper is not None:
                raise StateError("an engine with a state file keeps its documents: it cannot clear")
        with self._transactions.changing():
            self._evaluation.clear()

    def follow_windows(
        self, least: float | str = "1 day", *, wait: float | str = 0
    ) -> float | None:
        """Makes the lateness the widest window that ends of the present queries, `least` where
        that is more; and none where all windows are without end, for what these read is held for
        good anyway.  Returns it, in seconds.

        What a pattern finds is reported that much later: where all queries are patterns, it is the
        widest WITHIN that ends, `least` at most, and `wait` where that is more; where any is one,
        it is never none."""
        with self._transactions.changing():
            windows, shortest = self._join.registry.windows(), lateness_of(least)
            patterns, ends = self._queries.levels, windows - {FOREVER}
            late: int | None
            if shortest is None or (windows == {FOREVER} and not patterns):
                late = None
            elif patterns and all(one.waits for one in self._queries):
                widest = max(patterns.windows, default=shortest)
                late = max(min(shortest, widest), lateness_of(wait) or 0)
            else:
                late = max(ends | {shortest})
            self._intake.follow(late, falls=not patterns)
            return None if late is None else to_seconds(late)

    def _publish(
        self, envelopes: Sequence[Envelope], *, grouped: bool, ended: bool = False
    ) -> Matches | MatchGroups:
        if grouped:
            groups = partial(self._evaluation.publish_grouped, ended=ended)
            return self._take_in(envelopes, groups)
        return self._take_in(envelopes, partial(self._evaluation.publish, ended=ended))

    def _take_in(
        self,
        envelopes: Sequence[Envelope],
        evaluate: Callable[[Arrivals], tuple[T, Sequence[Delivery]]],
        *,
        raising: bool = False,
        to_callbacks: bool = True,
    ) -> T:
        """Takes in a batch, as `Transactions.take_in` does."""
        # A line alone may be refused, and has then done nothing that would have to be whole.
        if not all(map(_ALONE.isdisjoint, envelopes)) and (
            len(envelopes) > 1 or "revise" in envelopes[0]
        ):
            return self._take_in_steps(envelopes, evaluate, raising, to_callbacks)
        try:
            return self._step(envelopes, evaluate, raising, to_callbacks)
        except NotTogether:
            return self._take_in_steps(envelopes, evaluate, raising, to_callbacks)

    def _take_in_steps(
        self,
        envelopes: Sequence[Envelope],
        evaluate: Callable[[Arrivals], tuple[T, Sequence[Delivery]]],
        raising: bool,
        to_callbacks: bool,
    ) -> T:
        """As `_take_in` of a batch in which documents are retracted, or arcs of automata change:
        that happens where it is written among the documents, so that it is several steps, in one
        transaction."""
        first: Any = None
        with self._transactions.whole() as change, self._transactions.transaction():
            for kind, some in groupby(envelopes, _kind):
                lines = [*some]
                steps = map(self._revision, lines) if "revise" in kind else [[lines]]
                for step in chain.from_iterable(steps):
                    one = self._step(step, evaluate, raising, to_callbacks)
                    change.begun = True
                    if first is None:
                        first = one
                    elif isinstance(one, MatchGroups):
                        new = settle(first, one.retractions)
                        first.ranges += one.ranges
                        first.retractions += [
                            each for each in one.retractions if key_of(each) not in new
                        ]
                    else:
                        first += one
        return cast(T, first)

    def _revision(self, envelope: Envelope) -> Iterator[list[Envelope]]:
        """The steps of a document that takes the place of the one of its id, if that is there and
        may still be taken back."""
        intake, mark = self._intake, self._intake.watermark
        stream, id = envelope.get("stream", "S"), envelope.get("id")
        if envelope["revise"] and isinstance(stream, str) and isinstance(id, str):
            number = intake.ids.get(stream, {}).get(id) if stream in intake.revisable else None
            if number is not None and (mark is None or intake.retained[number].time > mark):
                yield [{"retract": id, "stream": stream}]
        yield [envelope]

    def _step(
        self,
        envelopes: Sequence[Envelope],
        evaluate: Callable[[Arrivals], tuple[T, Sequence[Delivery]]],
        raising: bool,
        to_callbacks: bool,
    ) -> T:
        """Takes in a batch that is one step."""
        stops: list[QueryStopped] = []

        def evaluate_within_bounds(arrivals: Arrivals) -> tuple[T, Sequence[Delivery]]:
            found = evaluate(arrivals)
            if self._queries.levels and self._queries.levels.stopped():
                stops.extend(self._stop())
            return found

        return self._transactions.take_in(
            self._evaluation,
            envelopes,
            evaluate_within_bounds,
            self._skips,
            stops,
            raising=raising,
            to_callbacks=to_callbacks,
        )


def _one_by_one(found: Matches | MatchGroups) -> Iterator[Any]:
    """What publishing found: matches, or what groups take back and then the groups."""
    if isinstance(found, MatchGroups):
        yield from found.retractions
    yield from found


def _kind(envelope: Envelope) -> frozenset[str]:
    """What lines in one step have in common."""
    return _APART.intersection(envelope)
