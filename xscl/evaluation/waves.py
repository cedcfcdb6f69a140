"""A batch of documents through both stages, and all that it causes.

A batch goes in waves.  The first are the documents published; what they complete may itself be
documents: the results that a query publishes, and the composites that a chain's left part finds.
These are the next wave, within the same call, until one causes nothing; the graph of queries is
acyclic, so that it ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from join_stage import Wanted
from xpath_stage import Layout, Witnesses, XPathEvaluator
from xscl.documents.composites import Composite, DerivedStream, OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import EventType
from xscl.documents.intake import Intake
from xscl.evaluation.deliveries import Deliveries
from xscl.evaluation.event_outputs import EventOutputs
from xscl.evaluation.rows import FoundRow, read_rows
from xscl.evaluation.second_stage import StageRows
from xscl.evaluation.second_stages import SecondStages
from xscl.evaluation.stage_one import StageOne, Wave
from xscl.matches.forms import Sides
from xscl.queries.catalogue import Catalogue

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import Outputs
    from xscl.matches.match import Match

__all__ = ["Waves"]


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
        # The layouts of composites, by derived stream and codes.
        self._composed: dict[tuple[int, tuple[int, ...]], Layout] = {}

    def queries_changed(self) -> None:
        """Forgets what is known of the queries."""
        self._composed.clear()

    def cascade(self, wave: Wave, deliveries: Deliveries, *, ended: bool = False) -> None:
        """Adds the matches that a wave causes, and those after it; at the end of a step."""
        while step := self._second.step(wave, ended=ended):
            rows = self.rows(step.outputs(Wanted.ALL))
            wave = self.next_wave(rows, deliveries, step.of_events)
        self.let_go(ended=ended)

    def let_go(self, *, ended: bool) -> None:
        """At the end of a step."""
        if ended:
            self._intake.flushed = self._intake.next_number
        self._second.let_go()

    def rows(self, outputs: Iterable[StageRows], counted: Collection[int] = ()) -> list[FoundRow]:
        """The rows of stages, but for those of queries that are `counted`."""
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
            self._outputs.tell(some, deliveries, wave)
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
            for _, found in of_owner:
                documents = [held[number] for number in found.documents]
                match = owner.match(found, documents, sides)
                if to is not None:
                    to.add(owner, [match])
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
        if (made := self._stage_one.result_of(match, stream)) is None:
            return
        id, body, is_json = made
        result = Document(number, stream, id, time, body, is_json, None, start)
        self._stage_one.admit_result(result, wave)
