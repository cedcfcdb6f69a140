"""Nested loops over queries that read each other's results.

A sub-query becomes a query of its own that feeds a stream of its own, under that stream's name.  A
published result is a document that says where it comes from: its id is the row of its match, and
`Unreported` if that is a sub-query's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tests.oracle.nested_loops import Evaluation, Match, Row
from tests.oracle.patterns import Document, Join, Query, Source
from tests.oracle.stages import MOST_PUBLISHED, ExcessiveResults

__all__ = ["Standing", "Unreported", "evaluate", "in_order", "unnested"]


@dataclass(frozen=True)
class Unreported:
    """The id of a sub-query's result."""

    row: Row


@dataclass(frozen=True, eq=False)
class Standing:
    """A query without sub-queries, the streams that it reads and those that its results feed;
    the matches of a sub-query are not `reported`."""

    evaluation: Evaluation
    feeds: tuple[str, ...]
    reported: bool

    @property
    def reads(self) -> set[str]:
        """The streams of its blocks."""
        return {str(block.stream) for block in self.evaluation.blocks}

    def published(self, match: Match) -> list[Document]:
        """A match's result as the documents that it becomes."""
        origin = match.row if self.reported else Unreported(match.row)
        return [Document(feed, origin, match.time, match.result()) for feed in self.feeds]


def evaluate(queries: Iterable[Query], documents: Sequence[Document]) -> list[Row]:
    """Every match once; those of sub-queries are not among them.  Raises ExcessiveResults if too
    much is published."""
    known = list(documents)
    rows: list[Row] = []
    for standing in in_order([each for query in queries for each in unnested(query)]):
        for match in standing.evaluation.matches(known):
            known += standing.published(match)
            if standing.reported:
                rows.append(match.row)
        if len(known) > len(documents) + MOST_PUBLISHED:
            raise ExcessiveResults
    return rows


def unnested(query: Query, stream: str | None = None) -> list[Standing]:
    """A query's sub-queries, and it without them; `stream` is what a sub-query is read as."""
    inner: list[Standing] = []
    names = 0

    def named(source: Source) -> Source:
        nonlocal names
        if isinstance(source, Join):
            return replace(source, left=named(source.left), right=named(source.right))
        if isinstance(source.stream, str):
            return source
        names += 1
        own = f"{query.name}-{names}"
        inner.extend(unnested(replace(source.stream, name=own), own))
        return replace(source, stream=own)

    outer = Evaluation(replace(query, source=named(query.source)))
    feeds = tuple(feed for feed in (stream, query.publish) if feed is not None)
    return [*inner, Standing(outer, feeds, reported=stream is None)]


def in_order(waiting: Sequence[Standing]) -> list[Standing]:
    """Those that read a stream after those that feed it; there must be no cycle."""
    found: list[Standing] = []
    while waiting:
        to_come = {feed for each in waiting for feed in each.feeds}
        ready = [each for each in waiting if not each.reads & to_come]
        assert ready, f"a cycle: {[each.evaluation.query.name for each in waiting]}"
        found += ready
        waiting = [each for each in waiting if each not in ready]
    return found
