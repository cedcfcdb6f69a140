"""Queries into an engine, and out of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from xscl.engine.parts import EngineParts
from xscl.engine.transactions import Change, Outgoing
from xscl.errors import QueryError, XSCLError
from xscl.evaluation.deliveries import Deliveries
from xscl.garbage import without_collecting
from xscl.queries.callbacks import OnMatch, callbacks
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.durable.plan import Plan, Texts
    from xscl.language.automata.description import Automaton
    from xscl.queries.registration import Request, Text

__all__ = ["Subscribing"]

Added = tuple[Subscription, Deliveries | None]
"""A subscription, and the matches that it caused among the documents held, if it looked back."""

_NUMBERED = re.compile(r"q[1-9][0-9]{0,9}")
"""The names of queries that have none of their own."""


class Subscribing(EngineParts):
    """Subscribes queries, and cancels them."""

    def subscribe(
        self,
        text: str | Automaton,
        name: str | None = None,
        on_match: OnMatch | None = None,
        *,
        on_retract: OnMatch | None = None,
        params: Mapping[str, object] | None = None,
        rates: Mapping[str, float] | None = None,
        history: bool = False,
    ) -> Subscription:
        """Subscribes a query or an automaton; it sees the documents published from now on and, with
        `history`, those that the engine still holds: what these match is in the subscription's
        `found`.

        `name` overrides the one in the text; `on_match` is called with each match, and
        `on_retract` with each `Retraction` of one; `params` are
        the values of the text's parameters; `rates` say how many documents of streams come each
        second, for the plans of this query and of later ones.  Raises QueryError, or an
        ExceptionGroup of several.
        """
        from xscl.queries.registration import Request, together

        called = callbacks(on_match, on_retract)
        _check(text, name=name, values=params, history=history)
        self._rate(rates or {})
        with self._transactions.changing() as change:
            source = text if isinstance(text, str) else text.statement, self._next_query
            read, following = self._registration.read_one(*source, name)
            request = Request(read, name or read.name, params or {})
            added, errors = self._subscribe(source, [request], called, history)
            if errors:
                raise together(errors)
            self._next_query = following
            (subscription,) = self._found(added, change)
        return subscription

    def replan(self) -> int:
        """Makes the plans of queries in EQL again, at the rates of now, where another one would
        cost less by a fifth; returns how many these were.  No match is reported again."""
        with self._transactions.changing():
            dearer = self._queries.levels.dearer()
            if dearer:
                self._evaluation.history.renew_patterns()
        return dearer

    def subscribe_many(
        self,
        text: str,
        table: object,
        on_match: OnMatch | None = None,
        *,
        on_retract: OnMatch | None = None,
        history: bool = False,
    ) -> list[Subscription]:
        """Subscribes one query once for each row of a table: Arrow, pandas, Polars, or dicts.

        The columns are the query's parameters; the query of row i, from 0, is named `name[i]`, or
        as a column `name` says.  Rows that cannot be subscribed are left out, then an
        ExceptionGroup of all errors is raised.
        """
        from xscl.queries.registration import requests, together
        from xscl.sources.tables import rows

        called = callbacks(on_match, on_retract)
        _check(text, history=history)
        with self._transactions.changing() as change, without_collecting():
            source = text, self._next_query
            read, following = self._registration.read_one(*source)
            # A row that is none refuses the table, before any is subscribed.
            wanted = [*requests(read, {read.name: rows(table)})]
            self._next_query = following
            added, errors = self._subscribe(source, wanted, called, history)
            subscriptions = self._found(added, change)
        if errors:
            raise together(errors)
        return subscriptions

    def load(
        self,
        text: str,
        on_match: OnMatch | None = None,
        *,
        on_retract: OnMatch | None = None,
        tables: Mapping[str, object] | None = None,
        history: bool = False,
    ) -> list[Subscription]:
        """Subscribes all queries of a query file's text; those that `tables` names, once for each
        row, as `subscribe_many` does, or with a mapping in place of a table, which has the values
        of its parameters.

        Bad ones are refused whole: the good ones are subscribed, then an ExceptionGroup of all
        errors is raised.
        """
        subscriptions, errors = self.load_good(
            text, on_match, on_retract=on_retract, tables=tables, history=history
        )
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
        on_retract: OnMatch | None = None,
        tables: Mapping[str, object] | None = None,
        history: bool | Collection[str] = False,
    ) -> tuple[list[Subscription], list[QueryError]]:
        """As `load`, but returns the errors with the subscriptions; with names as `history`,
        the queries of these names look back."""
        from xscl.queries.registration import requests

        tables, called = tables or {}, callbacks(on_match, on_retract)
        # Names of queries say which of them look back.
        _check(text, values=tables, history=isinstance(history, Collection) or history)
        with self._transactions.changing() as change, without_collecting():
            source = text, self._next_query
            queries, errors, following = self._registration.read(*source)
            known = {query.name for query in queries} | {error.query for error in errors}
            if unknown := tables.keys() - known:
                raise XSCLError(
                    f"there is a table for {', '.join(sorted(unknown))}, but no query of that "
                    f"name; the text has: {', '.join(sorted(known)) or 'none'}"
                )
            wanted = [one for read in queries for one in requests(read, tables)]
            self._next_query = following
            added, wrong = self._subscribe(source, wanted, called, history)
            errors = sorted(errors + wrong, key=lambda error: (error.line, error.column))
            subscriptions = self._found(added, change)
        return subscriptions, errors

    @property
    def subscriptions(self) -> list[Subscription]:
        """The queries, in order of subscription."""
        with self._transactions.asking():
            return list(self._queries)

    def cancel(self, name: str) -> None:
        """Cancels the query of a name; raises StateError if there is none.

        What it used, and documents that only it could reach, are dropped with the next document.
        """
        with self._transactions.asking():
            subscription = self._queries.named(name)
        self._cancel(subscription)

    def plan(self, texts: Texts) -> Plan:
        """What would become of the queries of the state file, or without one of those that there
        are, if those of some texts were asked for instead."""
        from xscl.durable.plan import plan

        with self._transactions.asking():
            registration = self._registration
            named = {one.name: one for one in self._queries}
            kept = named if self._transactions.keeper is None else registration.kept
            return plan(registration, kept, texts)

    def number_after_these(self) -> None:
        """Lets the queries that come without a name be none of these, for those who do not ask
        again for the queries of a state file."""
        with self._transactions.asking():
            numbers = [int(one.name[1:]) for one in self._queries if _NUMBERED.fullmatch(one.name)]
            self._next_query = max([self._next_query, *(number + 1 for number in numbers)])

    def _subscribe(
        self,
        source: Text,
        wanted: Iterable[Request],
        on_match: OnMatch | None,
        looking_back: bool | Collection[str],
    ) -> tuple[list[Added], list[QueryError]]:
        """Subscribes queries of a text one by one; of each that is new, the state file has the
        number of the first document that it sees, and those `looking_back`, all or by name, are
        reviewed."""
        self._intake.let_readers_copy()
        added: list[Added] = []
        errors: list[QueryError] = []
        keeper = self._transactions.keeper
        for request in wanted:
            subscription = self._registration.attach(request, on_match)
            if subscription is not None:
                self._evaluation.callbacks_changed()
                added.append((subscription, None))
                continue
            history = looking_back is True or (
                looking_back is not False and request.name in looking_back
            )
            if history:
                self._evaluation.evict(exact=True)
            else:
                self._evaluation.settle()
            position = self._intake.next_number
            since = position
            if history:
                # It shares nothing with those that have seen the documents come.
                since = self._queries.since_before(position, len(self._intake.retained))
            outcome = self._registration.subscribe(
                request,
                since=since,
                history=history,
                on_match=on_match,
            )
            if isinstance(outcome, list):
                errors += outcome
                continue
            if history and keeper is not None:
                keeper.reviewed(outcome.streams)
            deliveries = self._evaluation.deliveries(all_of_them=True) if history else None
            added.append((outcome, deliveries))
            if deliveries is not None:
                self._evaluation.history.review(outcome, deliveries)
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

    def _found(self, added: Iterable[Added], change: Change) -> list[Subscription]:
        """The subscriptions, each with the matches that it found in the documents held; what is
        to be reported of them goes out at the end of the change."""
        again = self._transactions.waiting_for(self._registration.attached)
        self._registration.attached.clear()
        awaited, subscriptions = [], []
        for subscription, deliveries in added:
            if deliveries is not None:
                awaited += deliveries.awaited
                subscription.found = deliveries.matches
            subscriptions.append(subscription)
        outgoing = Outgoing(self._skips[:], deliveries=awaited, again=again)
        self._skips.clear()
        change.outgoing = self._transactions.keep(outgoing)
        return subscriptions


def _check(text: object, *, name: object = None, values: object = None, history: object) -> None:
    """Raises XSCLError for an argument of another type than a query can have: once the engine
    changes, it would be broken off."""
    if not (isinstance(text, str) or hasattr(text, "statement")):
        kinds = "a query is a str or an Automaton"
        raise XSCLError(f"{kinds}, and this a {type(text).__name__}; of a file give its text")
    if not isinstance(name, str | None):
        raise XSCLError(f"the name of a query is a str, and this a {type(name).__name__}")
    if not isinstance(values, Mapping | None):
        raise XSCLError(f"values are a mapping by name, and this is a {type(values).__name__}")
    if not isinstance(history, bool):
        raise XSCLError(f"`history` is True or False, and this is a {type(history).__name__}")
