"""Drawn queries and documents as the engine and the nested loops take them, and the matches of both
as they report them.

A published document is identified by the match that it comes from, so that the oracle, which does
not know how matches are numbered, can say the same; a sub-query's result is `*`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hypothesis import event, note, reject
from hypothesis import strategies as st

import xscl
from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_file
from tests.oracle.nested_loops import Row
from tests.oracle.stages import ExcessiveResults
from tests.oracle.standing import evaluate
from tests.oracle.terms import Document, Query
from tests.xscl.engine.three_ways import in_three_ways

__all__ = [
    "TIMES",
    "ReportedMatch",
    "Reporter",
    "batches",
    "expected",
    "in_loops",
    "reported_by_oracle",
    "run",
]

TIMES = range(7)

ReportedMatch = tuple[str, tuple[object, ...], tuple[int, ...], tuple[tuple[str, int], ...]]
"""A query's name, the documents, the numbers of the output nodes, those of the bindings."""


def in_loops(
    queries: Mapping[str, Query], documents: Iterable[Document]
) -> tuple[list[patterns.Query], list[patterns.Document]]:
    """Plain queries and XML documents for the nested loops."""
    return [query_in_loops(name, query, {}) for name, query in queries.items()], [
        patterns.Document(each.stream, each.id, each.timestamp, str(each.content))
        for each in documents
    ]


def reported_by_oracle(rows: Iterable[Row]) -> Counter[ReportedMatch]:
    """An attribute has its element's number, so that rows may coincide: a multiset."""
    return Counter(map(_reported_row, rows))


def _reported_row(row: Row) -> ReportedMatch:
    return (
        row.query,
        tuple(map(_reported_document, row.documents)),
        tuple(number for number, _ in row.nodes),
        tuple((name, number) for name, (number, _) in row.bindings),
    )


def _reported_document(document: object) -> object:
    if isinstance(document, Row):
        return _reported_row(document)
    return document if isinstance(document, str) else "*"


class Reporter:
    """Reports the engine's matches; `documents` are the ids of those published from outside."""

    def __init__(self, documents: Collection[str]) -> None:
        self._documents = documents
        self._matches: dict[str, Any] = {}

    def reported(self, matches: Sequence[Any]) -> Counter[ReportedMatch]:
        """Matches, which may read each other's results and those of earlier ones."""
        self._matches |= {match.id: match for match in matches}
        return Counter(map(self._reported_match, matches))

    def _reported_match(self, match: Any) -> ReportedMatch:
        return (
            match.query,
            tuple(map(self._reported_document, match.documents)),
            match.nodes,
            tuple(sorted(match.bindings.items())),
        )

    def _reported_document(self, document: str) -> object:
        if document in self._documents:
            return document
        return self._reported_match(self._matches[document]) if document in self._matches else "*"


@st.composite
def batches(draw: st.DrawFn, documents: list[Document]) -> list[list[Document]]:
    """The documents in some order, cut into batches."""
    waiting = draw(st.permutations(documents))
    cut: list[list[Document]] = []
    while waiting:
        size = draw(st.integers(1, len(waiting)))
        cut.append(waiting[:size])
        waiting = waiting[size:]
    return cut


def _named(queries: list[Query]) -> dict[str, Query]:
    return {f"q{number}": query for number, query in enumerate(queries, start=1)}


def expected(queries: list[Query], published: list[Document]) -> Counter[ReportedMatch]:
    """The matches by nested loops."""
    try:
        found = reported_by_oracle(evaluate(*in_loops(_named(queries), published)))
    except ExcessiveResults:
        reject()
    event("matches" if found else "no matches")
    return found


def run(
    queries: list[Query], fed: Iterable[list[Document]], **options: Any
) -> Counter[ReportedMatch]:
    """The matches of an engine with these options, fed in batches."""
    text = xscl_file(_named(queries), {})
    note(text)
    batches = list(fed)

    def engine() -> xscl.Engine:
        made = xscl.Engine(**options)
        made.load(text)
        return made

    envelopes = [[one.envelope() for one in batch] for batch in batches]
    found = in_three_ways(engine, envelopes, skipping=False)
    assert len({match.id for match in found}) == len(found)
    assert all(match.result for match in found[:3])
    return Reporter({document.id for batch in batches for document in batch}).reported(found)
