"""Documents retained are evaluated again: for a query that looks back, and over a restart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from xscl.documents.composites import DerivedStream
from xscl.documents.document import Document, as_stored
from xscl.documents.events import EventType, TypedEvents
from xscl.documents.intake import Intake
from xscl.evaluation.deliveries import Deliveries
from xscl.evaluation.pending_rows import Before
from xscl.evaluation.rows import FoundRow
from xscl.evaluation.second_stage import StageRows
from xscl.evaluation.second_stages import SecondStages
from xscl.evaluation.stage_one import StageOne, Wave
from xscl.evaluation.waves import Waves
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.pattern_levels import Saved
from xscl.queries.levels.pattern_rows import PatternRows
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Outputs
    from xscl.queries.levels.event_readers import EventReaders

__all__ = ["History"]


class History:
    """What lies behind: the documents of an `intake`, as the queries are now.

    `follow_queries` lets all that is held follow them.
    """

    def __init__(
        self,
        waves: Waves,
        second: SecondStages,
        stage_one: StageOne,
        queries: Catalogue,
        intake: Intake,
        follow_queries: Callable[[], None],
    ) -> None:
        self._waves = waves
        self._second = second
        self._stage_one = stage_one
        self._queries = queries
        self._patterns = queries.patterns
        self._intake = intake
        self._follow_queries = follow_queries

    def review(self, subscription: Subscription, deliveries: Deliveries) -> None:
        """Adds the matches that a new query causes among the documents held, which are read
        again."""
        self._follow_queries()
        numbers = subscription.all_numbers
        found: list[StageRows] = []
        if wave := self._read_again(subscription.streams):
            derived = self._queries.stages.derived_below(numbers)
            if derived:
                self._compose_again(wave, derived)
            self._follow_queries()
            found += self._second.review(wave, numbers)
        # They must know what they do not see, where nothing is held that they do.
        outputs = self._review_outputs(subscription)
        found += map(self._review_pattern, sorted(self._queries.levels.patterns.keys() & numbers))
        if not (wave or outputs or found):
            return
        rows = self._waves.rows(found)
        following = self._waves.next_wave(rows, deliveries, outputs)
        self._waves.cascade(following, partial(self._waves.deliver, deliveries))
        self._intake.stepped()
        self._second.evict()

    def _review_outputs(self, subscription: Subscription) -> list[Outputs]:
        """What new event queries find among the documents held: of one with sub-queries, the
        innermost first."""
        rows = [one for inner in subscription.wiring.inner for one in self._review_outputs(inner)]
        query = subscription.wiring.events
        if query is None:
            return rows
        types = query.types

        freed = () if query.weak else self._intake.freed

        def events(readers: EventReaders) -> Iterator[TypedEvents]:
            return self._events(readers, types, without=freed)

        return [*rows, self._patterns.look_back(query, subscription, events, self._intake)]

    def _review_pattern(self, number: int) -> PatternRows:
        """What a new pattern finds among the documents held."""
        pattern = self._queries.levels.patterns[number]
        freed = () if pattern.weak else self._intake.freed
        return self._patterns.look_back_for(
            number,
            lambda readers: self._events(readers, pattern.types, without=freed),
            self._intake,
        )

    def _events(
        self,
        readers: EventReaders,
        types: Iterable[EventType],
        *,
        columns: bool = True,
        without: Collection[int] = (),
    ) -> Iterator[TypedEvents]:
        """The events of some types in the documents held, `without` some of these; without
        `columns` not those of event queries."""
        held = self._intake.retained
        for document in [*held.values()]:
            if document.number in without:
                continue
            if document.body is not None and readers.whole(document.stream):
                yield from readers.of_whole(document, columns=columns)
        parts = [one for one in types if not one.whole]
        if not parts:
            return
        wave = self._read_again({one.stream for one in parts})
        self._second.follow_queries()
        numbers = {number for one in parts for number in one.numbers}
        rows = self._waves.rows(self._second.review(wave, numbers))
        for owner, of_owner in itertools.groupby(rows, itemgetter(0)):
            assert isinstance(owner, EventType)
            rows_of = [
                found for _, found in of_owner if not any(one in without for one in found.documents)
            ]
            yield from readers.of_rows(owner, rows_of, held, columns=columns)

    def restore(self, documents: Iterable[Document]) -> None:
        """Holds documents that were held before, under their numbers; their matches were returned
        then.

        Composites are not made of them: `recompose` does that when all are there.
        """
        self._follow_queries()
        wave = self._stage_one.hold(
            document
            if document.body is None
            else as_stored(document, self._intake.bodies, self._intake.trees)
            for document in documents
        )
        self._intake.bodies.shrink()
        self._follow_queries()
        self._second.restore(wave, ())

    def reread(self, streams: Iterable[str]) -> None:
        """Reads the documents retained of some streams again, as `review` has done for a query."""
        self._follow_queries()
        wave = self._read_again(streams)
        self._follow_queries()
        self._second.review(wave, ())

    def reread_for(self, number: int) -> None:
        """Reads the events of an automaton in the documents held again, as it is now."""
        pattern = self._queries.levels.patterns[number]
        freed = () if pattern.weak else self._intake.freed
        self._patterns.reread(
            number, lambda readers: self._events(readers, pattern.types, without=freed)
        )

    def recompose(self, remembered: Mapping[str, str], saved: Saved, before: Before) -> None:
        """Makes the composites of all documents held, after `restore`, and lets patterns see these
        documents, with what they have `remembered`, and event queries be as they were `saved`.
        What was reported `before` is not again."""
        self._follow_queries()
        if self._patterns.timed:
            queries = self._queries
            those = queries.numbers_waiting(before.waiting)
            queries.levels.went_over(before.revisable, before.level, those, queries.asking)
            self.renew_patterns(remembered)
            self._patterns.recall(saved, self._intake.flushed)
        derived = self._queries.stages.derived
        waiting = self._waves.pending
        pending = self._queries.stages.numbers_of(
            lambda wiring: waiting.waits(wiring) or waiting.waited(wiring, before)
        )
        numbers = [*derived, *pending]
        if not numbers:
            return
        found = self._second.rejoin(numbers)
        while wave := self._waves.next_wave(self._restored(found, before), None):
            found = self._second.restore(wave, numbers)

    def _restored(self, found: Iterable[StageRows], before: Before) -> list[FoundRow]:
        """The composites of rows; of those of queries, what was pending is again."""
        rows = self._waves.all_rows(found)
        self._waves.pending.restored(rows, before)
        return [(owner, row) for owner, row in rows if isinstance(owner, DerivedStream)]

    def _read_again(self, streams: Iterable[str]) -> Wave:
        """The documents held of some streams, with the witnesses that queries as they are now ask
        for."""
        read = set(streams)
        held = (
            one
            for one in self._intake.retained.values()
            if one.stream in read and one.body is not None
        )
        return self._stage_one.hold(sorted(held, key=lambda one: one.number))

    def renew_patterns(self, remembered: Mapping[str, str] | None = None) -> None:
        """Makes the stages of patterns and event queries again, as they were: patterns of the
        documents held and what they remember, or after a restart have `remembered`."""
        patterns, levels = self._patterns, self._queries.levels
        memories = levels.memories
        patterns.renew(flushed=self._intake.flushed)
        patterns.wait(self._events(patterns.readers, levels.types, columns=False))
        if remembered is not None:
            # The events by which it is named have their numbers now.
            memories = self._queries.memories_in(remembered)
        patterns.rebuild(self._intake, memories)

    def _compose_again(self, wave: Wave, derived: Sequence[DerivedStream]) -> None:
        """Adds to documents read again all composites of some derived streams: those that stand,
        and those that do not because no query before could reach them."""
        composites = self._intake.composites
        numbers = {owner.number for owner in derived}
        wave.composites = [composites[one] for owner in derived for one in sorted(owner.composites)]
        standing = {
            (owner, composites[one].documents, composites[one].codes)
            for owner in derived
            for one in owner.composites
        }

        def missing(row: FoundRow) -> bool:
            owner, found = row
            if (owner, found.documents, found.codes) in standing:
                return False
            # Another one of the same documents may stand.
            if isinstance(owner, DerivedStream):
                owner.distinct = False
            return True

        self._follow_queries()
        found = self._second.review(wave, numbers)
        while more := self._waves.next_wave([*filter(missing, self._waves.rows(found))], None):
            wave.composites += more.composites
            found = self._second.restore(more, numbers)
