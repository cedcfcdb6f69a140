"""From channel tuples and rows of the join stage to match groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import cast

from join_stage import Channel, ChannelTuple
from xscl.documents.composites import Derived, Found
from xscl.documents.document import Document
from xscl.evaluation.match_groups import NOBODY, Block, MatchGroups, Members
from xscl.queries.catalogue import Catalogue
from xscl.queries.subscription import Subscription

__all__ = ["Grouping"]

More = dict[tuple[int, ...], list[tuple[Subscription, Found]]]


class Grouping:
    """The members of the channels, as the queries of a catalogue are now."""

    def __init__(self, queries: Catalogue) -> None:
        self._queries = queries
        self._members: dict[Channel, Members] = {}

    def queries_changed(self) -> None:
        """To be called when queries have come or gone."""
        self._members.clear()

    def group(
        self,
        tuples: Iterable[ChannelTuple],
        rows: Iterable[tuple[Subscription | Derived, Found]],
        held: Mapping[int, Document],
        to: MatchGroups,
    ) -> None:
        """Adds the groups of a wave: its channel tuples, and the matches that are in none of
        them, of the same documents or of others."""
        more: More = {}
        for owner, found in rows:
            if isinstance(owner, Subscription) and owner.reported:
                more.setdefault(found.documents, []).append((owner, found))
        for one in tuples:
            members = self._members_of(one.channel)
            if not members:
                continue
            others = one.others
            if more:
                apart = {
                    pair: other
                    for pair, other in zip(one.pairs(), others, strict=True)
                    if pair in more
                }
                for pair in apart:
                    left, right = pair
                    to.add_group((held[left], held[right]), members, more.pop(pair))
                others = [other for other in others if other not in apart.values()]
            if others:
                documents = [held[other] for other in others]
                to.add(Block(members, held[one.document], documents, one.right))
        for numbers, some in more.items():
            to.add_group(tuple(held[number] for number in numbers), NOBODY, some)

    def _members_of(self, channel: Channel) -> Members:
        members = self._members.get(channel)
        if members is None:
            members = self._members[channel] = Members(
                [
                    (
                        self._queries.readers(chain.from_iterable(part.sole)),
                        [cast(tuple[int, ...], head) for head in part.heads],
                    )
                    for part in channel.parts
                    if part.sole
                ]
            )
        return members
