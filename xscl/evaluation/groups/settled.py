"""Match groups of a step in which something was taken back: a match that came in it and is taken
back has never been."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.evaluation.deliveries import MatchKey, key_of
from xscl.evaluation.groups.match_groups import MatchGroup, MatchGroups, Range
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["settle"]


def settle(groups: MatchGroups, gone: Collection[Match]) -> set[MatchKey]:
    """Drops the matches of groups that are `gone` again; returns these, without those that came in
    earlier steps."""
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

    never = set[MatchKey]()
    for place, some in enumerate(groups.ranges):
        found = {
            key
            for group in some.groups()
            if may_have(group)
            for match in group.matches()
            if (key := key_of(match)) in keys
        }
        if found:
            groups.ranges[place] = _Remaining(some, found)
            never |= found
    return never


class _Remaining:
    """The groups of a range without some matches; groups that have no other are none."""

    def __init__(self, of: Range, without: Collection[MatchKey]) -> None:
        self._of, self._without = of, without
        queries = {
            number: tuple(dict.fromkeys(one.query for one in self.matches(number)))
            for number in of.others
        }
        self._queries = {number: names for number, names in queries.items() if names}
        self.others = [*self._queries]
        self.waited_for = of.waited_for

    def keep(self, *, queries: bool) -> bool:
        """Keeps the documents themselves, and with `queries` these."""
        return self._of.keep(queries=queries)

    def documents(self, number: int) -> tuple[Document, ...]:
        """The documents of a group."""
        return self._of.documents(number)

    def matches(self, number: int) -> list[Match]:
        """The matches of a group that are left."""
        return [one for one in self._of.matches(number) if key_of(one) not in self._without]

    def count(self, number: int) -> int:
        """Their number."""
        return len(self.matches(number))

    @property
    def total(self) -> int:
        """The number of matches of all groups."""
        return sum(map(self.count, self.others))

    def group(self, place: int) -> MatchGroup:
        """The group at a place."""
        number = self.others[place]
        return MatchGroup(self, number, self._queries[number])

    def groups(self) -> Iterator[MatchGroup]:
        """The groups."""
        return map(self.group, range(len(self.others)))

    def called(self) -> Iterator[tuple[Subscription, Match]]:
        """The matches that a callback waits for."""
        return (called for called in self._of.called() if key_of(called[1]) not in self._without)
