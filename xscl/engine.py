"""The engine: the one object that users hold, with all the rooms behind it.

Queries go in by `subscribe` and `load`; documents by `publish`, `publish_many`, `run` and
`count`.  A batch of documents takes one way: parsed and matched against the tree patterns
(stage 1), joined and evaluated by template (stage 2), its matches bound to their documents.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType

import duckdb
from lxml import etree

from join_stage import JoinProcessor, Views
from xpath_stage import ExcessiveDocument, Strings, Witnesses, XPathEvaluator
from xscl.batches import arrow_batch, in_batches
from xscl.catalogue import Catalogue
from xscl.document import Document, kept, parsed
from xscl.errors import DocumentError, QueryError, StateError, XSCLError
from xscl.explain import as_text
from xscl.intake import Intake, Skipped
from xscl.language import parse_from
from xscl.language.syntax import Query
from xscl.match import Match
from xscl.subscription import Row, Subscription
from xscl.times import duration

__all__ = ["Engine"]

log = logging.getLogger("xscl")

Envelope = Mapping[str, object]


class Engine:
    """Standing queries over streams of documents, in memory.

    `lateness` bounds how late a document may come (seconds, or text such as `1 day`; the
    default, None, is without bound): with it, and windows that end, the state forgets.
    `on_skip` is told of each document that cannot be read; by default it is logged.  An engine
    may be used from several threads.

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
        *,
        lateness: float | str | None = None,
        on_skip: Callable[[DocumentError], object] | None = None,
    ) -> None:
        self._lock = threading.RLock()
        self._connection = duckdb.connect()
        self._join = JoinProcessor(self._connection)
        self._strings = Strings()
        self._xpath = XPathEvaluator(self._strings)
        self._on_skip = on_skip or (lambda error: log.warning("skipped: %s", error))
        self._queries = Catalogue(self._xpath, self._join.registry)
        self._intake = Intake(_lateness(lateness), self._queries.reach)
        self._next_query = 1
        self._closed = False

    # Queries

    def subscribe(
        self,
        text: str,
        name: str | None = None,
        on_match: Callable[[Match], object] | None = None,
    ) -> Subscription:
        """Subscribes one query; it sees the documents published from now on.

        `name` overrides the one in the text; `on_match` is called with each match.  Raises
        QueryError, or an ExceptionGroup of several.
        """
        with self._lock:
            self._check_open()
            queries, errors, following = parse_from(text, self._next_query)
            if not errors and len(queries) != 1:
                problem = f"expected one query, found {len(queries)}; `load` takes several"
                at = queries[1].at if queries else 0
                errors = [QueryError(problem, query=name or "", text=text, at=at)]
            if errors:
                raise errors[0] if len(errors) == 1 else ExceptionGroup("bad query", errors)
            (query,) = queries
            if name is not None:
                query = query.renamed(name)
            self._queries.check_name(query)
            self._next_query = following
            return self._add(query, on_match)

    def load(
        self, text: str, on_match: Callable[[Match], object] | None = None
    ) -> list[Subscription]:
        """Subscribes all queries of a query file's text.

        Bad ones are refused whole: the good ones are subscribed, then an ExceptionGroup of all
        errors is raised.
        """
        subscriptions, errors = self.load_good(text, on_match)
        if errors:
            raise ExceptionGroup(
                f"{len(errors)} bad queries" if errors[1:] else "bad query", errors
            )
        return subscriptions

    def load_good(
        self, text: str, on_match: Callable[[Match], object] | None = None
    ) -> tuple[list[Subscription], list[QueryError]]:
        """As `load`, but returns the errors beside the subscriptions."""
        with self._lock:
            self._check_open()
            queries, errors, self._next_query = parse_from(text, self._next_query)
            subscriptions = []
            for query in queries:
                try:
                    self._queries.check_name(query)
                except QueryError as error:
                    errors.append(error)
                else:
                    subscriptions.append(self._add(query, on_match))
            return subscriptions, sorted(errors, key=lambda error: (error.line, error.column))

    @property
    def subscriptions(self) -> list[Subscription]:
        """The queries, in order of subscription."""
        with self._lock:
            return list(self._queries)

    def cancel(self, name: str) -> None:
        """Cancels the query of a name; raises StateError if there is none."""
        with self._lock:
            self._cancel(self._queries.named(name))

    # Documents

    def publish(
        self,
        stream: str,
        document: object,
        *,
        id: str | None = None,
        timestamp: float | str | None = None,
    ) -> list[Match]:
        """Publishes one document, XML as text or bytes or JSON as a dict or list; returns the
        matches that it completes.

        Raises DocumentError if it cannot be read.  A late or duplicate document is counted and
        has no matches.
        """
        kind = "xml" if isinstance(document, str | bytes) else "json"
        envelope = {"stream": stream, kind: document, "id": id, "timestamp": timestamp}
        with self._lock:
            self._check_open()
            return self._deliver(self._publish([envelope], self._raise))

    def publish_many(self, envelopes: Iterable[Envelope]) -> list[Match]:
        """Publishes documents as one batch; those that cannot be read are reported, counted and
        skipped.  An envelope is a dict as in a line of an events file."""
        with self._lock:
            self._check_open()
            return self._deliver(self._publish(envelopes, self._report))

    def run(self, envelopes: Iterable[Envelope], *, batch: int = 1000) -> Iterator[Match]:
        """Publishes documents in batches, lazily; yields the matches as they are found."""
        for some in in_batches(envelopes, batch):
            yield from self.publish_many(some)

    def count(self, envelopes: Iterable[Envelope], *, batch: int = 1000) -> Counter[str]:
        """Publishes documents in batches and counts the matches of each query, without building
        any; callbacks are not called."""
        counts = Counter({subscription.name: 0 for subscription in self._queries})
        for some in in_batches(envelopes, batch):
            with self._lock:
                self._check_open()
                if self._take_in(some, self._report):
                    for number, matches in self._join.counts().items():
                        counts[self._queries.numbered(number).name] += matches
                    # Disjuncts of one query may agree on a match.
                    counts.update(sub.name for sub, _ in self._rows(but_alone=True))
                self._forget()
        return counts

    @property
    def skipped(self) -> Skipped:
        """How many documents were skipped, by reason."""
        return self._intake.skipped

    @property
    def documents(self) -> int:
        """How many documents were taken in."""
        return self._intake.documents

    def reads(self, stream: str) -> bool:
        """Whether any query reads a stream."""
        return stream in self._intake.reach

    def explain(self, name: str) -> str:
        """What became of the query of a name: the text of `xscl explain`."""
        with self._lock:
            all_of_them = [subscription.dissection for subscription in self._queries]
            return as_text(self._queries.named(name).dissection, all_of_them)

    def relations(self) -> Views:
        """The thesis' relations over the engine's state (table 6.4)."""
        with self._lock:
            self._check_open()
            names = {number: sub.name for sub in self._queries for number in sub.numbers}
            return Views(self._join, names)

    # Life

    def close(self) -> None:
        """Closes the engine; what is asked of it afterwards raises StateError."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Inside

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("the engine is closed; make a new one")

    def _add(self, query: Query, on_match: Callable[[Match], object] | None) -> Subscription:
        since = self._intake.next_number
        return self._queries.add(query, since=since, on_match=on_match, cancel=self._cancel)

    def _cancel(self, subscription: Subscription) -> None:
        with self._lock:
            if not self._closed and self._queries.remove(subscription):
                self._forget()

    def _raise(self, error: DocumentError) -> None:
        raise error

    def _report(self, error: DocumentError) -> None:
        try:
            self._on_skip(error)
        except Exception:
            # A user's code may raise anything; the other documents are unaffected.
            log.exception("on_skip raised on: %s", error)

    def _take_in(
        self, envelopes: Iterable[Envelope], on_error: Callable[[DocumentError], None]
    ) -> bool:
        """Brings a batch into the join stage; False if nothing of it can match anything.

        The batch is read whole before anything of it counts: a source that fails halfway has
        published nothing.
        """
        intake = self._intake
        documents: list[Document] = []
        witnesses = Witnesses()
        for envelope in list(envelopes):
            try:
                document = intake.read(envelope)
                root = parsed(document)
                document = kept(document)
                if intake.admit(document) and document.stream in intake.reach:
                    self._evaluate(document, root, witnesses)
                    documents.append(document)
            except DocumentError as error:
                intake.skipped.malformed += 1
                on_error(error)
        if not documents:
            return False
        accepts = self._xpath.take_accepts()
        self._join.begin(arrow_batch(documents, witnesses, accepts, self._strings.take()))
        return True

    def _evaluate(self, document: Document, root: etree._Element, witnesses: Witnesses) -> None:
        """Stage 1; a document that causes too much work is as if it had never come."""
        try:
            self._xpath.evaluate(document.stream, root, document.number, witnesses)
        except ExcessiveDocument as error:
            self._intake.expel(document)
            raise DocumentError(str(error), stream=document.stream, document=document.id) from error

    def _publish(
        self, envelopes: Iterable[Envelope], on_error: Callable[[DocumentError], None]
    ) -> list[tuple[Subscription, Match]]:
        if not self._take_in(envelopes, on_error):
            return []
        held = self._intake.held
        found = [
            (sub, sub.match(row, [held[n] for n in row.documents], self._xpath.attribute_name))
            for sub, row in self._rows()
        ]
        self._forget()
        return found

    def _rows(self, *, but_alone: bool = False) -> Iterator[tuple[Subscription, Row]]:
        """The matches that the batch completes, in order of the completing documents, then of
        the queries; a match of several disjuncts once."""
        found: dict[tuple[Subscription, Row], int] = {}
        for outputs in self._join.outputs(but_alone=but_alone):
            for number, *values in outputs.rows:
                subscription = self._queries.numbered(number)
                entry = (subscription, subscription.row(number, values))
                found.setdefault(entry, subscription.numbers[0])

        def order(entry: tuple[Subscription, Row]) -> tuple[int, int, Row]:
            return max(entry[1].documents), found[entry], entry[1]

        yield from sorted(found, key=order)

    def _forget(self) -> None:
        gone = self._intake.forget()
        if gone:
            self._strings.forget(self._join.state.forget(gone))

    def _deliver(self, found: list[tuple[Subscription, Match]]) -> list[Match]:
        for subscription, match in found:
            subscription.deliver(match)
        return [match for _, match in found]


def _lateness(lateness: float | str | None) -> int | None:
    if lateness is None:
        return None
    try:
        text = lateness if isinstance(lateness, str) else f"{lateness:f}"
        return duration(text)
    except ValueError as error:
        raise XSCLError(f"lateness: {error}") from error
