"""How queries get into an engine: from texts and tables to subscriptions.

A text that is like one read before is not parsed again, a query like others that are subscribed
becomes a member of their form, and only what is like nothing else goes all the way by itself:
parsed, checked, dissected and registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from xscl.dissection.parts import Dissection
from xscl.documents.intake import Intake
from xscl.errors import QueryError
from xscl.evaluation.waves import Delivery, Evaluation
from xscl.language import read_from
from xscl.language.alike import AlikeStatements, Instance, TextPlace
from xscl.language.parameters import Prepared, bind
from xscl.language.same_query import normal_form, normal_form_of
from xscl.language.syntax import Query
from xscl.matches.match import Match
from xscl.queries.catalogue import Catalogue
from xscl.queries.shared_query import Form
from xscl.queries.subscription import Subscription
from xscl.sources.tables import rows

__all__ = ["Added", "Read", "Registration", "Text", "together"]

OnMatch = Callable[[Match], object]

Added = tuple[Subscription, Sequence[Delivery]]
"""A subscription, and the matches that it caused among the documents held."""

Read = Query | Instance
"""A query of a text, as it was read."""

Text = tuple[str, int]
"""A query text, and the number that its first query has where it has no name."""


class Notes(Protocol):
    """What notes the queries that come."""

    def subscribed(
        self,
        subscription: Subscription,
        text: Text,
        written: str,
        parameters: Mapping[str, object] | None,
        *,
        position: int,
        history: bool,
    ) -> None:
        """A query was subscribed when so many documents and composites had come."""

    def reviewed(self, streams: Iterable[str]) -> None:
        """Documents held were read anew for the query that is told next."""


class Registration:
    """The way of queries into a catalogue; without `sharing` each goes by itself.

    What cannot be subscribed is left out, and told as errors.  `notes` is told of what comes.
    `kept` are subscriptions of an earlier run, by name, that nobody has asked for in this one: a
    query of such a name that says the same is that subscription, with its callback from now on.
    """

    def __init__(
        self,
        queries: Catalogue,
        evaluation: Evaluation,
        intake: Intake,
        cancel: Callable[[Subscription], None],
        *,
        sharing: bool,
    ) -> None:
        self._queries = queries
        self._evaluation = evaluation
        self._intake = intake
        self._cancel = cancel
        self._alike = AlikeStatements() if sharing else None
        self._text: Text = ("", 1)
        self.notes: Notes | None = None
        self.kept: dict[str, Subscription] = {}
        self.attached: list[Subscription] = []

    def read(self, text: str, first: int) -> tuple[list[Query | Instance], list[QueryError], int]:
        """All good queries of a text, the errors of the others, and the number that the next
        query has."""
        self._text = (text, first)
        return read_from(text, first, self._alike)

    def read_one(
        self, text: str, first: int, name: str | None = None
    ) -> tuple[Query | Instance, int]:
        """The only query of a text, and the number that the next query has; raises QueryError,
        or an ExceptionGroup of several."""
        queries, errors, following = self.read(text, first)
        if not errors and len(queries) != 1:
            errors = [_not_one(queries, text, name)]
        if errors:
            raise together(errors)
        return queries[0], following

    def one(
        self,
        read: Query | Instance,
        name: str,
        params: Mapping[str, object],
        on_match: OnMatch | None,
        history: bool,
    ) -> tuple[list[Added], list[QueryError]]:
        """Subscribes a query under a name."""
        attached = self._attach(read, name, params, on_match)
        if attached is not None:
            return [(attached, ())], []
        position = self._intake.next_number
        added, errors = self._one(read, name, params, on_match, history)
        for subscription, _ in added:
            self._note(subscription, read, params or None, position, history)
        return added, errors

    def _one(
        self,
        read: Query | Instance,
        name: str,
        params: Mapping[str, object],
        on_match: OnMatch | None,
        history: bool,
        since: int | None = None,
    ) -> tuple[list[Added], list[QueryError]]:
        if isinstance(read, Instance):
            prepared, values, place = read.prepared, read.values, read.place
            member = self._enrol(prepared, values, name, on_match, history, place, since)
            if member is not None:
                return [(member, ())], []
            if self._queries.misnamed(name) is None:
                dissection = self._queries.alike(prepared, name)
                if dissection is not None:
                    return [self._add(dissection, on_match, history, place, since)], []
        query = _in_full(read)
        query, errors = bind(query if query.name == name else query.renamed(name), params)
        if not errors:
            try:
                checked = self._queries.check(query)
                return [self._add(checked, on_match, history, None, since)], []
            except QueryError as error:
                errors.append(error)
        return [], errors

    def rows(
        self, read: Query | Instance, table: object, on_match: OnMatch | None, history: bool
    ) -> tuple[list[Added], list[QueryError]]:
        """Subscribes a query once for each row of a table."""
        added: list[Added] = []
        errors: list[QueryError] = []
        query = _in_full(read)
        prepared = Prepared(query)
        for index, row in enumerate(rows(table)):
            name = str(row.get("name") or f"{query.name}[{index}]")
            attached = self._attach(prepared, name, row, on_match)
            if attached is not None:
                added.append((attached, ()))
                continue
            position = self._intake.next_number
            some, wrong = self._row(prepared, row, name, on_match, history)
            added += some
            errors += wrong
            for subscription, _ in some if self.notes is not None else ():
                values = {parameter: row[parameter] for parameter in prepared.parameters}
                self._note(subscription, read, values, position, history)
        return added, errors

    def _row(
        self,
        prepared: Prepared,
        row: Mapping[str, object],
        name: str,
        on_match: OnMatch | None,
        history: bool,
        since: int | None = None,
    ) -> tuple[list[Added], list[QueryError]]:
        member = self._enrol(prepared, row, name, on_match, history, None, since)
        if member is not None:
            return [(member, ())], []
        bound, errors = prepared.bind(row, name)
        if not errors:
            try:
                return [self._add(self._queries.check(bound), on_match, history, None, since)], []
            except QueryError as error:
                errors.append(error)
        return [], errors

    def resume(
        self,
        read: Read | Prepared,
        name: str,
        values: Mapping[str, object] | None,
        *,
        since: int,
        history: bool,
    ) -> None:
        """Subscribes a query of an earlier run, which sees the documents from number `since`; it
        finds nothing in those that there are.  Raises QueryError if that cannot be."""
        if isinstance(read, Prepared):
            added, errors = self._row(read, values or {}, name, None, history, since)
        else:
            added, errors = self._one(read, name, values or {}, None, history, since)
        if errors:
            raise errors[0]
        for subscription, _ in added:
            self.kept[name] = subscription

    def same(
        self, read: Read | Prepared, name: str, values: Mapping[str, object], other: Subscription
    ) -> bool:
        """Whether a query with some values says what a subscription does."""
        source = other.standing.source
        if isinstance(source, Form):
            prepared = read if isinstance(read, Prepared) else None
            if isinstance(read, Instance):
                prepared, values = read.prepared, read.values
            if prepared is not None and (
                prepared is source.prepared
                or normal_form_of(prepared) == normal_form_of(source.prepared)
            ):
                kept = {**source.bound, **dict(zip(source.left_open, other.values, strict=True))}
                return all(
                    key in values
                    and isinstance(values[key], str) == isinstance(value, str)
                    and values[key] == value
                    for key, value in kept.items()
                )
        if isinstance(read, Prepared):
            query, errors = read.bind(values)
        else:
            query, errors = bind(_in_full(read), values)
        return not errors and normal_form(query) == normal_form(other.query)

    def _attach(
        self,
        read: Read | Prepared,
        name: str,
        values: Mapping[str, object],
        on_match: OnMatch | None,
    ) -> Subscription | None:
        """The subscription of an earlier run that a query is."""
        kept = self.kept.get(name)
        if kept is None or not kept.active or not self.same(read, name, values, kept):
            return None
        del self.kept[name]
        kept.on_match = on_match
        self.attached.append(kept)
        return kept

    def _note(
        self,
        subscription: Subscription,
        read: Read,
        values: Mapping[str, object] | None,
        position: int,
        history: bool,
    ) -> None:
        if self.notes is not None:
            self.notes.subscribed(
                subscription, self._text, read.name, values, position=position, history=history
            )

    def _enrol(
        self,
        prepared: Prepared,
        row: Mapping[str, object],
        name: str,
        on_match: OnMatch | None,
        history: bool,
        place: TextPlace | None,
        since: int | None,
    ) -> Subscription | None:
        """Subscribes a query as one of many that are alike; None where it is not, or is wrong."""
        if self._alike is None or history or prepared.problems(row):
            return None
        if self._queries.misnamed(name) is not None:
            return None
        if since is None:
            self._evaluation.settle()
            since = self._intake.next_number
        return self._queries.enrol(
            prepared, row, name, since=since, on_match=on_match, cancel=self._cancel, written=place
        )

    def _add(
        self,
        dissection: Dissection,
        on_match: OnMatch | None,
        history: bool,
        place: TextPlace | None,
        since: int | None,
    ) -> Added:
        """Subscribes a query that was checked; with `since`, as it was in an earlier run."""
        now = since is None
        if since is None:
            if history:
                self._evaluation.forget(exact=True)
            else:
                self._evaluation.settle()
            since = 0 if history else self._intake.next_number
        subscription, numbers = self._queries.add(
            dissection, since=since, on_match=on_match, cancel=self._cancel, written=place
        )
        deliveries: list[Delivery] = []
        if history and now:
            streams = {stream for one in dissection.everything() for stream in one.streams}
            if self.notes is not None:
                self.notes.reviewed(streams)
            deliveries = self._evaluation.review(numbers, streams)
        return subscription, deliveries


def together(errors: Sequence[QueryError]) -> QueryError | ExceptionGroup[QueryError]:
    """Errors as one to be raised."""
    return errors[0] if len(errors) == 1 else ExceptionGroup("bad query", errors)


def _in_full(read: Query | Instance) -> Query:
    return read.query if isinstance(read, Instance) else read


def _not_one(queries: Sequence[Query | Instance], text: str, name: str | None) -> QueryError:
    problem = f"expected one query, found {len(queries)}; `load` takes several"
    at = queries[1].at if queries else 0
    return QueryError(problem, query=name or "", text=text, at=at)
