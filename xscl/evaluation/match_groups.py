"""Match groups: all the queries that a tuple of documents satisfies, found once (law 8).

Documents that are alike satisfy the same queries, so all groups of one channel share its queries,
and a group comes into being only when it is looked at: thousands of documents that have a string in
common with a new one are a range until then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import overload

from xscl.counts import counted
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.evaluation.query_names import QueryNames
from xscl.matches.forms import Sides
from xscl.matches.match import Match
from xscl.notebook import MOST_ROWS, short, table
from xscl.queries.stage_registration import Reader
from xscl.queries.subscription import Subscription

__all__ = ["ChannelQueries", "GroupRange", "MatchGroup", "MatchGroups"]

AttributeName = Callable[[int], str | None]

Parts = Sequence[tuple[Sequence[Reader], Sequence[tuple[int, ...]]]]


class ChannelQueries:
    """The queries of a channel, and the nodes of their matches: for each part of it the readers of
    queries, and the heads for each of which each query has a match.

    `size` is the number of queries; `names` are theirs, and `count` is the number of their matches
    for each pair of documents.
    """

    def __init__(self, parts: Parts, size: int) -> None:
        self._parts = parts
        self._size = size
        self.names = QueryNames(partial(_owners, parts, ()), size)
        self.count = sum([len(readers) * len(heads) for readers, heads in parts])

    def __bool__(self) -> bool:
        return self._size > 0

    @cached_property
    def called(self) -> bool:
        """Whether a callback waits for any of them."""
        for readers, _ in self._parts:
            for reader in readers:
                owner = reader.owner
                if isinstance(owner, Subscription) and owner.on_match is not None:
                    return True
        return False

    def names_with(self, more: Sequence[tuple[Subscription, OperatorRow]]) -> QueryNames:
        """The names of its queries, and of those that have more matches."""
        return QueryNames(partial(_owners, self._parts, more)) if more else self.names

    def rows(self, documents: tuple[int, ...]) -> Iterator[tuple[Subscription, OperatorRow]]:
        """The matches of one pair of documents."""
        for readers, heads in self._parts:
            for reader in readers:
                assert isinstance(reader.owner, Subscription)
                for head in heads:
                    yield reader.owner, reader.reading.read((*documents, *head), {})


def _owners(
    parts: Parts, more: Sequence[tuple[Subscription, OperatorRow]]
) -> Iterable[Subscription]:
    """The queries of a channel's parts, and those that have more matches, each once."""
    found = {reader.owner for readers, _ in parts for reader in readers}
    return {*(one for one in found if isinstance(one, Subscription)), *(one for one, _ in more)}


NOBODY = ChannelQueries((), 0)


class MatchGroup:
    """One tuple of documents with all the queries that it satisfies.

    `documents` are the ids, in block order; `queries` the names, in order of subscription, one
    sequence for all groups of a channel, which does not change; `count` is the number of matches,
    and `matches()` are these.  A group holds its documents.
    """

    __slots__ = ("_attribute_name", "_documents", "_more", "_queries", "_shared")

    def __init__(
        self,
        documents: tuple[Document, ...],
        queries: ChannelQueries,
        more: Sequence[tuple[Subscription, OperatorRow]],
        attribute_name: AttributeName,
    ) -> None:
        self._documents = documents
        self._shared = queries
        self._more = more
        self._attribute_name = attribute_name
        self._queries = queries.names_with(more)

    def __repr__(self) -> str:
        matches, queries = counted(self.count, "match"), counted(len(self.queries), "query")
        return f"<MatchGroup {short(self.documents)}: {matches} of {queries}>"

    def _repr_html_(self) -> str:
        rows = [("documents", short(self.documents)), *(("query", name) for name in self.queries)]
        return table(f"documents with {counted(self.count, 'match')}", rows, of=len(rows))

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents' ids, in block order."""
        return tuple(document.id for document in self._documents)

    @property
    def queries(self) -> Sequence[str]:
        """The names of the queries that the documents satisfy, in order of subscription."""
        return self._queries

    @property
    def count(self) -> int:
        """The number of matches."""
        return self._shared.count + len(self._more)

    def matches(self) -> list[Match]:
        """The matches, in order of the queries."""
        rows = [*self._shared.rows(self._numbers), *self._more]
        rows.sort(key=lambda row: (row[0].order, row[1].codes))
        sides = Sides(self._attribute_name)
        return [owner.match(found, self._documents, sides) for owner, found in rows]

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches of its channel that a callback waits for."""
        if self._shared.called:
            sides = Sides(self._attribute_name)
            for owner, found in self._shared.rows(self._numbers):
                if owner.on_match is not None:
                    yield owner, owner.match(found, self._documents, sides)

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(document.number for document in self._documents)


@dataclass(slots=True, eq=False)
class GroupRange:
    """A document, on the right side or on the left, and others on the opposite one, with the
    queries that each of these pairs satisfies.

    The others are numbers of documents in `held`, the engine's own until it lets go of any: most
    are never looked at, and to touch hundreds of objects would be the dearest part of a join.
    """

    queries: ChannelQueries
    document: Document
    others: Sequence[int]
    right: bool
    held: Mapping[int, Document]

    def keep(self) -> None:
        """Keeps the documents themselves."""
        self.held = {number: self.held[number] for number in self.others}

    def group(self, index: int, attribute_name: AttributeName) -> MatchGroup:
        """The group of the document and one of the others."""
        number = self.others[index]
        # What the engine lets go of meanwhile has been kept before.
        other = self.held.get(number) or self.held[number]
        documents = (other, self.document) if self.right else (self.document, other)
        return MatchGroup(documents, self.queries, (), attribute_name)


class MatchGroups(Sequence[MatchGroup]):
    """The groups that a batch completes, as a sequence that makes each when it is asked for it.

    >>> len(MatchGroups())
    0
    """

    def __init__(self, attribute_name: AttributeName = lambda code: None) -> None:
        self._attribute_name = attribute_name
        self._ranges: list[GroupRange] = []
        self._groups: list[MatchGroup] = []
        # The number of groups in the ranges up to each, this one included.
        self._ends: list[int] = []

    def __repr__(self) -> str:
        groups, matches = counted(len(self), "group"), counted(self.total, "match")
        return f"<MatchGroups: {groups}, {matches}>"

    def _repr_html_(self) -> str:
        some = islice(self, MOST_ROWS)
        rows = ((short(one.documents), short(one.queries), f"{one.count:,}") for one in some)
        title = f"{counted(len(self), 'group')}, {counted(self.total, 'match')}"
        heads = ("documents", "queries", "matches")
        return table(title, rows, heads=heads, of=len(self))

    def __len__(self) -> int:
        return (self._ends[-1] if self._ends else 0) + len(self._groups)

    @overload
    def __getitem__(self, index: int) -> MatchGroup: ...

    @overload
    def __getitem__(self, index: slice) -> list[MatchGroup]: ...

    def __getitem__(self, index: int | slice) -> MatchGroup | list[MatchGroup]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        place = bisect_right(self._ends, index)
        if place == len(self._ranges):
            return self._groups[index - (self._ends[-1] if self._ends else 0)]
        begin = self._ends[place - 1] if place else 0
        return self._ranges[place].group(index - begin, self._attribute_name)

    def __iter__(self) -> Iterator[MatchGroup]:
        for some in self._ranges:
            for index in range(len(some.others)):
                yield some.group(index, self._attribute_name)
        yield from self._groups

    @property
    def total(self) -> int:
        """The number of matches of all groups."""
        in_ranges = sum(some.queries.count * len(some.others) for some in self._ranges)
        return in_ranges + sum(group.count for group in self._groups)

    def keep(self) -> None:
        """Keeps the documents of its groups, before the engine lets go of any."""
        for some in self._ranges:
            some.keep()

    def add(self, some: GroupRange) -> None:
        """Adds a range of pairs."""
        self._ends.append((self._ends[-1] if self._ends else 0) + len(some.others))
        self._ranges.append(some)

    def add_group(
        self,
        documents: tuple[Document, ...],
        queries: ChannelQueries,
        more: Sequence[tuple[Subscription, OperatorRow]],
    ) -> None:
        """Adds a group of its own."""
        self._groups.append(MatchGroup(documents, queries, more, self._attribute_name))

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches of channels that a callback waits for."""
        for some in self._ranges:
            if some.queries.called:
                for index in range(len(some.others)):
                    yield from some.group(index, self._attribute_name).called()
        for group in self._groups:
            yield from group.called()
