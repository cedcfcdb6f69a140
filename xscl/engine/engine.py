"""The engine: the one object that users hold, with all the rooms behind it.

Queries go in by `subscribe`, `subscribe_many` and `load`; documents by `publish`, `publish_many`,
`run` and `count`.  What an engine knows of itself is told by `explain`, `why` and `stats`.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from join_stage import JoinProcessor, Strategies
from join_stage.constraints import FOREVER
from pattern_stage import SWITCHES
from pattern_stage.plan.rules import SWITCHES as OF_EVENTS
from xpath_stage import Strings, XPathEvaluator, double_of
from xscl.counts import counted
from xscl.documents.batches import in_batches
from xscl.documents.bodies import Bodies
from xscl.documents.events import EventNodes
from xscl.documents.intake import Arrivals, Intake, Skipped
from xscl.documents.retention import Retention
from xscl.documents.trees import Trees
from xscl.durable.group_commit import seconds_of
from xscl.durable.points import at
from xscl.engine.transactions import Outgoing, Transactions
from xscl.errors import DocumentError, QueryError, StateError, XSCLError
from xscl.evaluation.match_groups import MatchGroup, MatchGroups
from xscl.evaluation.second_stage import SecondStage, longest_reach
from xscl.evaluation.stage_one import Preview
from xscl.evaluation.stats import stats
from xscl.evaluation.waves import Delivery, Evaluation
from xscl.garbage import paused, without_collecting
from xscl.language.syntax import EventPattern
from xscl.matches.match import Match
from xscl.memory.budget import Budget
from xscl.memory.relations import Relations
from xscl.notebook import short, table
from xscl.queries.callbacks import check_callback
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.event_types import EventTypes
from xscl.queries.levels.pattern_levels import PatternLevels
from xscl.queries.stage_registration import StageRegistration
from xscl.queries.subscription import Subscription
from xscl.sources.tables import envelopes as envelopes_of
from xscl.stream_names import is_internal
from xscl.times import duration, from_timestamp, to_seconds
from xscl.version import __version__

if TYPE_CHECKING:
    from xscl.durable.keeper import Keeper
    from xscl.durable.plan import Plan, Texts
    from xscl.matches.published import MatchStream
    from xscl.queries.registration import Registration, Request, Text
    from xscl.why import Funnel, Why

__all__ = ["Engine"]

Envelope = Mapping[str, object]
OnMatch = Callable[[Match], object]

T = TypeVar("T")

_MANY = 100
"""Envelopes of a batch that is worth a word to the collector of cycles."""

Added = tuple[Subscription, Sequence[Delivery]]
"""A subscription, and the matches that it caused among the documents held."""


class Engine:
    """Standing queries over streams of documents, in memory or, with the name of a `state` file,
    durable: whatever ends the process, the same name opens the engine as it was after the last
    call that returned.

    `lateness` bounds how late a document may come (seconds, or text such as `1 day`; the
    default, None, is without bound): with it, and windows that end, the state forgets.
    `on_skip` is told of each document that cannot be read; by default it is logged.  With
    `query_sharing`, queries alike but for constants are evaluated as one.  An engine
    may be used from several threads: one at a time is in it, and callbacks run on the thread that
    published, outside the lock.  `strategies` say how it goes about its work, never what it finds.
    `memory` bounds what it holds in process (bytes, or text such as `64MB`; the default, None,
    bounds only what is kept at hand for joins): what is beyond lies in temporary files.
    `without` names techniques of patterns and event queries that are switched off, and `sharable`
    sets of streams whose equal documents, published in one batch at one time, event queries read
    as one: both change how fast matches are found, never which.
    `commit_every` (seconds, or text such as `200 ms`) writes documents to the state file together:
    one may wait for so long after `publish` has returned, and callbacks wait with it.

    >>> engine = Engine()
    >>> promo = engine.subscribe("S//book->b[./title->t] FOLLOWED BY {t = u} S//blog[./title->u]")
    >>> engine.publish("S", "<book><title>XSCL</title></book>", id="d1", timestamp=0)
    []
    >>> (match,) = engine.publish("S", "<blog><title>XSCL</title></blog>", id="d2", timestamp=1)
    >>> match.documents, match.nodes
    (('d1', 'd2'), (0, 0))
    """

    def __init__(
        self,
        state: str | os.PathLike[str] | None = None,
        *,
        lateness: float | str | None = None,
        on_skip: Callable[[DocumentError], object] | None = None,
        query_sharing: bool = True,
        strategies: Strategies | None = None,
        memory: int | str | None = None,
        commit_every: float | str | None = None,
        without: Collection[str] = (),
        sharable: Iterable[Iterable[str]] = (),
    ) -> None:
        known_switches = SWITCHES | OF_EVENTS
        if unknown := sorted({*without} - known_switches):
            known = ", ".join(sorted(known_switches))
            raise XSCLError(f"without: {unknown[0]!r} is no technique; there are: {known}")
        budget = Budget.of(memory)
        self._relations = Relations(budget.relations)
        strategies = strategies or Strategies()
        strategies = replace(
            strategies,
            templates=strategies.templates and "s_⋈" not in without,
            channels=strategies.channels and "c_⋈" not in without,
        )
        if budget.at_hand is not None:
            at_hand = min(budget.at_hand, strategies.memory)
            strategies = replace(strategies, memory=at_hand)
        self._join = JoinProcessor(self._relations.connect, double_of, strategies)
        self._strings = Strings()
        self._xpath = XPathEvaluator(self._strings)
        stages: list[SecondStage] = [self._join]
        registered = StageRegistration(self._xpath, self._join.registry, longest_reach(stages))
        patterns = PatternLevels(
            EventTypes(registered),
            EventNodes(self._xpath.attribute_name),
            lambda number: self._intake.held[number],
            without,
            _apart(sharable),
        )
        stages.append(patterns)
        self._queries = Catalogue(self._xpath, registered, patterns, self._cancel)
        retention = Retention(self._queries.reach)
        self._intake = Intake(
            _lateness(lateness),
            retention,
            bodies=Bodies(budget.bodies),
            trees=Trees(budget.trees),
        )
        self._skips: list[DocumentError] = []
        self._evaluation = Evaluation(
            self._xpath, stages, self._strings, self._queries, self._intake, self._skips.append
        )
        self._query_sharing = query_sharing
        self._transactions = Transactions(on_skip, self._release)
        self._next_query = 1
        every = _every(commit_every)
        if every and state is None:
            raise XSCLError("commit_every is for a state file, and none is named")
        if state is not None:
            self._open(state, lateness, budget.state)
            if every:
                self._transactions.group(every)

    # Queries

    def subscribe(
        self,
        text: str,
        name: str | None = None,
        on_match: OnMatch | None = None,
        *,
        params: Mapping[str, object] | None = None,
        history: bool = False,
    ) -> Subscription:
        """Subscribes one query; it sees the documents published from now on and, with `history`,
        those that the engine still holds: what these match is in the subscription's `found`.

        `name` overrides the one in the text; `on_match` is called with each match; `params` are
        the values of the text's parameters.  Raises QueryError, or an ExceptionGroup of several.
        """
        from xscl.queries.registration import Request, together

        with self._transactions.changing():
            source = text, self._next_query
            read, following = self._registration.read_one(*source, name)
            request = Request(read, name or read.name, params or {})
            added, errors = self._subscribe(source, [request], on_match, history)
            if errors:
                raise together(errors)
            self._next_query = following
            outgoing = self._keep_found(added)
        (subscription,) = self._found(added, outgoing)
        return subscription

    def subscribe_many(
        self,
        text: str,
        table: object,
        on_match: OnMatch | None = None,
        *,
        history: bool = False,
    ) -> list[Subscription]:
        """Subscribes one query once for each row of a table: Arrow, pandas, Polars, or dicts.

        The columns are the query's parameters; the query of row i, from 0, is named `name[i]`, or
        as a column `name` says.  Rows that cannot be subscribed are left out, then an
        ExceptionGroup of all errors is raised.
        """
        from xscl.queries.registration import requests, together

        with self._transactions.changing(), without_collecting():
            source = text, self._next_query
            read, self._next_query = self._registration.read_one(*source)
            wanted = requests(read, {read.name: table})
            added, errors = self._subscribe(source, wanted, on_match, history)
            outgoing = self._keep_found(added)
        subscriptions = self._found(added, outgoing)
        if errors:
            raise together(errors)
        return subscriptions

    def load(
        self,
        text: str,
        on_match: OnMatch | None = None,
        *,
        tables: Mapping[str, object] | None = None,
        history: bool = False,
    ) -> list[Subscription]:
        """Subscribes all queries of a query file's text; those that `tables` names, once for each
        row, as `subscribe_many` does.

        Bad ones are refused whole: the good ones are subscribed, then an ExceptionGroup of all
        errors is raised.
        """
        subscriptions, errors = self.load_good(text, on_match, tables=tables, history=history)
        if errors:
            raise ExceptionGroup(
                f"{len(errors)} bad queries" if errors[1:] else "bad query", errors
            )
        return subscriptions

    def load_good(
        self,
        text: str,
        on_match: OnMatch | None = None,
        *,
        tables: Mapping[str, object] | None = None,
        history: bool = False,
    ) -> tuple[list[Subscription], list[QueryError]]:
        """As `load`, but returns the errors beside the subscriptions."""
        from xscl.queries.registration import requests

        tables = tables or {}
        with self._transactions.changing(), without_collecting():
            source = text, self._next_query
            queries, errors, following = self._registration.read(*source)
            known = {query.name for query in queries} | {error.query for error in errors}
            if unknown := tables.keys() - known:
                raise XSCLError(
                    f"there is a table for {', '.join(sorted(unknown))}, but no query of that "
                    f"name; the text has: {', '.join(sorted(known)) or 'none'}"
                )
            self._next_query = following
            wanted = chain.from_iterable(requests(read, tables) for read in queries)
            added, wrong = self._subscribe(source, wanted, on_match, history)
            errors += wrong
            outgoing = self._keep_found(added)
        subscriptions = self._found(added, outgoing)
        return subscriptions, sorted(errors, key=lambda error: (error.line, error.column))

    @property
    def subscriptions(self) -> list[Subscription]:
        """The queries, in order of subscription."""
        with self._transactions.asking():
            return list(self._queries)

    def cancel(self, name: str) -> None:
        """Cancels the query of a name; raises StateError if there is none.

        What it used, and documents that only it could reach, are let go with the next document.
        """
        with self._transactions.asking():
            self._cancel(self._queries.named(name))

    # Documents

    @overload
    def publish(
        self,
        stream: str,
        document: object,
        *,
        id: str | None = None,
        timestamp: float | str | None = None,
        grouped: Literal[False] = False,
    ) -> list[Match]: ...

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
    ) -> list[Match] | MatchGroups:
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
        self, envelopes: object, *, grouped: Literal[False] = False
    ) -> list[Match]: ...

    @overload
    def publish_many(self, envelopes: object, *, grouped: Literal[True]) -> MatchGroups: ...

    def publish_many(
        self, envelopes: object, *, grouped: bool = False
    ) -> list[Match] | MatchGroups:
        """Publishes documents as one batch; those that cannot be read are reported, counted and
        skipped.  An envelope is a dict as in a line of an events file; a table of them may be
        Arrow, pandas or Polars."""
        return self._publish(list(envelopes_of(envelopes)), grouped=grouped)

    @overload
    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: Literal[False] = False
    ) -> Iterator[Match]: ...

    @overload
    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: Literal[True]
    ) -> Iterator[MatchGroup]: ...

    def run(
        self, envelopes: object, *, batch: int = 1000, grouped: bool = False
    ) -> Iterator[Match] | Iterator[MatchGroup]:
        """Publishes documents in batches, lazily, and flushes; yields the matches as they are
        found, or `grouped` those of the same documents together."""
        for some in in_batches(envelopes_of(envelopes), batch):
            yield from self._publish(some, grouped=grouped)
        if self._queries.patterns:
            yield from self._publish([], grouped=grouped, ended=True)

    def advance(self, time: float | str) -> list[Match]:
        """Says that no document before a time (seconds or ISO 8601) will come: earlier ones are
        late from now on.  Returns the matches that waited for that, as of an absence; in an events
        file a line `{"advance": TIME}` does the same."""
        try:
            from_timestamp(time)
        except ValueError as error:
            raise XSCLError(f"advance: {error}") from error
        return self._take_in([{"advance": time}], self._evaluation.publish)

    def flush(self) -> list[Match]:
        """Says that the input has ended: returns all matches that waited for more of it, as if
        whatever may come came later.  Documents may follow all the same; what was returned stays.
        """
        if not self._queries.patterns:
            with self._transactions.asking():
                return []
        return self._take_in([], partial(self._evaluation.publish, ended=True))

    def count(self, envelopes: object, *, batch: int = 1000, flush: bool = True) -> Counter[str]:
        """Publishes documents in batches, flushes unless more of them follow, and counts the
        matches of each query, without building any that nobody reads: iterators of `stream` get
        theirs, callbacks are not called."""
        counts = Counter({subscription.name: 0 for subscription in self.subscriptions})

        def evaluate(arrivals: Arrivals, *, ended: bool = False) -> tuple[None, Sequence[Delivery]]:
            if not self._transactions.streams.are_open:
                counts.update(self._evaluation.count(arrivals, ended=ended))
                return None, ()
            # Their readers get the matches themselves.
            _, deliveries = self._evaluation.publish(arrivals, ended=ended)
            counts.update(subscription.name for subscription, _ in deliveries)
            return None, deliveries

        for some in in_batches(envelopes_of(envelopes), batch):
            self._take_in(some, evaluate, to_callbacks=False)
        if flush and self._queries.patterns:
            self._take_in([], partial(evaluate, ended=True), to_callbacks=False)
        return counts

    def stream(self, name: str) -> MatchStream:
        """An iterator over the matches that are published to a stream from now on, for use in
        another thread or, by `async for`, in an event loop; it ends when the engine is closed.

        Raises StateError if no query publishes to it.
        """
        with self._transactions.asking():
            if name not in self.published:
                known = ", ".join(self.published) or "none"
                raise StateError(f"no query publishes to {name!r}; published are: {known}")
            return self._transactions.streams.open(name)

    def preview(self, envelope: Envelope) -> Preview:
        """How a document would be taken in, without taking it in; raises DocumentError if it
        cannot be read."""
        with self._transactions.asking():
            self._evaluation.follow_queries()
            return self._evaluation.preview(envelope)

    def clear(self) -> None:
        """Lets go of all documents, and of the time that they have brought it to: the next one is
        as if it were the first.  Queries stay.  Raises StateError if there is a state file."""
        with self._transactions.changing():
            if self._transactions.keeper is not None:
                raise StateError("an engine with a state file keeps its documents: it cannot clear")
            self._evaluation.clear()

    @property
    def skipped(self) -> Skipped:
        """How many documents were skipped, by reason."""
        with self._transactions.asking():
            return self._intake.skipped

    @property
    def documents(self) -> int:
        """How many documents were taken in."""
        with self._transactions.asking():
            return self._intake.documents

    @property
    def streams(self) -> list[str]:
        """The streams that queries read, sorted."""
        with self._transactions.asking():
            return sorted(stream for stream in self._queries.graph.read if not is_internal(stream))

    @property
    def published(self) -> list[str]:
        """The streams that queries publish, in order of subscription."""
        with self._transactions.asking():
            return self._queries.graph.published

    def reads(self, stream: str) -> bool:
        """Whether any query reads a stream."""
        with self._transactions.asking():
            return self._queries.graph.read[stream] > 0

    @property
    def watermark(self) -> float | None:
        """The time (seconds) before which documents are late; None while none is."""
        with self._transactions.asking():
            mark = self._intake.watermark
            return None if mark is None else to_seconds(mark)

    def follow_windows(
        self, least: float | str = "1 day", *, wait: float | str = 0
    ) -> float | None:
        """Makes the lateness the widest window that ends of the present queries, `least` where
        that is more; and none where all windows are without end, for what these read is held for
        good anyway.  Returns it, in seconds.

        What a pattern finds is told that much later: where all queries are patterns, it is the
        widest WITHIN that ends, `least` at most, and `wait` where that is more; where any is one,
        it is never none."""
        with self._transactions.changing():
            windows, shortest = self._join.registry.windows(), _lateness(least)
            patterns, ends = self._queries.patterns, windows - {FOREVER}
            late: int | None
            if shortest is None or (windows == {FOREVER} and not patterns):
                late = None
            elif patterns and all(one.waits for one in self._queries):
                widest = max(patterns.windows(), default=shortest)
                late = max(min(shortest, widest), _lateness(wait) or 0)
            else:
                late = max(ends | {shortest})
            self._intake.follow(late, falls=not patterns)
            return None if late is None else to_seconds(late)

    # What it knows of itself

    def explain(self, name: str | None = None) -> str:
        """What became of the query of a name: the text of `xscl explain`; without a name, of all of
        them, with their templates and streams."""
        from xscl.explain import as_text, explain_file

        with self._transactions.asking():
            all_of_them = [subscription.outline for subscription in self._queries]
            if name is None:
                every = [subscription.dissection for subscription in self._queries]
                patterns = self._queries.patterns
                return explain_file(every, patterns.without, patterns.sharable)
            return as_text(self._queries.named(name).dissection, all_of_them)

    def why(self, name: str, *documents: str | Envelope) -> Why | Funnel:
        """Why some documents match the query of a name, or do not: each condition with the values
        on both sides.  A document for each block of the query, in their order (of a pattern one for
        each event, of an event query those of a match and any that it skips between): the id of one
        that is held, or an envelope.

        Without documents, a funnel: how many of those held, and of their pairs, came through each
        condition.  Raises StateError for an id that is not held.
        """
        from xscl.engine.held import funnel_of_held, named
        from xscl.why import why, why_events, why_sequence

        with self._transactions.asking():
            subscription = self._queries.named(name)
            dissection, events = subscription.dissection, subscription.wiring.events
            if not documents and events is not None:
                raise XSCLError("an event query holds no documents to count; name those of a match")
            if not documents:
                return funnel_of_held(dissection, self._intake)
            pattern = isinstance(dissection.query.source, EventPattern)
            streams = [] if pattern or events is not None else [*dissection.streams]
            streams += [""] * len(documents)
            given = [
                self._intake.document(one)
                if isinstance(one, Mapping)
                else named(one, stream, self._intake)
                for one, stream in zip(documents, streams, strict=False)
            ]
            if events is not None:
                return why_events(dissection.query, events.compiled, given)
            if pattern:
                return why_sequence(dissection.query, given, self._intake.readable)
        return why(dissection.query, given)

    def hint(self, name: str, sample: Iterable[Envelope] = ()) -> str | None:
        """What keeps the query of a name from matching, in a sentence, for one that has found
        nothing: a name that no document had, a filter that none met, values that none have in
        common; None where nothing is known.  Of the documents held, the first 200 are looked
        at; what no query can reach is not held, so that a `sample` of what was published helps."""
        from xscl.engine.held import hint

        with self._transactions.asking():
            dissection = self._queries.named(name).dissection
            fed = self._queries.graph.published
            return hint(dissection, self._intake, self._xpath.paths, sample, fed)

    def holds(self, id: str) -> bool:
        """Whether a document of an id is held, of whatever stream."""
        with self._transactions.asking():
            return bool(self._intake.named(id))

    def held(
        self, id: str | None = None, *, stream: str | None = None
    ) -> Iterator[dict[str, object]]:
        """The documents that are held now, those of an id, of a stream or all, as envelopes, the
        latest to come first; each is read when it is asked for."""
        from xscl.engine.held import envelope_of

        with self._transactions.asking():
            intake = self._intake
            some = [*intake.readable] if id is None else intake.named(id)
            some = [one for one in some if one.body is not None]
        wanted = (one for one in reversed(some) if stream is None or one.source == stream)
        return map(envelope_of, wanted)

    def stats(self, *, exact: bool = False) -> dict[str, object]:
        """The sizes of all that the engine holds.

        Documents that no query can reach any more are let go with those that come, some time
        later; with `exact` they are let go first, which takes as long as a large batch.
        """
        with self._transactions.asking():
            if exact:
                with self._transactions.changing():
                    self._evaluation.forget(exact=True)
                    self._join.prepare()
            return stats(
                self._intake,
                self._queries,
                self._xpath,
                self._join,
                self._strings,
                self._relations,
            )

    def __repr__(self) -> str:
        # Nobody waits for what is in the engine, and a closed one may be shown.
        keeper = self._transactions.keeper
        state = "" if keeper is None else f" {short([str(keeper.file.path)])}"
        if self._transactions.closed:
            return f"<Engine{state}: closed>"
        queries, taken = counted(len(self._queries), "query"), self._intake.documents
        held = f"{counted(taken, 'document')} taken, {len(self._intake.held):,} held"
        return f"<Engine{state}: {queries}, {held}>"

    def _repr_html_(self) -> str:
        if self._transactions.closed:
            return table(repr(self).strip("<>"), ())
        with self._transactions.asking():
            rows = ((one.name, ", ".join(sorted(one.streams))) for one in self._queries)
            heads, total = ("query", "streams"), len(self._queries)
            return table(repr(self).strip("<>"), rows, heads=heads, of=total)

    # Life

    def close(self) -> None:
        """Closes the engine; what is asked of it afterwards raises StateError.

        A state file is complete already, but for which callbacks have returned, and for what
        `commit_every` lets wait.
        """
        self._transactions.close()

    def __enter__(self) -> Engine:
        with self._transactions.asking():
            return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes one transaction of all that is done in it: a state file has the whole or nothing,
        and callbacks are called when it has.

        An exception in it closes an engine that has a state file, for the file is then behind it:
        open it again.
        """
        with self._transactions.transaction():
            yield

    def commit(self) -> None:
        """Writes now what `commit_every` lets wait, and hands over what waits with it: when it
        returns, the state file has all that was published.  Within a `transaction`, which is
        written at its end, it does nothing, nor does it without a state file."""
        self._transactions.commit()

    @property
    def keeper(self) -> Keeper | None:
        """The keeper of the state file, for what is to be in the same transactions; None without
        a state file."""
        with self._transactions.asking():
            return self._transactions.keeper

    def plan(self, texts: Texts) -> Plan:
        """What would become of the queries of the state file, or without one of those that there
        are, if those of some texts were asked for instead."""
        from xscl.durable.plan import plan

        with self._transactions.asking():
            registration = self._registration
            named = {one.name: one for one in self._queries}
            kept = named if self._transactions.keeper is None else registration.kept
            return plan(registration, kept, texts)

    # Inside

    @cached_property
    def _registration(self) -> Registration:
        """How queries get in: made for the first one, as the language is read by a grammar."""
        from xscl.queries.registration import Registration

        return Registration(self._queries, sharing=self._query_sharing)

    def _subscribe(
        self, source: Text, wanted: Iterable[Request], on_match: OnMatch | None, history: bool
    ) -> tuple[list[Added], list[QueryError]]:
        """Subscribes queries of a text one by one; of each that is new, the state file has the
        number of the first document that it sees, and with `history` it is reviewed."""
        check_callback("on_match", on_match)
        self._intake.let_readers_keep()
        added: list[Added] = []
        errors: list[QueryError] = []
        keeper = self._transactions.keeper
        for request in wanted:
            subscription = self._registration.attach(request, on_match)
            if subscription is not None:
                added.append((subscription, ()))
                continue
            if history:
                self._evaluation.forget(exact=True)
            else:
                self._evaluation.settle()
            position = self._intake.next_number
            outcome = self._registration.subscribe(
                # One that reviews what is held shares nothing with those that have seen it come.
                request,
                since=-1 - position if history else position,
                history=history,
                on_match=on_match,
            )
            if isinstance(outcome, list):
                errors += outcome
                continue
            if history and keeper is not None:
                keeper.reviewed(outcome.streams)
            added.append((outcome, self._evaluation.review(outcome) if history else ()))
            if keeper is not None:
                keeper.subscribed(
                    outcome,
                    source,
                    request.written,
                    request.parameters,
                    position=position,
                    history=history,
                )
        return added, errors

    def _publish(
        self, envelopes: Sequence[Envelope], *, grouped: bool, ended: bool = False
    ) -> list[Match] | MatchGroups:
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
        with paused() if len(envelopes) >= _MANY else contextlib.nullcontext():
            return self._transactions.take_in(
                self._evaluation,
                envelopes,
                evaluate,
                self._skips,
                raising=raising,
                to_callbacks=to_callbacks,
            )

    def _found(self, added: Iterable[Added], outgoing: Outgoing) -> list[Subscription]:
        """The subscriptions, each with the matches that it found in the documents held."""
        self._transactions.report(outgoing)
        subscriptions = []
        for subscription, deliveries in added:
            if deliveries:
                subscription.found = [match for _, match in deliveries]
            subscriptions.append(subscription)
        return subscriptions

    def _keep_found(self, added: Iterable[Added]) -> Outgoing:
        """What is to be reported once queries are subscribed."""
        again = self._transactions.waiting_for(self._registration.attached)
        self._registration.attached.clear()
        deliveries = [delivery for _, deliveries in added for delivery in deliveries]
        return self._transactions.keep(Outgoing(self._take_skips(), deliveries, again=again))

    def _cancel(self, subscription: Subscription) -> None:
        if self._transactions.closed:
            # Its subscriptions went with the engine.
            return
        with self._transactions.changing():
            self._intake.let_readers_keep()
            if not self._queries.remove(subscription):
                return
            if (keeper := self._transactions.keeper) is not None:
                keeper.cancelled(subscription)
            self._intake.settled = False
            if not len(self._queries):
                # Nothing may come any more: what the queries have held goes now.
                self._evaluation.forget(exact=True)

    def _take_skips(self) -> list[DocumentError]:
        skips = self._skips[:]
        self._skips.clear()
        return skips

    def _release(self) -> None:
        self._relations.close()
        self._intake.let_readers_keep()
        # They hold documents, and with these the file of the bodies.
        self._intake.trees.clear()

    # The state file

    def _open(
        self, state: str | os.PathLike[str], lateness: float | str | None, share: int
    ) -> None:
        """Opens a state file, and becomes the engine that it keeps."""
        from xscl.durable.keeper import Keeper
        from xscl.durable.recovery import recover
        from xscl.durable.state_file import StateFile

        file = StateFile(state, f"xscl {__version__}", share)
        try:
            keeper = Keeper(file, self._intake, self._queries)
            if lateness is None:
                self._intake.lateness = file.counters().lateness
            recover(file, keeper, self._registration, self._evaluation, self._intake)
        except BaseException:
            file.close(unwritten=True)
            raise
        self._skips.clear()
        self._transactions.keeper = keeper
        at("opened")


def _lateness(lateness: float | str | None) -> int | None:
    if lateness is None:
        return None
    try:
        text = lateness if isinstance(lateness, str) else f"{lateness:f}"
        return duration(text)
    except ValueError as error:
        raise XSCLError(f"lateness: {error}") from error


def _apart(sharable: Iterable[Iterable[str]]) -> list[set[str]]:
    """Sets of streams as disjoint ones: what is alike to a third is alike."""
    apart: list[set[str]] = []
    for given in sharable:
        if isinstance(given, str):
            raise XSCLError(f"sharable: {given!r} is one name; give sets of streams")
        streams = {*given}
        if not all(isinstance(one, str) for one in streams):
            raise XSCLError(f"sharable: {streams!r} is no set of names of streams")
        for other in [one for one in apart if one & streams]:
            apart.remove(other)
            streams |= other
        apart.append(streams)
    return apart


def _every(commit_every: float | str | None) -> float:
    try:
        return 0.0 if commit_every is None else seconds_of(commit_every)
    except ValueError as error:
        raise XSCLError(f"commit_every: {error}") from error
