"""How queries get into an engine: from texts and tables to subscriptions.

A text that is like one read before is not parsed again, a query like others that are subscribed
becomes a member of their form, and only what is like nothing else goes all the way by itself:
parsed, checked, dissected and registered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xscl.catalogue import Catalogue
from xscl.dissect import Dissection
from xscl.errors import QueryError
from xscl.evaluation import Delivery, Evaluation
from xscl.intake import Intake
from xscl.language import read_from
from xscl.language.alike import AlikeStatements, Instance, Place
from xscl.language.parameters import Prepared, bind
from xscl.language.syntax import Query
from xscl.match import Match
from xscl.subscription import Subscription
from xscl.tables import rows

__all__ = ["Added", "Registration", "together"]

OnMatch = Callable[[Match], object]

Added = tuple[Subscription, Sequence[Delivery]]
"""A subscription, and the matches that it caused among the documents held."""


class Registration:
    """The way of queries into a catalogue; without `sharing` each goes by itself.

    What cannot be subscribed is left out, and told as errors.
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

    def read(self, text: str, first: int) -> tuple[list[Query | Instance], list[QueryError], int]:
        """All good queries of a text, the errors of the others, and the number that the next
        query has."""
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
        if isinstance(read, Instance):
            prepared, values, place = read.prepared, read.values, read.place
            member = self._enrol(prepared, values, name, on_match, history, place)
            if member is not None:
                return [(member, ())], []
            if self._queries.misnamed(name) is None:
                dissection = self._queries.alike(prepared, name)
                if dissection is not None:
                    return [self._add(dissection, on_match, history, place)], []
        query = _in_full(read)
        query, errors = bind(query if query.name == name else query.renamed(name), params)
        if not errors:
            try:
                return [self._add(self._queries.check(query), on_match, history)], []
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
            member = self._enrol(prepared, row, name, on_match, history)
            if member is not None:
                added.append((member, ()))
                continue
            bound, wrong = prepared.bind(row, name)
            errors += wrong
            if not wrong:
                try:
                    added.append(self._add(self._queries.check(bound), on_match, history))
                except QueryError as error:
                    errors.append(error)
        return added, errors

    def _enrol(
        self,
        prepared: Prepared,
        row: Mapping[str, object],
        name: str,
        on_match: OnMatch | None,
        history: bool,
        place: Place | None = None,
    ) -> Subscription | None:
        """Subscribes a query as one of many that are alike; None where it is not, or is wrong."""
        if self._alike is None or history or prepared.problems(row):
            return None
        if self._queries.misnamed(name) is not None:
            return None
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
        place: Place | None = None,
    ) -> Added:
        """Subscribes a query that was checked."""
        if history:
            self._evaluation.forget(exact=True)
        else:
            self._evaluation.settle()
        since = 0 if history else self._intake.next_number
        subscription, numbers = self._queries.add(
            dissection, since=since, on_match=on_match, cancel=self._cancel, written=place
        )
        deliveries: list[Delivery] = []
        if history:
            streams = {stream for one in dissection.everything() for stream in one.streams}
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
