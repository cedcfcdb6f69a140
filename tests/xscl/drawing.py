"""Drawn queries and documents as the nested loops take them, and matches as both tell them.

A published document is told by the match that it comes from, so that the oracle, which does not
know how matches are numbered, can say the same; a sub-query's result is `*`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.nested_loops import Row
from tests.oracle.terms import Document, Query

__all__ = ["Teller", "Told", "in_loops", "told_by_oracle"]

Told = tuple[str, tuple[object, ...], tuple[int, ...], tuple[tuple[str, int], ...]]
"""A query's name, the documents, the numbers of the output nodes, those of the bindings."""


def in_loops(
    queries: Mapping[str, Query], documents: Iterable[Document]
) -> tuple[list[patterns.Query], list[patterns.Document]]:
    """Plain queries and XML documents for the nested loops."""
    return [query_in_loops(name, query, {}) for name, query in queries.items()], [
        patterns.Document(each.stream, each.id, each.timestamp, str(each.content))
        for each in documents
    ]


def told_by_oracle(rows: Iterable[Row]) -> Counter[Told]:
    """An attribute bears its element's number, so that rows may fall together: a multiset."""
    return Counter(map(_told_row, rows))


def _told_row(row: Row) -> Told:
    return (
        row.query,
        tuple(map(_told_document, row.documents)),
        tuple(number for number, _ in row.nodes),
        tuple((name, number) for name, (number, _) in row.bindings),
    )


def _told_document(document: object) -> object:
    if isinstance(document, Row):
        return _told_row(document)
    return document if isinstance(document, str) else "*"


class Teller:
    """Tells the engine's matches; `documents` are the ids of those published from outside."""

    def __init__(self, documents: Collection[str]) -> None:
        self._documents = documents
        self._matches: dict[str, Any] = {}

    def told(self, matches: Sequence[Any]) -> Counter[Told]:
        """Matches, which may read each other's results and those of earlier ones."""
        self._matches |= {match.id: match for match in matches}
        return Counter(map(self._told_match, matches))

    def _told_match(self, match: Any) -> Told:
        return (
            match.query,
            tuple(map(self._told_document, match.documents)),
            match.nodes,
            tuple(sorted(match.bindings.items())),
        )

    def _told_document(self, document: str) -> object:
        if document in self._documents:
            return document
        return self._told_match(self._matches[document]) if document in self._matches else "*"
