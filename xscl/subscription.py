"""A subscribed query: its parts, its spines, and how its matches are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from join_stage import TimeConstraint
from xpath_stage import ATTRIBUTE
from xscl.dissect import Dissection
from xscl.document import Document
from xscl.language.syntax import Query
from xscl.match import Match, match_id
from xscl.results import BoundNode, build
from xscl.times import to_seconds

__all__ = ["Subscription"]

log = logging.getLogger("xscl")


@dataclass(eq=False)
class Subscription:
    """A query in an engine; `cancel` takes it out again."""

    number: int
    dissection: Dissection
    on_match: Callable[[Match], object] | None
    _cancel: Callable[[Subscription], None]

    def __post_init__(self) -> None:
        parts = self.dissection
        plan_nodes = {node: i for i, node in enumerate(parts.assignment)}
        columns = {node: i for i, node in enumerate(parts.plan.outputs)}
        # Where in a row of the plan's outputs each block's node and each variable stands.
        self._blocks = tuple(columns[plan_nodes[node]] for node in parts.outputs)
        self._variables = tuple(
            (name, columns[plan_nodes[node]], parts.patterns[node].block)
            for name, node in parts.selected.items()
        )

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
    def constraint(self) -> TimeConstraint:
        """The query's operator and window."""
        return self.dissection.constraint

    def cancel(self) -> None:
        """Takes the query out of its engine; once is enough, twice does no harm."""
        self._cancel(self)

    def match(
        self,
        documents: Sequence[Document],
        nodes: Sequence[int],
        attribute_name: Callable[[int], str | None],
    ) -> Match:
        """The match of a row of outputs: the blocks' documents and the output nodes' codes."""

        def bound(column: int, block: int) -> BoundNode:
            code = nodes[column]
            return BoundNode(documents[block], code % ATTRIBUTE, attribute_name(code))

        outputs = [bound(column, block) for block, column in enumerate(self._blocks)]
        variables = {name: bound(column, block) for name, column, block in self._variables}
        return Match(
            id=match_id(
                self.name,
                [(document.stream, document.id) for document in documents],
                [(node.number, node.attribute) for node in outputs],
                [(name, node.number, node.attribute) for name, node in sorted(variables.items())],
            ),
            query=self.name,
            stream=None,
            time=to_seconds(max(document.time for document in documents)),
            documents=tuple(document.id for document in documents),
            streams=tuple(document.stream for document in documents),
            nodes=tuple(node.number for node in outputs),
            bindings={name: node.number for name, node in variables.items()},
            _build=lambda: build(self.query.select, outputs, variables),
        )

    def deliver(self, match: Match) -> None:
        """Calls the subscriber back; what it raises is reported and stops nothing."""
        if self.on_match is None:
            return
        try:
            self.on_match(match)
        except Exception:
            log.exception("the callback of query %r raised on match %s", self.name, match.id)
