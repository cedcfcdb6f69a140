"""What one match needs: how many documents, from how long, and by which key they are together.

By that a stream is cut into cells.  A join needs some documents together, of no matter how many
others.  A query of events needs all events of its time, or at least all those that have one key:
what is between two events, or what is absent, decides with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain
from typing import NamedTuple

from xscl.language.level import level_of
from xscl.language.syntax import Block, Join, Query, Source, SubQuery
from xscl.language.walk import operands, with_sub_queries
from xscl.pattern_stage.values.terms import Attribute
from xscl.spark.joins.needs.keys import key_of
from xscl.spark.joins.needs.reach import most, reach_of, total

__all__ = ["MIDDLE", "Needs", "is_middle", "needs_of"]


MIDDLE = (
    "found CONSISTENCY middle over a stream: what Spark has written is not taken back; write "
    "CONSISTENCY strong, or weak"
)


class Needs(NamedTuple):
    """What one match needs: documents at most, the time between any two of them at most
    (microseconds, None without bound), and whether a published result is among them.

    A match that is `timed` is one of events: it needs all documents of that time, but for those
    that differ from it in the attribute `key`."""

    width: int
    reach: int | None
    derived: bool
    timed: bool = False
    key: Attribute | None = None

    def alongside(self, other: Needs, window: int | None) -> Needs:
        """What two sides need that are joined within a window."""
        reach = total(self.reach, other.reach, window)
        derived, timed = self.derived or other.derived, self.timed or other.timed
        return Needs(self.width + other.width, reach, derived, timed)

    def either(self, other: Needs) -> Needs:
        """What is enough for both."""
        return Needs(
            max(self.width, other.width),
            most(self.reach, other.reach),
            self.derived or other.derived,
            self.timed or other.timed,
            self.key if self.key == other.key else None,
        )

    @property
    def bounded(self) -> str:
        """Whether time bounds it, in a word."""
        of_events = "events, " * self.timed
        return of_events + ("endless" if self.reach is None else "bounded")

    @property
    def said(self) -> str:
        """All but the reach, in words."""
        if self.timed:
            return f"{self.bounded}{self.by}"
        return f"{self.bounded}, {self.width} documents{', derived' * self.derived}"

    @property
    def by(self) -> str:
        """The key, in words."""
        if self.key is None:
            return ""
        return f", by {'/'.join(self.key.steps)}{f'@{a}' if (a := self.key.attribute) else ''}"


_DOCUMENT = Needs(1, 0, False)


def needs_of(queries: Iterable[Query]) -> Needs:
    """What the widest match needs of queries of which one may read what another publishes."""
    queries = [*queries]
    publishers: dict[str, list[Query]] = {}
    for query in chain.from_iterable(map(with_sub_queries, queries)):
        if query.publish is not None:
            publishers.setdefault(query.publish.text, []).append(query)
    known: dict[str, Needs] = {}

    def of_stream(stream: str) -> Needs:
        if stream not in known:
            needs = _DOCUMENT
            for query in publishers.get(stream, ()):
                needs = needs.either(_of_query(query, of_stream))._replace(derived=True)
            known[stream] = needs
        return known[stream]

    needs = reduce(Needs.either, (_of_query(query, of_stream) for query in queries))
    # A query's key need not be in what it publishes.
    return needs._replace(key=None) if len(queries) > 1 else needs


def is_middle(query: Query) -> bool:
    """Whether a query, or one that it reads in parentheses, may take matches back."""
    levels = map(level_of, with_sub_queries(query))
    return any(level is not None and level.name == "middle" for level in levels)


OfStream = Callable[[str], Needs]


def _of_query(query: Query, of_stream: OfStream) -> Needs:
    """What a match of a query needs; what is read by its `of_stream`."""
    source = query.source
    if isinstance(source, Join | Block | SubQuery):
        return _of_operand(source, of_stream)
    read = reduce(
        Needs.either, (_of_operand(one, of_stream) for one in operands(source)), _DOCUMENT
    )
    # An event of a path may not be the only one in its document, nor have a document's key.
    plain = not read.derived and all(
        isinstance(one, Block) and not one.steps for one in operands(source)
    )
    key = key_of(query, source) if plain else None
    return Needs(1, total(reach_of(source), read.reach), read.derived, True, key)


def _of_operand(source: Source, of_stream: OfStream) -> Needs:
    match source:
        case Block():
            return of_stream(source.stream.text)
        case SubQuery():
            return _of_query(source.query, of_stream)._replace(derived=True, key=None)
        case Join():
            left, right = (_of_operand(one, of_stream) for one in (source.left, source.right))
            return left.alongside(right, source.window.length)
        case _:
            raise AssertionError(source)
