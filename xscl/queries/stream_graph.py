"""The graph of streams: which query reads what and publishes where
(docs/semantics.md#result-documents).

It must stay acyclic, so that what a document causes comes to an end.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from xscl.errors import QueryError
from xscl.stream_names import is_internal

if TYPE_CHECKING:
    from xscl.dissection.parts import Dissection

__all__ = ["StreamEdge", "StreamGraph", "edges_of"]


class StreamEdge(NamedTuple):
    """A query, which may be a `pattern` or an event query, reads a stream and feeds another."""

    read: str
    fed: str
    query: str
    pattern: bool = False


def edges_of(dissection: Dissection) -> Iterator[StreamEdge]:
    """The edges of a query and its sub-queries, whose streams are internal."""
    if dissection.feeds is None and not dissection.subqueries and not dissection.publishing:
        return
    internal: dict[str, str] = {}
    for one in dissection.everything():
        inner = (*one.subqueries, *one.publishing)
        internal.update((below.query.name, stream) for stream, below in inner)
    for one in dissection.everything():
        fed = [stream for stream in (internal.get(one.query.name), one.feeds) if stream is not None]
        pattern = one.query.language.timed
        for read in dict.fromkeys(one.streams):
            yield from (StreamEdge(read, stream, dissection.query.name, pattern) for stream in fed)


class StreamGraph:
    """The edges of all subscribed queries.

    `read` counts the blocks that read each stream, `columns` those of them that read attributes of
    its documents alone, as event queries do; `version` grows whenever queries come or go.
    """

    def __init__(self) -> None:
        self.version = 0
        self.read: Counter[str] = Counter()
        self.columns: Counter[str] = Counter()
        self._fed_by: dict[str, Counter[StreamEdge]] = {}

    def add(self, dissection: Dissection) -> None:
        """Adds a query, which was checked."""
        self.version += 1
        for one in dissection.everything():
            self.read.update(one.streams)
            self.columns.update(_columns(one))
        for edge in edges_of(dissection):
            self._fed_by.setdefault(edge.fed, Counter())[edge] += 1

    def remove(self, dissection: Dissection) -> None:
        """Removes a query."""
        self.version += 1
        for one in dissection.everything():
            self.read.subtract(one.streams)
            self.columns.subtract(_columns(one))
        self.read, self.columns = +self.read, +self.columns
        for edge in edges_of(dissection):
            edges = self._fed_by[edge.fed]
            edges[edge] -= 1
            if not edges[edge]:
                del edges[edge]
            if not edges:
                del self._fed_by[edge.fed]

    @property
    def published(self) -> list[str]:
        """The streams that queries publish, in order of subscription."""
        return [stream for stream in self._fed_by if not is_internal(stream)]

    def level(self, streams: Iterable[str]) -> int:
        """How many patterns, at most, stand one above the other on the ways to some streams."""
        levels: dict[str, int] = {}
        waiting = [*streams]
        while waiting:
            stream = waiting[-1]
            edges = self._fed_by.get(stream, ())
            below = dict.fromkeys([edge.read for edge in edges if edge.read not in levels])
            if below:
                waiting += below
                continue
            levels[stream] = max((levels[edge.read] + edge.pattern for edge in edges), default=0)
            waiting.pop()
        return max((levels[stream] for stream in streams), default=0)

    def check(self, dissection: Dissection) -> None:
        """Raises QueryError, at a PUBLISH, if the query would close a cycle."""
        for one in dissection.everything():
            publish = one.query.publish
            if publish is None:
                continue
            cycle = self._way(publish.text, publish.text, edges_of(dissection))
            if cycle:
                way = [publish.text]
                for edge in cycle:
                    if not is_internal(edge.fed):
                        way.append(f"{edge.fed} (by query `{edge.query}`)")
                query = dissection.query
                raise QueryError(
                    f"publishing `{publish.text}` closes a cycle: {' → '.join(way)}; "
                    "publish to another stream or read another",
                    query=query.name,
                    text=query.text,
                    at=publish.at,
                )

    def only_columns(self, stream: str) -> bool:
        """Whether all that read a stream are event queries, which need no document as such."""
        return self.read[stream] == self.columns[stream]

    def _way(self, start: str, end: str, new: Iterable[StreamEdge]) -> list[StreamEdge]:
        """The shortest way from a stream to one, of the edges of all queries and the new ones;
        empty if there is none."""
        reading: dict[str, list[StreamEdge]] = {}
        for edge in (*(edge for edges in self._fed_by.values() for edge in edges), *new):
            reading.setdefault(edge.read, []).append(edge)
        came_by: dict[str, StreamEdge] = {}
        waiting = deque([start])
        while waiting:
            for edge in reading.get(waiting.popleft(), ()):
                if edge.fed not in came_by:
                    came_by[edge.fed] = edge
                    waiting.append(edge.fed)
        if end not in came_by:
            return []
        way = [came_by[end]]
        while way[0].read != start:
            way.insert(0, came_by[way[0].read])
        return way


def _columns(dissection: Dissection) -> Iterator[str]:
    """The streams of the blocks without a path of an event query."""
    from xscl.dissection.name_streams import read_blocks

    query = dissection.query
    if query.language.schemas:
        for stream, block in zip(dissection.streams, read_blocks(query), strict=True):
            if not block.steps:
                yield stream
