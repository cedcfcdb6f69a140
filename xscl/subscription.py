"""A subscribed query: its parts in the engine, and how its matches are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xpath_stage import ATTRIBUTE
from xscl.dissect import Dissection, Part
from xscl.document import Document
from xscl.language.syntax import Query
from xscl.match import Match, match_id
from xscl.nodes import BoundNode
from xscl.times import to_seconds

__all__ = ["Row", "Subscription"]

log = logging.getLogger("xscl")


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A match before it is one: the numbers of the blocks' documents, the codes of their output
    nodes, and those of the selected variables, in the query's order.  Disjuncts agree on it."""

    documents: tuple[int, ...]
    outputs: tuple[int, ...]
    variables: tuple[int, ...]


@dataclass(eq=False)
class Subscription:
    """A query in an engine; `cancel` takes it out again.

    `numbers` are those of its parts in the join stage.
    """

    dissection: Dissection
    numbers: tuple[int, ...]
    on_match: Callable[[Match], object] | None
    _cancel: Callable[[Subscription], None]

    def __post_init__(self) -> None:
        self._columns = {
            number: _columns(part)
            for number, part in zip(self.numbers, self.dissection.parts, strict=True)
        }

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

    def cancel(self) -> None:
        """Takes the query out of its engine; once is enough, twice does no harm."""
        self._cancel(self)

    def row(self, number: int, values: Sequence[int]) -> Row:
        """A row of the join stage's outputs for the part of a number: documents, then nodes."""
        sides = len(self.dissection.streams)
        outputs, variables = self._columns[number]
        return Row(
            tuple(values[:sides]),
            tuple(values[sides + column] for column in outputs),
            tuple(values[sides + column] for column in variables),
        )

    def match(
        self,
        row: Row,
        documents: Sequence[Document],
        attribute_name: Callable[[int], str | None],
    ) -> Match:
        """The match of a row, given its documents."""

        def bound(code: int, document: Document) -> BoundNode:
            return BoundNode(document, code % ATTRIBUTE, attribute_name(code))

        outputs = [bound(*entry) for entry in zip(row.outputs, documents, strict=True)]
        (part, *_) = self.dissection.parts
        variables = {
            name: bound(code, documents[part.patterns[node].block])
            for (name, node), code in zip(part.selected.items(), row.variables, strict=True)
        }
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
            _made_of=(self.query.select, tuple(outputs), variables),
        )

    def deliver(self, match: Match) -> None:
        """Calls the subscriber back; what it raises is reported and stops nothing."""
        if self.on_match is None:
            return
        try:
            self.on_match(match)
        except Exception:
            # A subscriber's code may raise anything.
            log.exception("the callback of query %r raised on match %s", self.name, match.id)


def _columns(part: Part) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where in a row of the plan's outputs each block's node and each variable stands."""
    plan_nodes = {node: i for i, node in enumerate(part.assignment)}
    columns = {node: i for i, node in enumerate(part.plan.outputs)}
    return (
        tuple(columns[plan_nodes[node]] for node in part.outputs),
        tuple(columns[plan_nodes[node]] for node in part.selected.values()),
    )
