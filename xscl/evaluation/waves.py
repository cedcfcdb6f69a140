"""A batch of documents through both stages, and all that it causes.

A batch goes in waves.  The first are the documents published; what they complete may itself be
documents: the results that a query publishes, and the composites that a chain's left part finds.
These are the next wave, within the same call, until one causes nothing; the graph of queries is
acyclic, so that it ends.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from join_stage import Wanted
from xpath_stage import Layout, Strings, Witnesses, XPathEvaluator
from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.document import Document, as_held
from xscl.documents.events import EventType, TypedEvent
from xscl.documents.intake import Arrivals, Intake
from xscl.errors import DocumentError
from xscl.evaluation.event_outputs import Delivery, EventOutputs
from xscl.evaluation.grouping import Grouping
from xscl.evaluation.match_groups import MatchGroups
from xscl.evaluation.rows import FoundRow, count_rows, read_rows
from xscl.evaluation.second_stage import SecondStage, StageRows
from xscl.evaluation.second_stages import SecondStages
from xscl.evaluation.stage_one import Preview, StageOne, Wave
from xscl.matches.forms import Sides
from xscl.matches.match import Match
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.event_readers import EventReaders
from xscl.queries.levels.event_rows import EventRows
from xscl.queries.levels.levels import Told
from xscl.queries.levels.pattern_levels import Saved
from xscl.queries.levels.pattern_rows import PatternRows
from xscl.queries.subscription import Subscription

__all__ = ["Delivery", "Evaluation"]


class Evaluation:
    """The stages of an engine, with its queries and the documents that it holds.

    `read` reads a batch (`StageOne.read`), after `follow_queries`; nothing of it counts until it is
    published.  Documents that cannot be read are reported to `on_error`, and counted.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        stages: Sequence[SecondStage],
        strings: Strings,
        queries: Catalogue,
        intake: Intake,
        on_error: Callable[[DocumentError], object],
    ) -> None:
        self._xpath = xpath
        self._strings = strings
        self._queries = queries
        self._intake = intake
        self._patterns = patterns = queries.patterns
        self._on_error = on_error
        self._stage_one = StageOne(xpath, queries.graph, intake, patterns, on_error)
        self._outputs = EventOutputs(queries, intake, self._stage_one, xpath.attribute_name)
        self.read = self._stage_one.read
        self._second = SecondStages(xpath, stages, strings, queries, intake)
        self._grouping = Grouping(queries.stages, xpath.attribute_name)
        # The layouts of composites, by derived stream and codes.
        self._composed: dict[tuple[int, tuple[int, ...]], Layout] = {}

    @property
    def waits(self) -> bool:
        """Whether time may complete matches: there are patterns."""
        return self._patterns.timed

    def follow_queries(self) -> None:
        """Lets all that is held follow the queries, and the leaf paths that documents show."""
        if self._second.follow_queries():
            self._grouping.queries_changed()
            self._composed.clear()
            if self._queries.levels.stale:
                self._renew_patterns()

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
        self._patterns.renew(forget=True)
        self._second.let_go(exact=True)

    def publish(
        self, arrivals: Arrivals, *, ended: bool = False
    ) -> tuple[list[Match], list[Delivery]]:
        """The matches that a batch completes, in order of the completing documents, then of the
        queries; those that need its results come after.  Where the input has `ended`, also those
        that waited for more of it."""
        deliveries = self._cascade(self._admit(arrivals), ended=ended)
        return [match for _, match in deliveries], deliveries

    def publish_grouped(
        self, arrivals: Arrivals, *, ended: bool = False
    ) -> tuple[MatchGroups, list[Delivery]]:
        """As `publish`, but in groups; beside them the matches that somebody waits for."""
        groups = MatchGroups()
        deliveries: list[Delivery] = []
        wave = self._admit(arrivals)
        while step := self._second.step(wave, ended=ended):
            of_patterns = step.of_patterns
            for some in of_patterns:
                self._grouping.group_patterns(some, self._patterns.nodes, self._intake.held, groups)
            for outputs in step.of_events:
                self._grouping.group_events(outputs, self._outputs, groups)
            rows = self._rows(step.outputs(Wanted.BUT_CHANNELS))
            if not of_patterns:
                self._grouping.group(step.tuples, rows, self._intake.held, groups)
            wave = self._next_wave(rows, deliveries, step.of_events, all_of_them=False)
        self._intake.read_by(groups.ranges)
        self._let_go(ended=ended)
        if waited_for := [some.called() for some in groups.ranges if some.waited_for]:
            deliveries = [*itertools.chain.from_iterable(waited_for), *deliveries]
        return groups, deliveries

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
            rows = self._rows(outputs, numbers)
            of_owners.update(owner for owner, _ in rows if isinstance(owner, Subscription))
            counts.update({one.name: n for one, n in of_owners.items() if one.reported})
            for some in step.of_events:
                self._outputs.count(some, counts)
            wave = self._next_wave(rows, None, step.of_events)
        self._let_go(ended=ended)
        return counts

    def review(self, subscription: Subscription) -> list[Delivery]:
        """The matches that a new query causes among the documents held, which are read anew."""
        self.follow_queries()
        wave = self._read_anew(subscription.streams)
        if not wave:
            return []
        numbers = subscription.all_numbers
        derived = self._queries.stages.derived_below(numbers)
        if derived:
            self._compose_anew(wave, derived)
        self.follow_queries()
        found = [*self._second.review(wave, numbers)]
        outputs = self._review_outputs(subscription, wave)
        if self._queries.levels.any_pattern(numbers):
            found += self._renew_patterns()
        deliveries: list[Delivery] = []
        rows = self._rows(found)
        if self._queries.levels.any_pattern(numbers):
            rows = [row for row in rows if not self._is_old(row[0], numbers)]
        following = self._next_wave(rows, deliveries, outputs)
        return deliveries + self._cascade(following)

    def _review_outputs(self, subscription: Subscription, wave: Wave) -> list[EventRows]:
        """What new event queries find among the documents held: of one with sub-queries, the
        innermost first."""
        rows = [
            one for inner in subscription.wiring.inner for one in self._review_outputs(inner, wave)
        ]
        query = subscription.wiring.events
        if query is None:
            return rows
        held, intake = self._intake.held, self._intake

        def events(readers: EventReaders) -> Iterator[TypedEvent]:
            for document in wave.documents:
                if readers.whole(document.stream):
                    yield from readers.of_whole(document)
            for kind in query.types:
                found = self._rows(self._second.review(wave, kind.numbers)) if kind.numbers else ()
                of_kind = [row for owner, row in found if owner is kind]
                yield from readers.of_rows(kind, of_kind, held)

        watermark, flushed = intake.watermark, intake.flushed
        member = self._queries.member(subscription)
        return [*rows, self._patterns.look_back(query, member, events, watermark, flushed)]

    def restore(self, documents: Iterable[Document]) -> None:
        """Holds documents that were held before, under their numbers; their matches were returned
        then.

        Composites are not made of them: `recompose` does that when all are there.
        """
        self.follow_queries()
        wave = self._stage_one.hold(
            document
            if document.body is None
            else as_held(document, self._intake.bodies, self._intake.trees)
            for document in documents
        )
        self._intake.bodies.shrink()
        self.follow_queries()
        self._second.restore(wave, ())

    def reread(self, streams: Iterable[str]) -> None:
        """Reads the documents held of some streams anew, as `review` has done for a query."""
        self.follow_queries()
        wave = self._read_anew(streams)
        self.follow_queries()
        self._second.review(wave, ())

    def recompose(self, told: Mapping[str, list[Told]], saved: Saved) -> None:
        """Makes the composites of all documents held, after `restore`, and lets patterns see these
        documents, and what they have `told` before, and event queries be as they were `saved`."""
        self.follow_queries()
        if self._patterns.timed:
            self._queries.tell(told)
            self._renew_patterns()
            self._patterns.recall(saved, self._intake.flushed)
        numbers = self._queries.stages.derived
        if not numbers:
            return
        found = self._second.rejoin(numbers)
        while wave := self._next_wave(self._rows(found), None):
            found = self._second.restore(wave, numbers)

    def forget(self, *, exact: bool = False) -> None:
        """Lets go of what no query can reach any more."""
        self.follow_queries()
        self._second.let_go(exact=exact)

    def settle(self) -> None:
        """Before a query comes: what is out of reach stays so, whatever the query could reach."""
        if not self._intake.settled:
            self.follow_queries()
            self._intake.let_go_unreachable()

    # Waves.

    def _admit(self, arrivals: Arrivals) -> Wave:
        """The first wave: takes in a batch that was read."""
        self._intake.admit(arrivals)
        for error in arrivals.errors:
            self._on_error(error)
        self._patterns.wait(arrivals.events)
        documents = [document for document, shape in arrivals.documents if shape is not None]
        return Wave(documents, [], arrivals.witnesses)

    def _read_anew(self, streams: Iterable[str]) -> Wave:
        """The documents held of some streams, with the witnesses that queries as they are now ask
        for."""
        read = set(streams)
        held = (
            one for one in self._intake.held.values() if one.stream in read and one.body is not None
        )
        return self._stage_one.hold(sorted(held, key=lambda one: one.number))

    def _renew_patterns(self) -> Sequence[PatternRows]:
        """Lets patterns begin anew with the documents held; returns what they find in them."""
        patterns, held = self._patterns, self._intake.held
        patterns.renew(flushed=self._intake.flushed)
        readers = patterns.readers
        for document in [*held.values()]:
            if document.body is not None:
                patterns.wait(readers.of_whole(document, columns=False))
        if parts := patterns.levels.parts:
            wave = self._read_anew(parts)
            self._second.follow_queries()
            rows = self._rows(self._second.review(wave, patterns.levels.numbers))
            for owner, of_owner in itertools.groupby(rows, itemgetter(0)):
                assert isinstance(owner, EventType)
                rows_of = [found for _, found in of_owner]
                patterns.wait(readers.of_rows(owner, rows_of, held, columns=False))
        return patterns.catch_up(self._intake.watermark, self._intake.flushed)

    def _compose_anew(self, wave: Wave, derived: Sequence[DerivedStream]) -> None:
        """Adds to documents read anew all composites of some derived streams: those that stand,
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

        self.follow_queries()
        found = self._second.review(wave, numbers)
        while more := self._next_wave([*filter(missing, self._rows(found))], None):
            wave.composites += more.composites
            found = self._second.restore(more, numbers)

    def _cascade(self, wave: Wave, *, ended: bool = False) -> list[Delivery]:
        deliveries: list[Delivery] = []
        while step := self._second.step(wave, ended=ended):
            rows = self._rows(step.outputs(Wanted.ALL))
            wave = self._next_wave(rows, deliveries, step.of_events)
        self._let_go(ended=ended)
        return deliveries

    def _let_go(self, *, ended: bool) -> None:
        """At the end of a step."""
        if ended:
            self._intake.flushed = self._intake.next_number
        self._second.let_go()

    def _is_old(self, owner: object, numbers: Collection[int]) -> bool:
        """Whether a pattern begun anew is none of those that are new."""
        return isinstance(owner, Subscription) and owner.order not in numbers

    def _is_alone(self, subscription: Subscription) -> bool:
        """Whether the matches of a query need no look at: no disjunct but one finds them, and
        nobody reads their results."""
        read = self._queries.graph.read
        return len(subscription.numbers) == 1 and not any(read[one] for one in subscription.feeds)

    def _rows(self, outputs: Iterable[StageRows], counted: Collection[int] = ()) -> list[FoundRow]:
        """The rows of stages, but for those of queries that are `counted`."""
        return read_rows(
            outputs,
            self._queries.stages.reader,
            self._intake.composites,
            self._second.constants_at,
            counted,
        )

    def _next_wave(
        self,
        rows: Sequence[FoundRow],
        deliveries: list[Delivery] | None,
        outputs: Sequence[EventRows] = (),
        *,
        all_of_them: bool = True,
    ) -> Wave:
        """The wave that rows and outputs cause; the matches that they are join the deliveries, or
        if not `all_of_them` those that a callback or a published stream waits for.

        Without deliveries, a match is built only where it is published to a stream that is read.
        """
        wave = Wave()
        for some in outputs:
            self._outputs.tell(some, deliveries, wave, all_of_them=all_of_them)
        held = self._intake.held
        sides = Sides(self._xpath.attribute_name)
        for owner, of_owner in itertools.groupby(rows, itemgetter(0)):
            if isinstance(owner, EventType):
                found_rows = [found for _, found in of_owner]
                self._patterns.wait(self._patterns.readers.of_rows(owner, found_rows, held))
                continue
            if isinstance(owner, DerivedStream):
                for _, found in of_owner:
                    composite = self._intake.compose(owner, found)
                    wave.composites.append(composite)
                    self._composite_witnesses(owner, composite, wave.witnesses)
                continue
            fed = [stream for stream in owner.feeds if self._queries.graph.read[stream]]
            called = owner.on_match is not None or owner.wiring.stream is not None
            to = None
            if deliveries is not None and owner.reported and (fed or all_of_them or called):
                to = deliveries
            if to is None and not fed:
                continue
            for _, found in of_owner:
                documents = [held[number] for number in found.documents]
                match = owner.match(found, documents, sides)
                if to is not None:
                    to.append((owner, match))
                for stream in fed:
                    self._publish_result(match, stream, found, documents, wave)
        self._patterns.wait(wave.events)
        return wave

    def _composite_witnesses(
        self, derived: DerivedStream, composite: Composite, to: Witnesses
    ) -> None:
        """A composite's witnesses: a row for each column that later stages ask for."""
        key = (derived.number, composite.codes)
        layout = self._composed.get(key)
        if layout is None:
            places = itertools.count()
            layout = self._composed[key] = Layout.of(
                (
                    spine,
                    (composite.codes[column],),
                    next(places) if column in derived.valued else None,
                    (),
                )
                for column, spine in derived.spines.items()
            )
        valued = dict(zip(derived.valued, composite.strings, strict=True))
        strings = [valued[column] for column in derived.spines if column in valued]
        to.leave(composite.number, layout, strings)

    def _publish_result(
        self,
        match: Match,
        stream: str,
        found: OperatorRow,
        documents: Sequence[Document],
        wave: Wave,
    ) -> None:
        """A match's result as a document of a stream."""
        number, time = self._intake.next_number, found.known_at(documents)
        begun = found.begun_at(documents)
        start = None if begun == time else begun
        result = Document(number, stream, match.id, time, match.result, match.json, None, start)
        self._stage_one.admit_result(result, wave)
