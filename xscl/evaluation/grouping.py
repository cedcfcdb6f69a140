"""From channel tuples and rows of the join stage to match groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import cast

from join_stage import Channel, ChannelTuple
from xscl.documents.composites import DerivedStream, OperatorRow
from xscl.documents.document import Document
from xscl.evaluation.match_groups import NOBODY, ChannelQueries, GroupRange, MatchGroups
from xscl.queries.stage_registration import StageRegistration
from xscl.queries.subscription import Subscription

__all__ = ["Grouping"]

More = dict[tuple[int, ...], list[tuple[Subscription, OperatorRow]]]


class Grouping:
    """The queries of the channels, as those of an engine are now."""

    def __init__(self, stages: StageRegistration) -> None:
        self._stages = stages
        self._of_channels: dict[Channel, ChannelQueries] = {}

    def queries_changed(self) -> None:
        """To be called when queries have come or gone."""
        self._of_channels.clear()

    def group(
        self,
        tuples: Iterable[ChannelTuple],
        rows: Iterable[tuple[Subscription | DerivedStream, OperatorRow]],
        held: Mapping[int, Document],
        to: MatchGroups,
    ) -> None:
        """Adds the groups of a wave: its channel tuples, and the matches that are in none of
        them, of the same documents or of others."""
        more: More = {}
        of_channels = self._of_channels
        for owner, found in rows:
            if isinstance(owner, Subscription) and owner.reported:
                more.setdefault(found.documents, []).append((owner, found))
        for one in tuples:
            queries = of_channels.get(one.channel)
            if queries is None:
                queries = self._queries_of(one.channel)
            if queries is NOBODY:
                continue
            others: Sequence[int] = one.others
            if more:
                others = []
                for pair, other in zip(one.pairs(), one.others, strict=True):
                    if pair in more:
                        left, right = pair
                        to.add_group((held[left], held[right]), queries, more.pop(pair))
                    else:
                        others.append(other)
            if others:
                to.add(GroupRange(queries, held[one.document], others, one.right, held))
        for numbers, some in more.items():
            to.add_group(tuple(held[number] for number in numbers), NOBODY, some)

    def _queries_of(self, channel: Channel) -> ChannelQueries:
        parts = [part for part in channel.parts if part.sole]
        # Queries that are alike are one array, wherever they are.
        alike = {id(some): len(some) for part in parts for some in part.sole}
        queries = self._of_channels[channel] = (
            ChannelQueries(
                [
                    (
                        self._stages.readers(chain.from_iterable(part.sole)),
                        [cast(tuple[int, ...], head) for head in part.heads],
                    )
                    for part in parts
                ],
                sum(alike.values()),
            )
            if parts
            else NOBODY
        )
        return queries
