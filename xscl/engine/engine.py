"""The engine: the one object that users hold, with all the rooms behind it.

Queries go in by `subscribe`, `subscribe_many` and `load`; documents by `publish`, `publish_many`,
`run` and `count`.  What an engine knows of itself is told by `explain`, `why` and `stats`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, overload

import xscl
from join_stage import JoinProcessor, Strategies
from xpath_stage import Strings, XPathEvaluator
from xscl.documents import trees
from xscl.documents.bodies import Bodies
from xscl.documents.document import Document
from xscl.documents.intake import Intake, Skipped
from xscl.documents.retention import Retention
from xscl.durable.changes import Undelivered
from xscl.durable.keeper import Keeper
from xscl.durable.plan import Plan, Texts, plan
from xscl.durable.points import at
from xscl.durable.recovery import recover
from xscl.durable.state_file import StateFile
from xscl.durable.undelivered import CALLBACK, remembered
from xscl.errors import DocumentError, QueryError, StateError, XSCLError
from xscl.evaluation.join_batch import in_batches
from xscl.evaluation.match_groups import MatchGroup, MatchGroups
from xscl.evaluation.second_stage import SecondStage, longest_reach
from xscl.evaluation.stats import stats
from xscl.evaluation.waves import Delivery, Evaluation
from xscl.explain import as_text
from xscl.matches.match import Match
from xscl.matches.published import MatchStream, Streams
from xscl.memory import Budget, Relations
from xscl.queries.catalogue import Catalogue
from xscl.queries.registration import Added, Registration, together
from xscl.queries.subscription import Subscription
from xscl.sources.tables import envelopes as envelopes_of
from xscl.stream_names import is_internal
from xscl.times import duration
from xscl.why import Funnel, Why, funnel, why

__all__ = ["Engine"]

log = logging.getLogger("xscl")

Envelope = Mapping[str, object]
OnMatch = Callable[[Match], object]

_Due = tuple[Sequence[Delivery], Sequence[int]]
"""What is to be told, and the numbers under which the state file has it."""

_Found = tuple[list[DocumentError], _Due, list[tuple[Subscription, list[Undelivered]]]]
"""What new subscriptions cause: documents that could not be read, matches, and those of earlier
runs that are told again."""


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
    `memory` bounds what it holds in process (bytes; the default, None, bounds only what is kept at
    hand for joins): what is beyond lies in temporary files.

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
        memory: int | None = None,
    ) -> None:
        self._lock = threading.RLock()
        budget = Budget.of(memory)
        self._relations = Relations(budget.relations)
        strategies = strategies or Strategies()
        if budget.at_hand is not None:
            at_hand = min(budget.at_hand, strategies.memory)
            strategies = replace(strategies, memory=at_hand)
        self._join = JoinProcessor(self._relations.connect, strategies)
        self._strings = Strings()
        self._xpath = XPathEvaluator(self._strings)
        self._on_skip = on_skip or (lambda error: log.warning("skipped: %s", error))
        stages: tuple[SecondStage, ...] = (self._join,)
        self._queries = Catalogue(self._xpath, self._join.registry, longest_reach(stages))
        retention = Retention(self._queries.reach)
        self._intake = Intake(_lateness(lateness), retention, bodies=Bodies(budget.bodies))
        self._skips: list[DocumentError] = []
        self._evaluation = Evaluation(
            self._xpath, stages, self._strings, self._queries, self._intake, self._skips.append
        )
        self._registration = Registration(
            self._queries, self._evaluation, self._intake, self._cancel, sharing=query_sharing
        )
        self._streams = Streams()
        self._next_query = 1
        self._closed = False
        self._transactions = 0
        self._postponed: list[_Due] = []
        self._keeper: Keeper | None = None
        if state is not None:
            self._open(state, lateness, budget.state)

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
        the values of the text's parameters (section 9).  Raises QueryError, or an ExceptionGroup
        of several.
        """
        with self._changing():
            read, following = self._registration.read_one(text, self._next_query, name)
            added, errors = self._registration.one(
                read, name or read.name, params or {}, on_match, history
            )
            if errors:
                raise together(errors)
            self._next_query = following
            found = self._keep_found(added)
        (subscription,) = self._found(added, found)
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
        with self._changing():
            read, self._next_query = self._registration.read_one(text, self._next_query)
            added, errors = self._registration.rows(read, table, on_match, history)
            found = self._keep_found(added)
        subscriptions = self._found(added, found)
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
        tables = tables or {}
        with self._changing():
            queries, errors, following = self._registration.read(text, self._next_query)
            known = {query.name for query in queries} | {error.query for error in errors}
            if unknown := tables.keys() - known:
                raise XSCLError(
                    f"there is a table for {', '.join(sorted(unknown))}, but no query of that "
                    f"name; the text has: {', '.join(sorted(known)) or 'none'}"
                )
            self._next_query = following
            added: list[Added] = []
            for read in queries:
                if read.name in tables:
                    table = tables[read.name]
                    some, wrong = self._registration.rows(read, table, on_match, history)
                else:
                    some, wrong = self._registration.one(read, read.name, {}, on_match, history)
                added += some
                errors += wrong
            found = self._keep_found(added)
        subscriptions = self._found(added, found)
        return subscriptions, sorted(errors, key=lambda error: (error.line, error.column))

    @property
    def subscriptions(self) -> list[Subscription]:
        """The queries, in order of subscription."""
        with self._lock:
            return list(self._queries)

    def cancel(self, name: str) -> None:
        """Cancels the query of a name; raises StateError if there is none.

        What it used, and documents that only it could reach, are let go with the next document.
        """
        with self._lock:
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
        return self._publish([envelope], raising=True, grouped=grouped)

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
        return self._publish(list(envelopes_of(envelopes)), raising=False, grouped=grouped)

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
        """Publishes documents in batches, lazily; yields the matches as they are found, or
        `grouped` those of the same documents together."""
        for some in in_batches(envelopes_of(envelopes), batch):
            yield from self._publish(some, raising=False, grouped=grouped)

    def count(self, envelopes: object, *, batch: int = 1000) -> Counter[str]:
        """Publishes documents in batches and counts the matches of each query, without building
        any that nobody reads; callbacks are not called."""
        counts = Counter({subscription.name: 0 for subscription in self.subscriptions})
        for some in in_batches(envelopes_of(envelopes), batch):
            with self._changing(), self._relations.shortage_told():
                counts.update(self._evaluation.count(some))
                skips = self._take_skips()
            self._report(skips)
        return counts

    def stream(self, name: str) -> MatchStream:
        """An iterator over the matches that are published to a stream from now on, for use in
        another thread or, by `async for`, in an event loop; it ends when the engine is closed.

        Raises StateError if no query publishes to it.
        """
        with self._lock:
            self._check_open()
            if name not in self.published:
                known = ", ".join(self.published) or "none"
                raise StateError(f"no query publishes to {name!r}; published are: {known}")
            return self._streams.open(name)

    @property
    def skipped(self) -> Skipped:
        """How many documents were skipped, by reason."""
        return self._intake.skipped

    @property
    def documents(self) -> int:
        """How many documents were taken in."""
        return self._intake.documents

    @property
    def streams(self) -> list[str]:
        """The streams that queries read, sorted."""
        return sorted(stream for stream in self._queries.graph.read if not is_internal(stream))

    @property
    def published(self) -> list[str]:
        """The streams that queries publish, in order of subscription."""
        return self._queries.graph.published

    def reads(self, stream: str) -> bool:
        """Whether any query reads a stream."""
        return self._queries.graph.read[stream] > 0

    # What it knows of itself

    def explain(self, name: str) -> str:
        """What became of the query of a name: the text of `xscl explain`."""
        with self._lock:
            all_of_them = [subscription.outline for subscription in self._queries]
            return as_text(self._queries.named(name).dissection, all_of_them)

    def why(self, name: str, *documents: str | Envelope) -> Why | Funnel:
        """Why some documents match the query of a name, or do not: each condition with the values
        on both sides.  A document for each block of the query, in their order: the id of one that
        is held, or an envelope.

        Without documents, a funnel: how many of those held, and of their pairs, came through each
        condition.  Raises StateError for an id that is not held.
        """
        with self._lock:
            self._check_open()
            dissection = self._queries.named(name).dissection
            if not documents:
                read = {stream for one in dissection.everything() for stream in one.streams}
                held = [one for one in self._intake.held.values() if one.stream in read]
                results = [
                    [document for document in held if document.stream == stream]
                    for stream, _ in dissection.subqueries
                ]
                return funnel(dissection.query, held, results)
            streams = [*dissection.streams, *[""] * len(documents)]
            given = [
                self._intake.read(one) if isinstance(one, Mapping) else self._held(one, stream)
                for one, stream in zip(documents, streams, strict=False)
            ]
        return why(dissection.query, given)

    def holds(self, id: str) -> bool:
        """Whether a document of an id is held, of whatever stream."""
        with self._lock:
            return any(document.id == id for document in self._intake.held.values())

    def stats(self) -> dict[str, object]:
        """The sizes of all that the engine holds, once what is out of reach has been let go."""
        with self._lock:
            self._check_open()
            self._evaluation.forget(exact=True)
            return stats(
                self._intake,
                self._queries,
                self._xpath,
                self._join,
                self._strings,
                self._relations,
            )

    # Life

    def close(self) -> None:
        """Closes the engine; what is asked of it afterwards raises StateError.

        A state file is complete already, but for which callbacks have returned.
        """
        with self._lock:
            if self._closed:
                return
            at("before close")
            try:
                if self._keeper is not None:
                    self._keeper.commit()
                    self._keeper.file.tidy()
            finally:
                self._abandon()

    def __enter__(self) -> Engine:
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

        An exception in it closes the engine, for the file is then behind it: open it again.
        """
        postponed: list[_Due] = []
        try:
            with self._changing():
                try:
                    yield
                except BaseException:
                    if self._keeper is not None:
                        self._abandon()
                    raise
                finally:
                    if self._transactions == 1:
                        postponed, self._postponed = self._postponed, []
        except BaseException:
            if self._keeper is not None:
                postponed = []
            raise
        finally:
            for due in postponed:
                self._deliver(due)

    @property
    def keeper(self) -> Keeper | None:
        """What keeps the state file, for what is to be in the same transactions; None without."""
        return self._keeper

    def plan(self, texts: Texts) -> Plan:
        """What would become of the queries of the state file if those of some texts were asked
        for instead."""
        with self._lock:
            self._check_open()
            return plan(self._registration, texts)

    # Inside

    def _publish(
        self, envelopes: Sequence[Envelope], *, raising: bool, grouped: bool
    ) -> list[Match] | MatchGroups:
        groups: MatchGroups | None = None
        with self._changing(), self._relations.shortage_told():
            if grouped:
                groups, deliveries = self._evaluation.publish_grouped(envelopes, raising=raising)
            else:
                deliveries = self._evaluation.publish(envelopes, raising=raising)
            at("evaluated")
            due = self._keep(deliveries)
            skips = self._take_skips()
        self._report(skips)
        self._deliver(due)
        return [match for _, match in deliveries] if groups is None else groups

    def _held(self, id: str, stream: str) -> Document:
        """The document of an id that is held, that of a stream if there are several."""
        found = [one for one in self._intake.held.values() if one.id == id]
        if not found:
            raise StateError(
                f"no document {id!r} is held: it has not come, was skipped, or no query can reach "
                "it any more"
            )
        return next((one for one in found if one.stream == stream), found[0])

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("the engine is closed; make a new one")

    def _found(self, added: Iterable[Added], found: _Found) -> list[Subscription]:
        """The subscriptions, each with what it found in the documents held; those of an earlier
        run are told what that may not have told them."""
        skips, due, again = found
        self._report(skips)
        self._deliver(due)
        for subscription, kept in again:
            for waiting in kept:
                subscription.deliver(remembered(waiting))
            self._delivered(waiting.number for waiting in kept)
        subscriptions = []
        for subscription, deliveries in added:
            if deliveries:
                subscription.found = [match for _, match in deliveries]
            subscriptions.append(subscription)
        return subscriptions

    def _keep_found(self, added: Iterable[Added]) -> _Found:
        """What is to be told once queries are subscribed."""
        due = self._keep([delivery for _, deliveries in added for delivery in deliveries])
        again = []
        for subscription in self._registration.attached:
            if self._keeper is not None and subscription.on_match is not None:
                kept = self._keeper.take_undelivered(CALLBACK, subscription.name)
                again.append((subscription, kept))
        self._registration.attached.clear()
        return self._take_skips(), due, again

    def _cancel(self, subscription: Subscription) -> None:
        with self._lock, contextlib.ExitStack() as stack:
            if not self._closed:
                stack.enter_context(self._changing())
            removed = not self._closed and self._queries.remove(subscription)
            if removed and self._keeper is not None:
                self._keeper.cancelled(subscription)
            self._intake.settled = False
            if removed and not len(self._queries):
                # Nothing may come any more: what the queries have held goes now.
                self._evaluation.forget(exact=True)

    def _take_skips(self) -> list[DocumentError]:
        skips = self._skips[:]
        self._skips.clear()
        return skips

    def _report(self, skips: Iterable[DocumentError]) -> None:
        for error in skips:
            try:
                self._on_skip(error)
            except Exception:
                # A user's code may raise anything; the other documents are unaffected.
                log.exception("on_skip raised on: %s", error)

    def _keep(self, deliveries: Sequence[Delivery]) -> _Due:
        """What is to be told once the transaction is written, at its end at the earliest; until
        then the state file has what callbacks wait for."""
        numbers = () if self._keeper is None else self._keeper.wait(deliveries)
        if self._transactions > 1:
            self._postponed.append((deliveries, numbers))
            return (), ()
        return deliveries, numbers

    def _deliver(self, due: _Due) -> None:
        deliveries, numbers = due
        at("before delivery")
        for subscription, match in deliveries:
            if match.stream is not None:
                self._streams.publish(match.stream, match)
            subscription.deliver(match)
        at("after delivery")
        self._delivered(numbers)

    def _delivered(self, numbers: Iterable[int]) -> None:
        if self._keeper is not None:
            self._keeper.delivered(numbers)

    # The state file

    def _open(
        self, state: str | os.PathLike[str], lateness: float | str | None, share: int
    ) -> None:
        """Opens a state file, and becomes the engine that it keeps."""
        file = StateFile(state, f"xscl {xscl.__version__}", share)
        try:
            keeper = Keeper(file, self._intake)
            recover(file, keeper, self._registration, self._evaluation, self._intake)
            if lateness is None:
                self._intake.lateness = file.counters().lateness
        except BaseException:
            file.close(unwritten=True)
            raise
        self._skips.clear()
        self._keeper = self._registration.notes = keeper
        at("opened")

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Around all that changes the engine: at its end the state file has it.  If that cannot be,
        the engine is closed, and the file is as it was before."""
        with self._lock:
            self._check_open()
            self._transactions += 1
            try:
                yield
                if self._transactions == 1 and self._keeper is not None:
                    self._keeper.commit()
            except (XSCLError, ExceptionGroup) as error:
                ended = isinstance(error, StateError) and self._transactions == 1
                if ended and self._keeper is not None:
                    self._abandon()
                raise
            except BaseException:
                if self._keeper is not None:
                    self._abandon()
                raise
            finally:
                self._transactions -= 1

    def _abandon(self) -> None:
        """Closes the engine; what is not in the state file is lost."""
        if not self._closed:
            self._closed = True
            if self._keeper is not None:
                self._keeper.file.close()
            self._relations.close()
            # They would hold the file of the bodies.
            trees.let_go()
            self._streams.close()


def _lateness(lateness: float | str | None) -> int | None:
    if lateness is None:
        return None
    try:
        text = lateness if isinstance(lateness, str) else f"{lateness:f}"
        return duration(text)
    except ValueError as error:
        raise XSCLError(f"lateness: {error}") from error
