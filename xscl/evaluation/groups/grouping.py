"""From channel tuples and rows of the join stage to match groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import EventNodes
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.groups.event_groups import EventRange
from xscl.evaluation.groups.match_groups import (
    AttributeName,
    ChannelQueries,
    GroupRange,
    MatchGroups,
)
from xscl.evaluation.groups.pattern_groups import PatternRange
from xscl.evaluation.rows import FoundRow
from xscl.join_stage import Channel, ChannelTuple
from xscl.queries.levels.pattern_rows import PatternRows
from xscl.queries.stage_registration import StageRegistration
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Outputs

__all__ = ["MatchGrouping"]

More = dict[tuple[int, ...], list[tuple[Subscription, OperatorRow]]]


class MatchGrouping:
    """The queries of the channels, as those of an engine are now."""

    def __init__(self, stages: StageRegistration, attribute_name: AttributeName) -> None:
        self._stages = stages
        self._attribute_name = attribute_name
        self._nobody = ChannelQueries((), 0, attribute_name)
        self._of_channels: dict[Channel, ChannelQueries] = {}
        self._crossing: set[Channel] = set()
        """Channels with queries that ask for no value in common."""

    def queries_changed(self) -> None:
        """To be called when queries have come or gone."""
        self._of_channels.clear()
        self._crossing.clear()

    def group(
        self,
        tuples: Iterable[ChannelTuple],
        rows: Iterable[FoundRow],
        held: Mapping[int, Document],
        to: MatchGroups,
        chains: dict[tuple[int, ...], int],
    ) -> None:
        """Adds the groups of a wave: its channel tuples, and the matches that are in none of
        them, of the same documents or of others.  `chains` has the places of the step's ranges of
        three documents and more."""
        more: More = {}
        for owner, found in rows:
            if isinstance(owner, Subscription) and owner.reported:
                more.setdefault(found.documents, []).append((owner, found))
        for one, queries in self._with_queries(tuples):
            of, others = (held[one.document],), one.others
            left, right = ((), of) if one.right else (of, ())
            if more:
                others = []
                for pair, other in zip(one.pairs(), one.others, strict=True):
                    if pair in more:
                        with_more = queries.with_more(more.pop(pair))
                        to.ranges.append(GroupRange(with_more, left, [other], right, held))
                    else:
                        others.append(other)
            if others:
                to.ranges.append(GroupRange(queries, left, others, right, held))
        for key, some in more.items():
            # Chains of other operators find the same documents in other waves.
            if key in chains and isinstance(known := to.ranges[chains[key]], GroupRange):
                known.queries = known.queries.with_more(some)
                continue
            *first, last = key
            if len(first) > 1:
                chains[key] = len(to.ranges)
            documents = tuple([held[number] for number in first])
            to.ranges.append(GroupRange(self._nobody.with_more(some), documents, [last], (), held))

    def group_patterns(
        self,
        rows: PatternRows,
        nodes: EventNodes,
        held: Mapping[int, Document],
        to: MatchGroups,
    ) -> None:
        """Adds the groups of a level of patterns, but for those of sub-queries."""
        groups = []
        for group in rows.groups():
            owner = self._stages.reader(group.number).owner
            if isinstance(owner, Subscription) and owner.reported:
                groups.append((owner, group))
        if groups:
            name = self._attribute_name
            to.ranges.append(PatternRange(groups, nodes, held, name, reported=rows.feeding))

    def group_events(self, outputs: Outputs, reader: EventOutputs, to: MatchGroups) -> None:
        """Adds the groups of a level of event queries, but for those of sub-queries."""
        one = EventRange(outputs, reader)
        if one.others:
            to.ranges.append(one)

    def _with_queries(
        self, tuples: Iterable[ChannelTuple]
    ) -> Sequence[tuple[ChannelTuple, ChannelQueries]]:
        """The tuples with their queries, each pair of documents in one: of those that have a value
        in common there is one, but such a pair may be found by time or likeness, too."""
        found: list[tuple[ChannelTuple, ChannelQueries]] = []
        crossing, of_channels = False, self._of_channels
        for one in tuples:
            queries = of_channels.get(one.channel)
            if queries is None:
                queries = self._queries_of(one.channel)
            if queries:
                found.append((one, queries))
                crossing = crossing or one.channel in self._crossing
        return [*_joined(found)] if crossing else found

    def _queries_of(self, channel: Channel) -> ChannelQueries:
        parts = [part for part in channel.parts if part.sole]
        if any(not part.plan.joins for part in parts):
            self._crossing.add(channel)
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
                self._attribute_name,
            )
            if parts
            else self._nobody
        )
        return queries


def _joined(
    tuples: Iterable[tuple[ChannelTuple, ChannelQueries]],
) -> Iterator[tuple[ChannelTuple, ChannelQueries]]:
    """Tuples of which no two have the same pair of documents."""
    of_documents: dict[tuple[int, bool], list[tuple[ChannelTuple, ChannelQueries]]] = {}
    for one, queries in tuples:
        of_documents.setdefault((one.document, one.right), []).append((one, queries))
    for (document, right), some in of_documents.items():
        if len(some) == 1:
            yield from some
            continue
        by_other: dict[int, list[ChannelQueries]] = {}
        for one, queries in some:
            for other in one.others:
                by_other.setdefault(other, []).append(queries)
        alike: dict[tuple[ChannelQueries, ...], list[int]] = {}
        for other, several in by_other.items():
            alike.setdefault(tuple(several), []).append(other)
        channel = some[0][0].channel
        for (queries, *others), numbers in alike.items():
            joined = queries.joined(others) if others else queries
            yield ChannelTuple(channel, document, numbers, right), joined
