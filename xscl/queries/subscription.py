"""A subscribed query: its parts in the engine, and how its matches are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from xscl.dissection.parts import Dissection
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.event_queries.compile import SchemaOf, compile_events
from xscl.language.syntax import EventPattern, Events, Query
from xscl.matches.event_form import EventForm, Output
from xscl.matches.forms import MatchForm, Sides
from xscl.matches.match import Match
from xscl.matches.pattern_form import PatternForm, Taken
from xscl.notebook import table
from xscl.patterns.compile import CompiledPattern, compile_pattern
from xscl.queries.callbacks import call_back
from xscl.queries.levels.event_query import EventQuery
from xscl.stream_names import is_internal

if TYPE_CHECKING:
    from xscl.language.alike import TextPlace

__all__ = ["QuerySource", "Subscription", "Wiring"]

log = logging.getLogger("xscl")

_LONGEST = 2_000
"""Characters of a query that are looked at to show it."""

OnMatch = Callable[[Match], object]


class QuerySource(Protocol):
    """Makes the queries of subscriptions that do not keep them; `dissection` is that of all of
    them, and so are the numbers in the join stage; `left_open` are the names of their values."""

    dissection: Dissection
    numbers: range
    left_open: tuple[str, ...]

    def query_of(self, subscription: Subscription) -> Query:
        """The query of a subscription, made anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The parts of a subscription in its engine; subscriptions that differ in their names and
    constants alone have them in common.

    `feeds` are the streams that its results go to (an internal one is that of a sub-query), `inner`
    the subscriptions of its sub-queries, `form` is what its matches have in common; of a pattern
    there is its `pattern`, of an event query its `events`, and the `schemas` of its streams.
    """

    source: Dissection | QuerySource
    feeds: tuple[str, ...]
    cancel: Callable[[Subscription], None]
    inner: tuple[Subscription, ...]
    form: MatchForm | PatternForm | EventForm
    pattern: CompiledPattern | None = None
    events: EventQuery | None = None
    schemas: tuple[tuple[str, ...] | None, ...] | None = None

    @classmethod
    def of(
        cls,
        dissection: Dissection,
        feeds: tuple[str, ...],
        cancel: Callable[[Subscription], None],
        schema_of: SchemaOf,
        inner: tuple[Subscription, ...] = (),
        source: QuerySource | None = None,
    ) -> Wiring:
        """That of a query, given its dissection; `schema_of` says what event queries publish to a
        stream."""
        whole = dissection if source is None else source
        if isinstance(dissection.query.source, Events):
            compiled = compile_events(dissection.query, schema_of)
            left_open = () if source is None else source.left_open
            events = EventQuery(compiled, feeds, left_open)
            form = EventForm(dissection.query)
            schemas = tuple(map(schema_of, dissection.streams))
            return cls(whole, feeds, cancel, inner, form, None, events, schemas)
        if isinstance(dissection.query.source, EventPattern):
            pattern = compile_pattern(dissection.query)
            of_pattern = PatternForm(dissection.query, pattern)
            return cls(whole, feeds, cancel, inner, of_pattern, pattern)
        outputs: tuple[int, ...] = ()
        variables: tuple[tuple[str, int, int], ...] = ()
        if dissection.disjuncts:
            # All parts have the same columns: those of the blocks, which they share.
            part = dissection.disjuncts[0]
            columns = {node: i for i, node in enumerate(part.operators[-1].columns)}
            outputs = tuple(columns[node] for node in part.outputs)
            variables = tuple(
                (name, columns[node], part.patterns[node].block)
                for name, node in part.selected.items()
            )
        return cls(
            source=whole,
            feeds=feeds,
            cancel=cancel,
            inner=inner,
            form=_form(dissection, outputs, variables),
        )

    @property
    def dissection(self) -> Dissection:
        """The dissection that its subscriptions have in common."""
        return self.source if isinstance(self.source, Dissection) else self.source.dissection

    def as_read(self, dissection: Dissection) -> Dissection:
        """A dissection of it, with what was known of the streams when it was subscribed."""
        if self.schemas is None and not self.inner:
            return dissection
        inner = iter(self.inner)
        subqueries, publishing = (
            tuple((stream, next(inner).wiring.as_read(one)) for stream, one in some)
            for some in (dissection.subqueries, dissection.publishing)
        )
        return replace(
            dissection, subqueries=subqueries, publishing=publishing, schemas=self.schemas
        )

    @property
    def stream(self) -> str | None:
        """The stream that its matches are published to."""
        return self.form.stream


def _form(
    dissection: Dissection, outputs: tuple[int, ...], variables: tuple[tuple[str, int, int], ...]
) -> MatchForm:
    if dissection.query.select is None and not variables:
        return _plain_form(dissection.feeds, outputs)
    return MatchForm(dissection.query.select, dissection.feeds, outputs, variables)


@lru_cache(maxsize=1_000)
def _plain_form(stream: str | None, outputs: tuple[int, ...]) -> MatchForm:
    """The form without a SELECT, which is the same for most queries."""
    return MatchForm(None, stream, outputs, ())


class Subscription:
    """A query in an engine; `cancel` takes it out again.

    `name` is the query's, unique in its engine; `active` is False once it is cancelled.
    """

    # There may be a million of them, so one keeps little: its `order` among the others, the number
    # of the first document that it sees (`since`), and what it does not share with others of its
    # `wiring`: the `values` of parameters and the `place` of its text.

    __slots__ = (
        "_found",
        "active",
        "name",
        "on_match",
        "order",
        "place",
        "since",
        "values",
        "wiring",
    )

    def __init__(
        self,
        name: str,
        wiring: Wiring,
        order: int,
        since: int,
        on_match: OnMatch | None,
        values: tuple[object, ...] = (),
        place: TextPlace | None = None,
    ) -> None:
        self.name = name
        self.wiring = wiring
        self.order = order
        self.since = since
        self.on_match = on_match
        self.values = values
        self.place = place
        self.active = True
        self._found: list[Match] | None = None

    def __repr__(self) -> str:
        return f"<Subscription {self.name!r}{'' if self.active else ', cancelled'}>"

    def _repr_html_(self) -> str:
        published = [("publishes to", self.wiring.stream)] if self.wiring.stream else []
        state = "" if self.active else ", cancelled"
        query = self.query
        # Its own text, of that of a file which may have any number of others.
        text = query.text[query.at : query.at + _LONGEST]
        from xscl.language.scan import scan

        (statement, *_) = scan(text).statements
        rows = [("reads", ", ".join(sorted(self.streams))), *published]
        rows.append(("query", text[statement.start : statement.end]))
        return table(f"query {self.name}{state}", rows)

    @property
    def found(self) -> list[Match]:
        """The matches that it caused when it was subscribed with `history=True`, among the
        documents that the engine held: its own, and those of queries that read what it
        published."""
        if self._found is None:
            self._found = []
        return self._found

    @found.setter
    def found(self, matches: list[Match]) -> None:
        self._found = matches or None

    @property
    def query(self) -> Query:
        """The query's syntax tree."""
        if self.place is not None:
            return self.place.query.renamed(self.name)
        source = self.wiring.source
        return self.outline.query if isinstance(source, Dissection) else source.query_of(self)

    @property
    def dissection(self) -> Dissection:
        """The query, taken apart."""
        if self.place is None and isinstance(self.wiring.source, Dissection):
            return self.outline
        from xscl.dissection.dissect import dissect

        return self.wiring.as_read(dissect(self.query))

    @property
    def outline(self) -> Dissection:
        """As `dissection`, but in the words of another query where it is alike, and without the
        constants that tell it from that."""
        outline = self.wiring.as_read(self.wiring.dissection)
        if outline.query.name == self.name:
            return outline
        return replace(outline, query=replace(outline.query, name=self.name))

    @property
    def numbers(self) -> range:
        """The numbers of its parts in the join stage."""
        source = self.wiring.source
        if isinstance(source, Dissection):
            one = self.wiring.pattern is not None or self.wiring.events is not None
            return range(self.order, self.order + (len(source.disjuncts) or one))
        return source.numbers if self.wiring.events is None else range(self.order, self.order + 1)

    @property
    def all_numbers(self) -> set[int]:
        """Its numbers, and those of its sub-queries."""
        return {*self.numbers}.union(*[inner.all_numbers for inner in self.wiring.inner])

    @property
    def waits(self) -> bool:
        """Whether time may complete matches: a pattern or event query is in it."""
        wiring = self.wiring
        waits = wiring.pattern is not None or wiring.events is not None
        return waits or any(inner.waits for inner in wiring.inner)

    @property
    def streams(self) -> set[str]:
        """The streams that it and its sub-queries read."""
        return {stream for one in self.outline.everything() for stream in one.streams}

    @property
    def feeds(self) -> tuple[str, ...]:
        """The streams that its results go to; an internal one is that of a sub-query."""
        return self.wiring.feeds

    @property
    def reported(self) -> bool:
        """Whether its matches are told to anyone: not those of a sub-query."""
        return not any(map(is_internal, self.feeds))

    def cancel(self) -> None:
        """Takes the query out of its engine; once is enough, twice does no harm."""
        self.wiring.cancel(self)

    def match(self, found: OperatorRow, documents: Sequence[Document], sides: Sides) -> Match:
        """The match of a row, given its documents; what it shares with others is in `sides`."""
        form = self.wiring.form
        assert not isinstance(form, EventForm)
        if isinstance(form, PatternForm):
            return Match(self.name, form, Taken(found, documents, sides.attribute_name))
        return Match(self.name, form, sides.of(form, found.codes, documents))

    def output(self, output: Output) -> Match:
        """The match of an event query's output."""
        assert isinstance(self.wiring.form, EventForm)
        return Match(self.name, self.wiring.form, output)

    def deliver(self, match: Match) -> None:
        """Calls the subscriber back; what it raises is reported and stops nothing."""
        if self.on_match is None or not self.active:
            return
        try:
            call_back(self.on_match, match)
        except Exception:
            # A subscriber's code may raise anything.
            log.exception("the callback of query %r raised on match %s", self.name, match.id)
