"""A subscribed query: its parts in the engine, and how its matches are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xpath_stage import ATTRIBUTE
from xscl.derived import Found
from xscl.dissect import Dissection, is_internal
from xscl.document import Document
from xscl.language.syntax import Query
from xscl.match import Match, match_id
from xscl.nodes import BoundNode
from xscl.times import to_seconds

__all__ = ["Subscription"]

log = logging.getLogger("xscl")


@dataclass(eq=False)
class Subscription:
    """A query in an engine; `cancel` takes it out again.

    `found` are the matches that it caused when it was subscribed with `history=True`, among the
    documents that the engine held: its own, and those of queries that read what it published.
    """

    dissection: Dissection
    numbers: tuple[int, ...]
    """The numbers of its parts in the join stage."""
    feeds: tuple[str, ...]
    """The streams that its results go to; an internal one is that of a sub-query."""
    on_match: Callable[[Match], object] | None
    _cancel: Callable[[Subscription], None]
    inner: tuple[Subscription, ...] = ()
    """Those of its sub-queries."""
    found: list[Match] = field(default_factory=list)
    active: bool = True
    """False once it is cancelled."""

    def __post_init__(self) -> None:
        parts = self.dissection.parts
        self._outputs: list[int] = []
        self._variables: list[tuple[str, int, int]] = []
        if parts:
            # All parts have the same columns: those of the blocks, which they share.
            columns = {node: i for i, node in enumerate(parts[0].stages[-1].columns)}
            self._outputs = [columns[node] for node in parts[0].outputs]
            self._variables = [
                (name, columns[node], parts[0].patterns[node].block)
                for name, node in parts[0].selected.items()
            ]

    def __repr__(self) -> str:
        return f"<Subscription {self.name!r}>"

    @property
    def name(self) -> str:
        """The query's name, unique in its engine."""
        return self.query.name

    @property
    def query(self) -> Query:
        """The query's syntax tree."""
        return self.dissection.query

    @property
    def reported(self) -> bool:
        """Whether its matches are told to anyone: not those of a sub-query."""
        return not any(map(is_internal, self.feeds))

    def cancel(self) -> None:
        """Takes the query out of its engine; once is enough, twice does no harm."""
        self._cancel(self)

    def match(
        self,
        found: Found,
        documents: Sequence[Document],
        attribute_name: Callable[[int], str | None],
    ) -> Match:
        """The match of a row, given its documents."""

        def bound(code: int, document: Document) -> BoundNode:
            return BoundNode(document, code % ATTRIBUTE, attribute_name(code))

        outputs = [
            bound(found.codes[column], document)
            for column, document in zip(self._outputs, documents, strict=True)
        ]
        variables = {
            name: bound(found.codes[column], documents[block])
            for name, column, block in self._variables
        }
        return Match(
            id=match_id(
                self.name,
                [(document.stream, document.id) for document in documents],
                [(node.number, node.attribute) for node in outputs],
                [(name, node.number, node.attribute) for name, node in sorted(variables.items())],
            ),
            query=self.name,
            stream=self.dissection.feeds,
            time=to_seconds(max(document.time for document in documents)),
            documents=tuple(document.id for document in documents),
            streams=tuple(document.source for document in documents),
            nodes=tuple(node.number for node in outputs),
            bindings={name: node.number for name, node in variables.items()},
            _made_of=(self.query.select, tuple(outputs), variables),
        )

    def deliver(self, match: Match) -> None:
        """Calls the subscriber back; what it raises is reported and stops nothing."""
        if self.on_match is None or not self.active:
            return
        try:
            self.on_match(match)
        except Exception:
            # A subscriber's code may raise anything.
            log.exception("the callback of query %r raised on match %s", self.name, match.id)
