"""A subscribed query: its parts in the engine, and how its matches are read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from xscl.notebook import table
from xscl.queries.callbacks import OnMatch, call_back, callback_for
from xscl.stream_names import is_internal

if TYPE_CHECKING:
    from xscl.dissection.parts import Dissection
    from xscl.documents.composites import OperatorRow
    from xscl.documents.document import Document
    from xscl.language.alike import TextPlace
    from xscl.language.syntax import Query
    from xscl.matches.event_output import Output
    from xscl.matches.forms import Sides
    from xscl.matches.match import Match
    from xscl.queries.wiring import Wiring

__all__ = ["Subscription"]

log = logging.getLogger("xscl")

_LONGEST = 2_000
"""Characters of a query that are looked at to show it."""


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
        return self.wiring.query_of(self)

    @property
    def dissection(self) -> Dissection:
        """The query, taken apart."""
        if self.place is None and self.wiring.source is self.wiring.dissection:
            return self.outline
        from xscl.dissection.dissect import dissect

        return self.wiring.as_read(dissect(self.query))

    @property
    def outline(self) -> Dissection:
        """As `dissection`, but in the words of another query where it is alike, and without the
        constants by which it differs from that."""
        outline = self.wiring.as_read(self.wiring.dissection)
        if outline.query.name == self.name:
            return outline
        return replace(outline, query=replace(outline.query, name=self.name))

    @property
    def numbers(self) -> range:
        """The numbers of its parts in the join stage."""
        return self.wiring.numbers(self.order)

    @property
    def all_numbers(self) -> set[int]:
        """Its numbers, and those of its sub-queries."""
        return {*self.numbers}.union(*[inner.all_numbers for inner in self.wiring.inner])

    @property
    def waits(self) -> bool:
        """Whether time may complete matches: a pattern or event query is in it."""
        return self.wiring.timed or any(inner.waits for inner in self.wiring.inner)

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
        """Whether its matches are reported: not those of a sub-query."""
        return not any(map(is_internal, self.feeds))

    def cancel(self) -> None:
        """Takes the query out of its engine; once is enough, twice does no harm."""
        self.wiring.cancel(self)

    def matches(
        self, rows: Iterable[OperatorRow], held: Mapping[int, Document], sides: Sides
    ) -> list[Match]:
        """The matches of rows, whose documents are `held`; what they share is in `sides`."""
        return self.wiring.matches(self.name, rows, held, sides)

    def outputs(self, outputs: Iterable[Output]) -> list[Match]:
        """The matches of an event query's outputs."""
        return self.wiring.outputs(self.name, outputs)

    def output(self, output: Output) -> Match:
        """The match of one."""
        return self.outputs([output])[0]

    def deliver(self, match: Match) -> None:
        """Calls the subscriber back; what it raises is reported and stops nothing."""
        callback = callback_for(self.on_match, match)
        if callback is None or not self.active:
            return
        try:
            call_back(callback, match)
        except Exception:
            # A subscriber's code may raise anything.
            log.exception("the callback of query %r raised on match %s", self.name, match.id)
