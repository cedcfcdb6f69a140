"""A batch of documents through all stages: its matches, in groups, or their counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from join_stage import Wanted
from xpath_stage import Strings, XPathEvaluator
from xscl.documents.arrivals import Arrivals
from xscl.documents.intake import Intake
from xscl.errors import DocumentError
from xscl.evaluation.deliveries import Deliveries, Delivery
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.grouping import Grouping
from xscl.evaluation.history import History
from xscl.evaluation.match_groups import MatchGroups
from xscl.evaluation.rows import count_rows
from xscl.evaluation.second_stage import SecondStage
from xscl.evaluation.second_stages import SecondStages
from xscl.evaluation.stage_one import Preview, StageOne, Wave
from xscl.evaluation.waves import Waves
from xscl.queries.catalogue import Catalogue
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match

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
        stages: Sequence[SecondStage],
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
        self._stage_one = stage_one = StageOne(xpath, queries.graph, intake, patterns, on_error)
        self._outputs = outputs = EventOutputs(queries, intake, stage_one, xpath.attribute_name)
        self.read = stage_one.read
        self._second = second = SecondStages(xpath, stages, strings, queries, intake)
        self._grouping = Grouping(queries.stages, xpath.attribute_name)
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

    def preview(self, envelope: Mapping[str, object]) -> Preview:
        """How a document would be taken in; raises DocumentError if it cannot be read."""
        try:
            return self._stage_one.preview(envelope)
        finally:
            # Nothing but what is taken in holds its strings.
            self._strings.forget([value for _, value in self._strings.take()])

    def clear(self) -> None:
        """Lets go of all documents, and of the time."""
        self._intake.clear()
        self._patterns.clear()
        self._second.let_go(exact=True)

    def publish(
        self, arrivals: Arrivals, *, ended: bool = False
    ) -> tuple[list[Match], list[Delivery]]:
        """The matches that a batch completes, in order of the completing documents, then of the
        queries; those that need its results come after.  Where the input has `ended`, also those
        that waited for more of it."""
        deliveries = self.deliveries(all_of_them=True)
        self._waves.cascade(self._admit(arrivals), deliveries, ended=ended)
        return deliveries.matches, deliveries.awaited

    def deliveries(self, *, all_of_them: bool) -> Deliveries:
        """Those of a step that begins."""
        return Deliveries(all_of_them=all_of_them, open=self._is_open())

    def publish_grouped(
        self, arrivals: Arrivals, *, ended: bool = False
    ) -> tuple[MatchGroups, list[Delivery]]:
        """As `publish`, but in groups; beside them the matches that somebody waits for."""
        groups = MatchGroups()
        deliveries = self.deliveries(all_of_them=False)
        wave = self._admit(arrivals)
        while step := self._second.step(wave, ended=ended):
            of_patterns = step.of_patterns
            for some in of_patterns:
                self._grouping.group_patterns(some, self._patterns.nodes, self._intake.held, groups)
            for outputs in step.of_events:
                self._grouping.group_events(outputs, self._outputs, groups)
            rows = self._waves.rows(step.outputs(Wanted.BUT_CHANNELS))
            if not of_patterns:
                self._grouping.group(step.tuples, rows, self._intake.held, groups)
            wave = self._waves.next_wave(rows, deliveries, step.of_events)
        self._intake.read_by(groups.ranges)
        self._waves.let_go(ended=ended)
        if waited_for := [some.called() for some in groups.ranges if some.waited_for]:
            return groups, [*itertools.chain.from_iterable(waited_for), *deliveries.awaited]
        return groups, deliveries.awaited

    def count(self, arrivals: Arrivals, *, ended: bool = False) -> Counter[str]:
        """The number of matches of each query that a batch completes.

        Matches are built only of queries whose results are read.
        """
        counts: Counter[str] = Counter()
        wave = self._admit(arrivals)
        while step := self._second.step(wave, ended=ended):
            for number, matches in step.counts():
                owner = self._queries.stages.reader(number).owner
                assert isinstance(owner, Subscription)
                counts[owner.name] += matches
            outputs = [*step.outputs(Wanted.BUT_SOLE_DISJUNCTS)]
            of_owners, numbers = count_rows(outputs, self._queries.stages.reader, self._is_alone)
            rows = self._waves.rows(outputs, numbers)
            of_owners.update(owner for owner, _ in rows if isinstance(owner, Subscription))
            counts.update({one.name: n for one, n in of_owners.items() if one.reported})
            for some in step.of_events:
                self._outputs.count(some, counts)
            wave = self._waves.next_wave(rows, None, step.of_events)
        self._waves.let_go(ended=ended)
        return counts

    def forget(self, *, exact: bool = False) -> None:
        """Lets go of what no query can reach any more."""
        self.follow_queries()
        self._second.let_go(exact=exact)

    def settle(self) -> None:
        """Before a query comes: what is out of reach stays so, whatever the query could reach."""
        if not self._intake.settled:
            self.follow_queries()
            self._intake.let_go_unreachable()

    def _admit(self, arrivals: Arrivals) -> Wave:
        """The first wave: takes in a batch that was read."""
        self._intake.admit(arrivals)
        for error in arrivals.errors:
            self._on_error(error)
        self._patterns.wait(arrivals.events)
        return Wave(arrivals.evaluated, [], arrivals.witnesses)

    def _is_alone(self, subscription: Subscription) -> bool:
        """Whether the matches of a query need no look at: no disjunct but one finds them, and
        nobody reads their results."""
        read = self._queries.graph.read
        return len(subscription.numbers) == 1 and not any(read[one] for one in subscription.feeds)
