"""Match groups of a batch in which something was taken back: a match that came in it and is taken
back in it is in no group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.evaluation.deliveries import MatchKey, key_of
from xscl.evaluation.groups.match_groups import MatchGroup, MatchGroups, Range
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["settle"]

_NONE = frozenset[MatchKey]()


def settle(groups: MatchGroups, gone: Collection[Match]) -> set[MatchKey]:
    """Drops the matches of groups that are `gone` again; returns these, without those that came in
    earlier steps."""
    if not gone:
        return set()
    keys = {*map(key_of, gone)}
    documents: dict[str, set[str]] = {}
    for one in gone:
        documents.setdefault(one.query, set()).update(one.documents)

    def may_have(group: MatchGroup) -> bool:
        # Of many groups few are looked into.
        return any(
            ids.issuperset(group.documents)
            for query, ids in documents.items()
            if query in group.queries
        )

    new = set[MatchKey]()
    for place, some in enumerate(groups.ranges):
        found = {
            group._number: own
            for group in some.groups()
            if may_have(group) and (own := keys.intersection(map(key_of, group.matches())))
        }
        if found:
            left = some if isinstance(some, _Left) else _Left(some)
            left.drop(found)
            groups.ranges[place] = left
            new.update(*found.values())
    return new


class _Left:
    """What is left of a range once matches are dropped; a group that has no other is none."""

    def __init__(self, of: Range) -> None:
        self._of = of
        self._dropped: dict[int, set[MatchKey]] = {}
        self._groups = {group._number: group.queries for group in of.groups()}
        self.waited_for = of.waited_for

    def drop(self, matches: Mapping[int, Collection[MatchKey]]) -> None:
        """Drops matches by the numbers of their groups."""
        for number, keys in matches.items():
            self._dropped.setdefault(number, set()).update(keys)
            if queries := dict.fromkeys(one.query for one in self.matches(number)):
                self._groups[number] = tuple(queries)
            else:
                del self._groups[number]

    @property
    def others(self) -> list[int]:
        """The numbers of the groups."""
        return [*self._groups]

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and with `queries` these."""
        return self._of.keep(queries=queries)

    def documents(self, number: int) -> tuple[Document, ...]:
        """The documents of a group."""
        return self._of.documents(number)

    def matches(self, number: int) -> list[Match]:
        """The matches of a group that are left."""
        dropped = self._dropped.get(number, _NONE)
        return [one for one in self._of.matches(number) if key_of(one) not in dropped]

    def count(self, number: int) -> int:
        """Their number."""
        return self._of.count(number) - len(self._dropped.get(number, _NONE))

    @property
    def total(self) -> int:
        """The number of matches of all groups."""
        return self._of.total - sum(map(len, self._dropped.values()))

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        number = self.others[place]
        return MatchGroup(self, number, self._groups[number])

    def groups(self) -> Iterator[MatchGroup]:
        """The groups."""
        return (MatchGroup(self, number, queries) for number, queries in self._groups.items())

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches that a callback waits for."""
        dropped = _NONE.union(*self._dropped.values())
        return (one for one in self._of.called() if key_of(one[1]) not in dropped)
