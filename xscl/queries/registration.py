"""How queries get into an engine: text → language → dissection → queries → stages.

A text that is like one read before is not parsed again, and a query like others that are subscribed
shares what these have; one that is like nothing else goes all the way by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from xscl.dissection.dissect import dissect
from xscl.errors import QueryError
from xscl.language.alike import AlikeStatements, Instance
from xscl.language.level import level_of
from xscl.language.parameters import Prepared, bind
from xscl.language.read import read_from
from xscl.language.same_query import normal_form, normal_form_of
from xscl.language.syntax import Query
from xscl.queries.callbacks import OnMatch
from xscl.queries.catalogue import Catalogue
from xscl.queries.shared_query import SharedQuery
from xscl.queries.subscription import Subscription
from xscl.sources.tables import rows

__all__ = ["Read", "Registration", "Request", "Text", "requests", "together"]

Read = Query | Instance
"""A query of a text, as it was read."""

Text = tuple[str, int]
"""A query text, and the number that its first query has where it has no name."""


class Request(NamedTuple):
    """A query to be subscribed under a name, with the values of its parameters: those given with
    it, or of one that is prepared a row of a table."""

    read: Read | Prepared
    name: str
    values: Mapping[str, object]

    @property
    def prepared(self) -> tuple[Prepared, Mapping[str, object]] | None:
        """The query without its constants, and these; None where it was read in full."""
        read = self.read
        if isinstance(read, Instance):
            return read.prepared, read.values
        return (read, self.values) if isinstance(read, Prepared) else None

    @property
    def query(self) -> tuple[Query, list[QueryError]]:
        """The query in full, under its name, and the errors of its values."""
        if isinstance(self.read, Prepared):
            return self.read.bind(self.values, self.name)
        query = _in_full(self.read)
        return bind(query if query.name == self.name else query.renamed(self.name), self.values)

    @property
    def written(self) -> str:
        """The query's name in its text."""
        return self.read.query.name if isinstance(self.read, Prepared) else self.read.name

    @property
    def parameters(self) -> Mapping[str, object] | None:
        """The values that are not in the text; None of a query without any."""
        if isinstance(self.read, Prepared):
            return {name: self.values[name] for name in self.read.parameters}
        # Other values may be given in addition: these may be anything, and mean nothing.
        asked = Prepared(_in_full(self.read)).parameters if self.values else ()
        return {name: self.values[name] for name in asked} or None


def requests(read: Read, tables: Mapping[str, object]) -> Iterator[Request]:
    """A query under its name, with the values that there may be for its parameters; or where it has
    a table once for each row."""
    if read.name not in tables:
        yield Request(read, read.name, {})
        return
    prepared, table = Prepared(_in_full(read)), tables[read.name]
    if isinstance(table, Mapping):
        yield Request(prepared, read.name, table)
        return
    for index, row in enumerate(rows(table)):
        yield Request(prepared, str(row.get("name") or f"{read.name}[{index}]"), row)


class Registration:
    """The way of queries into a catalogue; without `sharing` each goes by itself.

    `kept` are subscriptions of an earlier run, by name, that nobody has asked for in this one: a
    query of that name that says the same is that subscription, with its callback from now on
    (`attached`).
    """

    def __init__(self, queries: Catalogue, *, sharing: bool) -> None:
        self._queries = queries
        self._alike = AlikeStatements() if sharing else None
        self.kept: dict[str, Subscription] = {}
        self.attached: list[Subscription] = []

    def read(self, text: str, first: int) -> tuple[list[Read], list[QueryError], int]:
        """All good queries of a text, the errors of the others, and the number that the next
        query has."""
        return read_from(text, first, self._alike)

    def read_one(self, text: str, first: int, name: str | None = None) -> tuple[Read, int]:
        """The only query of a text, and the number that the next query has; raises QueryError,
        or an ExceptionGroup of several."""
        queries, errors, following = self.read(text, first)
        if not errors and len(queries) != 1:
            errors = [_not_one(queries, text, name)]
        if errors:
            raise together(errors)
        return queries[0], following

    def subscribe(
        self, request: Request, *, since: int, history: bool, on_match: OnMatch | None = None
    ) -> Subscription | list[QueryError]:
        """Subscribes a query that sees the documents from number `since` on; or returns its
        errors.  With `history` it shares no constants, as it is reviewed by itself."""
        prepared, values = request.prepared or (None, {})
        if prepared is not None and self._may_share(prepared, values, request.name):
            # What is wrong with it is said in its own words, below.
            with suppress(QueryError, ExceptionGroup):
                shared = self._subscribe_shared(request, prepared, values, since, history, on_match)
                if shared is not None:
                    return shared
        query, errors = request.query
        if errors:
            return errors
        try:
            self._queries.check_name(query)
            return self._queries.add(dissect(query), since, on_match)
        except QueryError as error:
            errors = [error]
        except ExceptionGroup as several:
            errors = [error for error in several.exceptions if isinstance(error, QueryError)]
        for one in errors:
            # A sub-query has a name that nobody has given.
            one.query = request.name
        return errors

    def _subscribe_shared(
        self,
        request: Request,
        prepared: Prepared,
        values: Mapping[str, object],
        since: int,
        history: bool,
        on_match: OnMatch | None,
    ) -> Subscription | None:
        """Subscribes a query that shares what others have, if it can."""
        read = request.read
        place = read.place if isinstance(read, Instance) and not read.is_first else None
        queries = self._queries
        wiring = queries.alike(prepared)
        if wiring is not None:
            return queries.add_alike(wiring, request.name, since, on_match, place)
        shared = None if history else queries.shared.find(prepared, values, queries.schemas.of)
        if shared is not None:
            return queries.add_shared(shared, values, request.name, since, on_match, place)
        if place is None or not prepared.stands_alone or prepared.query.language.schemas:
            return None
        # It shares nothing in the stages, but the text is not parsed again.
        query = prepared.opened(values, ()).renamed(request.name)
        return queries.add(dissect(query), since, on_match, place)

    def _may_share(self, prepared: Prepared, values: Mapping[str, object], name: str) -> bool:
        """Whether a query may share what others have; one with errors does not get so far.  It is
        asked of the query that it is like, as it may not have been read itself."""
        queries, like = self._queries, prepared.like or prepared
        return (
            self._alike is not None
            # Its level must be checked.
            and not (queries.levels.default.name == "middle" or level_of(like.query))
            and not like.problems(values)
            and queries.misnamed(name) is None
        )

    def resume(
        self,
        request: Request,
        closed: Mapping[str, tuple[str, ...]],
        *,
        since: int,
        history: bool,
    ) -> None:
        """Subscribes a query of an earlier run, which finds nothing in the documents that there
        are, and to which some streams were `closed`.  Raises QueryError if that cannot be."""
        with self._queries.schemas.as_before(closed):
            outcome = self.subscribe(request, since=since, history=history)
        if isinstance(outcome, list):
            raise outcome[0]
        self.kept[request.name] = outcome

    def attach(self, request: Request, on_match: OnMatch | None) -> Subscription | None:
        """The subscription of an earlier run that a query is, with its callback from now on."""
        kept = self.kept.get(request.name)
        if kept is None or not kept.active or not self.same(request, kept):
            return None
        del self.kept[request.name]
        self._queries.attach(kept, on_match)
        self.attached.append(kept)
        return kept

    def same(self, request: Request, other: Subscription) -> bool:
        """Whether a query with its values says what a subscription does."""
        source, prepared = other.wiring.source, request.prepared
        if isinstance(source, SharedQuery) and prepared is not None:
            query, values = prepared
            if query.problems(values):
                # To Python, True is 1; to a query it is no constant.
                return False
            # Constants are named by their places: in another text they may be others.
            if query is source.prepared or (
                not any(name.isdigit() for name in values)
                and normal_form_of(query) == normal_form_of(source.prepared)
            ):
                kept = {**source.bound, **dict(zip(source.left_open, other.values, strict=True))}
                return all(
                    key in values
                    and isinstance(values[key], str) == isinstance(value, str)
                    and values[key] == value
                    for key, value in kept.items()
                )
        bound, errors = request.query
        return not errors and normal_form(bound) == normal_form(other.query)


def together(errors: Sequence[QueryError]) -> QueryError | ExceptionGroup[QueryError]:
    """Errors as one to be raised."""
    return errors[0] if len(errors) == 1 else ExceptionGroup("bad query", errors)


def _in_full(read: Read) -> Query:
    return read.query if isinstance(read, Instance) else read


def _not_one(queries: Sequence[Read], text: str, name: str | None) -> QueryError:
    problem = f"expected one query, found {len(queries)}; `load` takes several"
    at = queries[1].at if queries else 0
    return QueryError(problem, query=name or "", text=text, at=at)
