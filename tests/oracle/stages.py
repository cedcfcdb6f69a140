"""Puts queries that read each other's results into the order in which they can be evaluated.

A sub-query becomes a query of its own that feeds a stream of its own.  A stage is a set of queries
that can be evaluated together: they read no stream which the same or a later stage feeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tests.oracle.terms import Block, Join, Query, Source, blocks_of

__all__ = ["MOST_PUBLISHED", "ExcessiveResults", "Standing", "stages"]

MOST_PUBLISHED = 40
"""Beyond so many published documents, an example takes too long to be worth it."""


class ExcessiveResults(Exception):
    """The queries of an example publish too many documents."""


@dataclass(frozen=True)
class Standing:
    """A query without sub-queries, and the streams that its results feed; the matches of a
    sub-query are not `reported`."""

    query: Query
    feeds: tuple[str, ...]
    reported: bool

    @property
    def reads(self) -> set[str]:
        """The streams of its blocks."""
        return {str(block.stream) for block in blocks_of(self.query.source)}


def stages(queries: Mapping[str, Query]) -> list[dict[str, Standing]]:
    """The queries by name, stage by stage; sub-queries have their query's name and a number."""
    waiting = {
        name: standing
        for outer, query in queries.items()
        for name, standing in _unnested(outer, query, ())
    }
    found = []
    while waiting:
        to_come = {feed for standing in waiting.values() for feed in standing.feeds}
        ready = {name: s for name, s in waiting.items() if not s.reads & to_come}
        if not ready:
            raise ValueError(f"a cycle: {', '.join(waiting)}")
        found.append(ready)
        waiting = {name: s for name, s in waiting.items() if name not in ready}
    return found


def _unnested(name: str, query: Query, feeds: tuple[str, ...]) -> Iterator[tuple[str, Standing]]:
    """A query and the sub-queries in it; a sub-query comes with the stream it is read as."""
    inner: dict[str, Query] = {}

    def named(source: Source) -> Source:
        if isinstance(source, Join):
            return replace(source, left=named(source.left), right=named(source.right))
        if isinstance(source.stream, str):
            return source
        own = f"{name}-{len(inner) + 1}"
        inner[own] = source.stream
        return Block(own, source.path)

    source = named(query.source)
    published = () if query.publish is None else (query.publish,)
    yield name, Standing(replace(query, source=source), (*feeds, *published), not feeds)
    for own, sub_query in inner.items():
        yield from _unnested(own, sub_query, (own,))
