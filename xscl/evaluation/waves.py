"""A batch of documents through both stages, and all that it causes.

A batch goes in waves.  The first are the documents published; what they complete may itself be
documents: the results that a query publishes, and the composites that a chain's left part finds.
These are the next wave, within the same call, until one causes nothing; the graph of queries is
acyclic, so that it ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import EventType
from xscl.documents.intake import Intake
from xscl.evaluation.deliveries import Deliveries
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.pending_rows import PendingRows
from xscl.evaluation.rows import FoundRow, read_rows
from xscl.evaluation.second_stage import StageRows
from xscl.evaluation.second_stages import SecondStages, WaveRows
from xscl.evaluation.stage_one import StageOne, Wave
from xscl.join_stage import Wanted
from xscl.matches.forms import Sides
from xscl.matches.match import Retraction
from xscl.queries.catalogue import Catalogue
from xscl.queries.subscription import Subscription
from xscl.xpath_stage import Layout, Witnesses, XPathEvaluator

if TYPE_CHECKING:
    from xscl.matches.match import Match
    from xscl.pattern_stage.plan.outputs import Outputs

__all__ = ["Waves"]

_LAYOUTS = 4096
"""So many layouts of composites are remembered."""


class Waves:
    """The waves of an engine; the rows that all stages find become matches, events, composites and
    documents."""

    def __init__(
        self,
        xpath: XPathEvaluator,
        second: SecondStages,
        stage_one: StageOne,
        outputs: EventOutputs,
        queries: Catalogue,
        intake: Intake,
    ) -> None:
        self._xpath = xpath
        self._second = second
        self._stage_one = stage_one
        self._outputs = outputs
        self._queries = queries
        self._patterns = queries.patterns
        self._intake = intake
        self.pending = PendingRows(intake, queries.levels, queries.graph.level)
        # The layouts of composites, by derived stream and codes.
        self._composed: dict[tuple[int, tuple[int, ...]], Layout] = {}

    def queries_changed(self) -> None:
        """Forgets what is known of the queries."""
        self._composed.clear()
        self.pending.queries_changed()

    def cascade(
        self, wave: Wave, collect: Callable[[WaveRows], Wave], *, ended: bool = False
    ) -> None:
        """Takes a wave, then those that it causes, through the stages of witnesses; when there is
        none left, time passes.  What each step finds is collected, which returns its next wave."""
        timed, pending = self._second.advance(ended=ended), self.pending

        def follow() -> WaveRows | None:
            while True:
                # What they publish is there before the level that reads it.
                gone, due = pending.take_gone(), pending.due(ended=ended)
                if due or gone:
                    return WaveRows((), due=due, gone=gone)
                if (step := next(timed, None)) is not None:
                    pending.pass_level()
                    return step
                if not pending.end():
                    return None

        if pending.any:
            pending.begin()
        following = follow if pending.any else partial(next, timed, None)
        while True:
            if wave.documents or wave.composites:
                wave = collect(self._second.begin(wave))
            elif (step := following()) is not None:
                wave = collect(step)
            else:
                break
        pending.end()
        if ended:
            self._intake.flushed = self._intake.next_number

    def deliver(self, deliveries: Deliveries, step: WaveRows) -> Wave:
        """Collects all matches of a step."""
        if step.timed or step.gone or step.of_events:
            for owner, match in self.taken_back(step):
                self.deliver_back(deliveries, owner, match)
        rows = self.rows(step.outputs(Wanted.ALL), step.due)
        return self.next_wave(rows, deliveries, step.of_events)

    def taken_back(self, step: WaveRows) -> list[tuple[Subscription, Match]]:
        """The matches that were reported and no longer hold, with their queries."""
        rows: list[tuple[Subscription, OperatorRow]] = []
        if step.gone:
            rows += [(owner, row) for owner, row in step.gone if isinstance(owner, Subscription)]
        for some in step.of_patterns if step.timed else ():
            for number, withdrawn in some.withdrawn():
                reader = self._queries.stages.reader(number)
                if isinstance(reader.owner, Subscription):
                    read = reader.reading.read(withdrawn, self._intake.composites)
                    rows += [(reader.owner, row) for row in read]
        gone = [(owner, self._match(owner, row)) for owner, row in rows] if rows else []
        for outputs in step.of_events:
            if outputs.gone is not None:
                gone += self._outputs.taken_back(outputs.gone)
        for owner, match in gone:
            for stream in owner.feeds:
                if self._queries.graph.read[stream]:
                    self._withdraw_result(stream, match.id)
        return gone

    def withdraw(self, document: Document) -> None:
        """Makes all as if a document had never come, but for what is `taken_back` then."""
        levels = self._queries.levels
        levels.withdraw(document.stream, document.number, document.time)
        self.pending.withdraw(document.number)
        if levels.default.name == "weak":
            # Joins go on with it.
            self._intake.free(document)
            return
        self._intake.withdraw(document)

    def _withdraw_result(self, stream: str, id: str) -> None:
        """A published result is taken back, if it is retained."""
        number = self._intake.ids.get(stream, {}).get(id)
        if number is not None:
            self.withdraw(self._intake.retained[number])
            self._second.withdraw()

    def _match(self, owner: Subscription, found: OperatorRow) -> Match:
        (match,) = owner.matches([found], self._intake.held, Sides(self._xpath.attribute_name))
        return match

    def deliver_back(
        self, deliveries: Deliveries, owner: Subscription, match: Match
    ) -> Retraction | None:
        """Adds the retraction of a match to the deliveries, if these want it; returns it."""
        retraction = Retraction.of(match)
        if deliveries.wants(owner):
            deliveries.retracting = True
            deliveries.add(owner, [retraction])
        return retraction if owner.reported else None

    def rows(
        self,
        outputs: Iterable[StageRows],
        due: Sequence[FoundRow] = (),
        counted: Collection[int] = (),
    ) -> list[FoundRow]:
        """The rows of stages, but for those of queries that are `counted` and those that are
        pending from now on; with them those that are `due`."""
        rows = self.all_rows(outputs, counted)
        if self.pending.any:
            rows = self.pending.take(rows)
        return [*rows, *due] if due else rows

    def all_rows(
        self, outputs: Iterable[StageRows], counted: Collection[int] = ()
    ) -> list[FoundRow]:
        """The rows of stages, pending or not."""
        return read_rows(
            outputs,
            self._queries.stages.reader,
            self._intake.composites,
            self._second.constants_at,
            counted,
        )

    def next_wave(
        self,
        rows: Sequence[FoundRow],
        deliveries: Deliveries | None,
        outputs: Sequence[Outputs] = (),
    ) -> Wave:
        """The wave that rows and outputs cause; the matches that they are join the deliveries, as
        far as these want them.

        Without deliveries, a match is built only where it is published to a stream that is read.
        """
        wave = Wave()
        for some in outputs:
            self._outputs.emit(some, deliveries, wave)
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
            to = deliveries if deliveries is not None and deliveries.wants(owner) else None
            if to is None and not fed:
                continue
            found_rows = [found for _, found in of_owner]
            matches = owner.matches(found_rows, held, sides)
            if to is not None:
                to.add(owner, matches)
            for found, match in zip(found_rows, matches, strict=True) if fed else ():
                documents = [held[number] for number in found.documents]
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
            if len(self._composed) >= _LAYOUTS:
                self._composed.clear()
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
        if (made := self._stage_one.result_of(match, stream)) is None:
            return
        id, body, is_json = made
        result = Document(number, stream, id, time, body, is_json, None, start)
        self._stage_one.admit_result(result, wave)
