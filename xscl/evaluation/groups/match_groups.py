"""Match groups: all the queries that a tuple of documents satisfies, found once
(docs/laws.md#channel-tuples).

Documents that are alike satisfy the same queries, so all groups of one channel share its queries,
and a group comes into being only when it is looked at: thousands of documents that have a string in
common with a new one are a range until then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, islice, repeat
from typing import TYPE_CHECKING, ClassVar, Protocol, overload

from msgspec import Struct

from xscl.counts import counted
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.evaluation.groups.query_names import QueryNames
from xscl.matches.forms import Sides
from xscl.notebook import MOST_ROWS, short, table
from xscl.queries.stage_registration import QueryReader
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match, Retraction

__all__ = ["AttributeName", "ChannelQueries", "GroupRange", "MatchGroup", "MatchGroups", "Range"]

AttributeName = Callable[[int], str | None]

Parts = Sequence[tuple[Sequence[QueryReader], Sequence[tuple[int, ...]]]]


class Range(Protocol):
    """Groups that were found together; each is made when it is looked at, under a number."""

    @property
    def others(self) -> Sequence[int]:
        """The numbers of the groups."""

    @property
    def total(self) -> int:
        """The number of matches of all groups."""

    @property
    def waited_for(self) -> bool:
        """Whether a callback waits for any of the matches."""

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches that a callback waits for."""

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and with `queries` these; whether it has numbers of
        queries yet."""

    def documents(self, number: int) -> tuple[Document, ...]:
        """The documents of a group."""

    def count(self, number: int) -> int:
        """The number of matches of a group."""

    def matches(self, number: int) -> Iterable[Match]:
        """The matches of a group."""

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""

    def groups(self) -> Iterator[MatchGroup]:
        """The groups."""


class ChannelQueries:
    """The queries of a channel, and the nodes of their matches: for each part of it the readers of
    queries, and the heads for each of which each query has a match; `more` are further
    matches, of one tuple of documents.

    `size` is the number of queries, if `more` has none; `names` are theirs, and `count` is the
    number of their matches for each pair of documents.
    """

    def __init__(
        self,
        parts: Parts,
        size: int,
        attribute_name: AttributeName,
        more: Sequence[tuple[Subscription, OperatorRow]] = (),
    ) -> None:
        self._parts = parts
        self._size = size
        self._attribute_name = attribute_name
        self._more = more
        self.names = QueryNames(self._owners, None if more else size)
        self.count = sum([len(readers) * len(heads) for readers, heads in parts]) + len(more)

    def __bool__(self) -> bool:
        return self._size > 0

    @cached_property
    def called(self) -> bool:
        """Whether a callback waits for any of them, but for `more`."""
        for readers, _ in self._parts:
            for reader in readers:
                owner = reader.owner
                if isinstance(owner, Subscription) and owner.on_match is not None:
                    return True
        return False

    def with_more(self, more: Sequence[tuple[Subscription, OperatorRow]]) -> ChannelQueries:
        """The same of one tuple of documents, which has more matches."""
        every = [*self._more, *more]
        return ChannelQueries(self._parts, self._size, self._attribute_name, every)

    def joined(self, others: Iterable[ChannelQueries]) -> ChannelQueries:
        """These and those of other channels."""
        every = (self, *others)
        parts = [part for one in every for part in one._parts]
        return ChannelQueries(parts, sum(one._size for one in every), self._attribute_name)

    def matches(self, documents: tuple[Document, ...]) -> list[Match]:
        """The matches of one tuple of documents, in order of the queries."""
        rows = [*self._rows(documents), *self._more]
        rows.sort(key=lambda row: (row[0].order, row[1].codes))
        sides = Sides(self._attribute_name)
        held = {document.number: document for document in documents}
        return [match for owner, found in rows for match in owner.matches([found], held, sides)]

    def called_with(self, documents: tuple[Document, ...]) -> Iterator[tuple[Subscription, Match]]:
        """The matches of one tuple of documents that a callback waits for, but for `more`."""
        sides = Sides(self._attribute_name)
        held = {document.number: document for document in documents}
        for owner, found in self._rows(documents):
            if owner.on_match is not None:
                (match,) = owner.matches([found], held, sides)
                yield owner, match

    def _rows(self, documents: tuple[Document, ...]) -> Iterator[tuple[Subscription, OperatorRow]]:
        numbers = tuple([document.number for document in documents])
        for readers, heads in self._parts:
            for reader in readers:
                assert isinstance(reader.owner, Subscription)
                rows = [(*numbers, *head) for head in heads]
                for row in reader.reading.read(rows, {}):
                    yield reader.owner, row

    def _owners(self) -> Iterable[Subscription]:
        found = {reader.owner for readers, _ in self._parts for reader in readers}
        subscriptions = {one for one in found if isinstance(one, Subscription)}
        return subscriptions.union([one for one, _ in self._more])


class MatchGroup(Struct, frozen=True, eq=False):
    """One tuple of documents with all the queries that it satisfies; or of one pattern, the matches
    that end with one document.

    `documents` are the ids, in block order; `queries` the names, in order of subscription, one
    sequence for all groups of a channel, which does not change; `count` is the number of matches,
    and `matches()` are these.  A group holds its documents, with others that were found together.
    """

    # Millions a second are counted: what is not asked for is not touched.
    _range: Range
    _number: int
    queries: Sequence[str]

    retracts: ClassVar[bool] = False
    """What is taken back is in no group."""

    def __repr__(self) -> str:
        matches, queries = counted(self.count, "match"), counted(len(self.queries), "query")
        documents = short(self.documents) or "of no document"
        return f"<MatchGroup {documents}: {matches} of {queries}>"

    def _repr_html_(self) -> str:
        documents = short(self.documents) or "none"
        rows = [("documents", documents), *(("query", name) for name in self.queries)]
        return table(f"documents with {counted(self.count, 'match')}", rows, of=len(rows))

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents' ids, in block order."""
        return tuple([document.id for document in self._range.documents(self._number)])

    @property
    def count(self) -> int:
        """The number of matches."""
        return self._range.count(self._number)

    def matches(self) -> Iterable[Match]:
        """The matches, in order of the queries; those of a pattern are made one by one."""
        return self._range.matches(self._number)


class GroupRange(Struct, eq=False, weakref=True):
    """Tuples of documents that satisfy the same queries, and differ in one document: those
    `before` it, the ones that stand in its place, and those `after`.

    The others are numbers of documents in `held`, the engine's own until it drops any: most
    are never looked at, and to touch hundreds of objects would be the dearest part of a join.
    """

    queries: ChannelQueries
    before: tuple[Document, ...]
    others: Sequence[int]
    after: tuple[Document, ...]
    held: Mapping[int, Document]

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves."""
        self.held = {number: self.held[number] for number in self.others}
        return False

    def documents(self, number: int) -> tuple[Document, ...]:
        """The documents of one of the tuples."""
        # What the engine drops meanwhile has been kept before.
        other = self.held.get(number) or self.held[number]
        return (*self.before, other, *self.after)

    @property
    def waited_for(self) -> bool:
        """Whether a callback waits for any of the matches."""
        return self.queries.called

    def count(self, number: int) -> int:
        """The number of matches of one of the tuples."""
        return self.queries.count

    def matches(self, number: int) -> list[Match]:
        """The matches of one of the tuples."""
        return self.queries.matches(self.documents(number))

    @property
    def total(self) -> int:
        """The number of matches of all tuples."""
        return self.queries.count * len(self.others)

    def group(self, place: int) -> MatchGroup:
        """The group of the tuple at a place."""
        return MatchGroup(self, self.others[place], self.queries.names)

    def groups(self) -> Iterator[MatchGroup]:
        """The groups of the tuples."""
        return map(MatchGroup, repeat(self), self.others, repeat(self.queries.names))

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches that a callback waits for, but for `more` of the queries'."""
        for number in self.others:
            yield from self.queries.called_with(self.documents(number))


class MatchGroups(Sequence[MatchGroup]):
    """The groups that a batch completes, as a sequence that makes each when it is asked for it;
    `ranges` of them are tuples of documents that satisfy the same queries.

    >>> len(MatchGroups())
    0
    """

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self.retractions: list[Retraction] = []
        """What is taken back, of matches that were reported before."""
        self._known_ends: list[int] = []

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
        return self._ends[-1] if self.ranges else 0

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
        ends = self._ends
        place = bisect_right(ends, index)
        begin = ends[place - 1] if place else 0
        return self.ranges[place].group(index - begin)

    def __iter__(self) -> Iterator[MatchGroup]:
        return chain.from_iterable([some.groups() for some in self.ranges])

    @property
    def total(self) -> int:
        """The number of matches of all groups."""
        return sum([some.total for some in self.ranges])

    @property
    def _ends(self) -> list[int]:
        """The number of groups in the ranges up to each, this one included."""
        if len(self._known_ends) != len(self.ranges):
            self._known_ends = [*accumulate([len(some.others) for some in self.ranges])]
        return self._known_ends
