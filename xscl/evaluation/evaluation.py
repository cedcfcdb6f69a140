"""A batch of documents through all stages: its matches, in groups, or their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xscl.documents.arrivals import Arrivals
from xscl.documents.intake import Intake
from xscl.errors import DocumentError
from xscl.evaluation.arc_changes import ArcChanges
from xscl.evaluation.deliveries import Deliveries, Delivery, key_of
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.groups.grouping import MatchGrouping
from xscl.evaluation.groups.match_groups import MatchGroups
from xscl.evaluation.groups.settled import settle
from xscl.evaluation.history import History
from xscl.evaluation.promises import breaks_promise, promised_block
from xscl.evaluation.rows import count_rows
from xscl.evaluation.second_stage import TimedStage, WitnessStage
from xscl.evaluation.second_stages import SecondStages, WaveRows
from xscl.evaluation.stage_one import Preview, StageOne, Wave
from xscl.evaluation.waves import Waves
from xscl.join_stage import Wanted
from xscl.queries.catalogue import Catalogue
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription
from xscl.xpath_stage import Strings, XPathEvaluator

if TYPE_CHECKING:
    from xscl.matches.matches import Matches

__all__ = ["Evaluation"]


class Evaluation:
    """The stages of an engine, with its queries and the documents that it holds.

    `read` reads a batch (`StageOne.read`), after `follow_queries`; nothing of it counts until it is
    published.  Documents that cannot be read are reported to `on_error`, and counted.  `is_open`
    says whether anybody may read what is published to streams.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        stages: Sequence[WitnessStage],
        timed: Sequence[TimedStage],
        strings: Strings,
        queries: Catalogue,
        intake: Intake,
        on_error: Callable[[DocumentError], object],
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        self._is_open = is_open
        self._xpath = xpath
        self._strings = strings
        self._queries = queries
        self._intake = intake
        self._patterns = patterns = queries.patterns
        self._on_error = on_error
        self._arcs = arcs = ArcChanges(queries, intake)
        self._stage_one = stage_one = StageOne(
            xpath, queries.graph, intake, patterns, arcs, on_error
        )
        self._outputs = outputs = EventOutputs(queries, intake, stage_one, xpath.attribute_name)
        self.read = stage_one.read
        self._second = second = SecondStages(xpath, stages, timed, strings, queries, intake)
        self._grouping = MatchGrouping(queries.stages, xpath.attribute_name)
        self._waves = Waves(xpath, second, stage_one, outputs, queries, intake)
        self.history = History(self._waves, second, stage_one, queries, intake, self.follow_queries)

    @property
    def waits(self) -> bool:
        """Whether time may complete matches: there are patterns."""
        return self._patterns.timed

    def follow_queries(self) -> None:
        """Lets all that is held follow the queries, and the leaf paths that documents show."""
        if self._second.follow_queries():
            self._grouping.queries_changed()
            self._waves.queries_changed()
            if self._queries.levels.stale:
                self.history.renew_patterns()

    def callbacks_changed(self) -> None:
        """A query of an earlier run has another callback."""
        self._grouping.queries_changed()

    def previews(self, envelopes: Sequence[Mapping[str, object]]) -> list[Preview | DocumentError]:
        """How each document would be taken in, or why it cannot be read."""
        try:
            return [*self._stage_one.previews(envelopes)]
        finally:
            # Nothing but what is taken in holds its strings.
            self._strings.drop([value for _, value in self._strings.take()])

    def clear(self) -> None:
        """Drops all documents, and the time."""
        self._intake.clear()
        self._patterns.clear()
        self._waves.pending.clear()
        self._second.evict(exact=True)

    def publish(self, arrivals: Arrivals, *, ended: bool = False) -> tuple[Matches, list[Delivery]]:
        """The matches that a batch completes, in order of the completing documents, then of the
        queries; those that need its results come after.  Where the input has `ended`, also those
        that waited for more of it."""
        deliveries = self.deliveries(all_of_them=True)
        self._run(arrivals, partial(self._waves.deliver, deliveries), ended=ended)
        self._second.evict()
        if deliveries.retracting:
            deliveries.settle()
        return deliveries.matches, deliveries.awaited

    def deliveries(self, *, all_of_them: bool) -> Deliveries:
        """Those of a step that begins."""
        return Deliveries(all_of_them=all_of_them, open=self._is_open())

    def publish_grouped(
        self, arrivals: Arrivals, *, ended: bool = False
    ) -> tuple[MatchGroups, list[Delivery]]:
        """As `publish`, but in groups; with them the matches that somebody waits for."""
        groups = MatchGroups()
        deliveries = self.deliveries(all_of_them=False)
        read_by = self._intake.read_by
        chains: dict[tuple[int, ...], int] = {}
        of_step = 0

        def collect(step: WaveRows) -> Wave:
            nonlocal of_step
            of_patterns = step.of_patterns
            for some in of_patterns:
                self._grouping.group_patterns(some, self._patterns.nodes, self._intake.held, groups)
            for outputs in step.of_events:
                self._grouping.group_events(outputs, self._outputs, groups)
            # What is taken back may drop documents.
            read_by(groups.ranges[of_step:])
            of_step = len(groups.ranges)
            back = self._waves.taken_back(step)
            new = settle(groups, [match for _, match in back])
            if new:
                deliveries.drop(new)
            for reporter, match in back:
                if key_of(match) in new:
                    continue
                retraction = self._waves.deliver_back(deliveries, reporter, match)
                if retraction is not None:
                    groups.retractions.append(retraction)
            # What is pending has to be looked at one by one.
            alone = self._waves.pending.any
            wanted = Wanted.ALL if alone else Wanted.BUT_CHANNELS
            rows = self._waves.rows(step.outputs(wanted), step.due)
            if not of_patterns:
                tuples = () if alone else step.tuples
                self._grouping.group(tuples, rows, self._intake.held, groups, chains)
            return self._waves.next_wave(rows, deliveries, step.of_events)

        self._run(arrivals, collect, ended=ended)
        read_by(groups.ranges[of_step:])
        self._second.evict()
        called = [one for some in groups.ranges if some.waited_for for one in some.called()]
        awaited = called + deliveries.awaited
        if deliveries.retracting:
            awaited.sort(key=lambda one: not one[1].retracts)
        return groups, awaited

    def count(self, arrivals: Arrivals, *, ended: bool = False) -> Counter[str]:
        """The number of matches of each query that a batch completes.

        Matches are built only of queries whose results are read.
        """
        counts: Counter[str] = Counter()

        def collect(step: WaveRows) -> Wave:
            for reporter, _ in self._waves.taken_back(step):
                if reporter.reported:
                    counts[reporter.name] -= 1
            alone = self._waves.pending.any
            for number, matches in () if alone else step.counts():
                owner = self._queries.stages.reader(number).owner
                assert isinstance(owner, Subscription)
                counts[owner.name] += matches
            wanted = Wanted.ALL if alone else Wanted.BUT_SOLE_DISJUNCTS
            outputs = [*step.outputs(wanted)]
            of_owners, numbers = count_rows(outputs, self._queries.stages.reader, self._is_alone)
            rows = self._waves.rows(outputs, step.due, numbers)
            of_owners.update(owner for owner, _ in rows if isinstance(owner, Subscription))
            counts.update({one.name: n for one, n in of_owners.items() if one.reported})
            for some in step.of_events:
                self._outputs.count(some, counts)
            return self._waves.next_wave(rows, None, step.of_events)

        self._run(arrivals, collect, ended=ended)
        self._second.evict()
        return counts

    def evict(self, *, exact: bool = False) -> None:
        """Drops what no query can reach any more."""
        self.follow_queries()
        self._second.evict(exact=exact)

    def settle(self) -> None:
        """Before a query comes: what is out of reach stays so, whatever the query could reach."""
        if not self._intake.settled:
            self.follow_queries()
            self._intake.drop_unreachable()

    def _run(self, arrivals: Arrivals, collect: Callable[[WaveRows], Wave], *, ended: bool) -> None:
        """Takes a batch that was read through its waves."""
        self._intake.admit(arrivals)
        for error in arrivals.errors:
            self._on_error(error)
        if arrivals.arcs:
            for number in self._arcs.apply(arrivals):
                self.follow_queries()
                self.history.reread_for(number)
            self.follow_queries()
        if arrivals.promises:
            self._promise(arrivals.promises)
        if arrivals.retractions:
            self._withdraw(arrivals.retractions)
        self._patterns.wait(arrivals.events)
        first = Wave(arrivals.evaluated, [], arrivals.witnesses)
        self._waves.cascade(first, collect, ended=ended)
        self._intake.stepped()
        if self._intake.withdrawn:
            self._forget()

    def _promise(self, promises: Mapping[str, int]) -> None:
        """Lets patterns see that no document comes any more in which some blocks select anything
        before a time."""
        for text, time in promises.items():
            block = promised_block(text)
            # What queries publish is never late.
            if block.stream.text not in self._queries.graph.published:
                self._queries.levels.promise(block, time)

    def _withdraw(self, retractions: Sequence[tuple[str, str]]) -> None:
        """Makes all as if some documents, given by stream and id, had never come."""
        for stream, id in retractions:
            document = self._intake.retracted(stream, id)
            if document is not None and breaks_promise(document, self._intake.promises):
                # Its stream has promised that nothing of this kind changes so early.
                self._intake.skipped.late += 1
            elif document is not None:
                self._waves.withdraw(document)
        if self._intake.changed:
            self._second.withdraw()

    def _forget(self) -> None:
        """Drops what is known of documents that were retracted, but for those that the runs of a
        weak pattern may have."""
        mark, reach = self._intake.watermark, self._queries.levels.weak_reach
        gone = [
            number
            for number, document in self._intake.withdrawn.items()
            if reach is None or (mark is not None and document.time < mark - reach)
        ]
        if gone:
            self._intake.let_readers_copy(queries=False)
            for number in gone:
                del self._intake.withdrawn[number]
            self._patterns.evict(mark, gone)

    def pending(self) -> dict[str, Pending]:
        """The matches of each query that are found, and reported when the watermark has passed what
        they need, by name."""
        found = self._queries.pending()
        for name, some in self._waves.pending.pending().items():
            found[name] = some.joined(found.get(name))
        return found

    def _is_alone(self, subscription: Subscription) -> bool:
        """Whether the matches of a query need no look at: no disjunct but one finds them, and
        nobody reads their results."""
        if self._intake.freed or self._waves.pending.waits(subscription.wiring):
            return False
        read = self._queries.graph.read
        return len(subscription.numbers) == 1 and not any(read[one] for one in subscription.feeds)
