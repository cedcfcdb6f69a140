"""What event queries have found -> matches, published documents, and events of the levels above.

What is published goes to event queries as it is; a document is made of it only where somebody reads
documents, or an event query whose outputs still are documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from xscl.documents.document import Document, without_body
from xscl.documents.events import PLACES, Event
from xscl.documents.intake import Intake
from xscl.documents.retention import NO_LEAVES
from xscl.evaluation.deliveries import Deliveries
from xscl.evaluation.stage_one import StageOne, Wave
from xscl.matches.event_form import EventForm
from xscl.matches.event_output import Output
from xscl.pattern_stage.layouts import END, NUMBER, START
from xscl.queries.catalogue import Catalogue
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from xscl.matches.match import Match
    from xscl.matches.sides import AttributeName
    from xscl.pattern_stage.plan.outputs import Outputs, Root
    from xscl.queries.levels.event_readers import EventReaders

__all__ = ["EventOutputs"]


class EventOutputs:
    """The outputs of an engine's event queries, on their way to whoever reads them."""

    def __init__(
        self,
        queries: Catalogue,
        intake: Intake,
        stage_one: StageOne,
        attribute_name: AttributeName,
    ) -> None:
        self._queries = queries
        self._intake = intake
        self._stage_one = stage_one
        self._attribute_name = attribute_name

    def emit(self, outputs: Outputs, deliveries: Deliveries | None, wave: Wave) -> None:
        """Adds outputs to the deliveries as matches, or unless these are all of them, those of
        queries that publish; and hands on what is published."""
        # Callbacks get those of queries that do not publish out of the groups.
        if not outputs:
            return
        reports = deliveries is not None and deliveries.all_of_them
        if not reports and not outputs.feed:
            return
        read = self._queries.graph.read
        for number, some in outputs.by_query(self.output, reports=reports):
            owner = self.owner(number)
            if deliveries is not None and deliveries.wants(owner):
                deliveries.add(owner, owner.outputs(some))
            if ways := [self._way(owner, one, wave) for one in owner.feeds if read[one]]:
                for output in some:
                    for publish in ways:
                        publish(output)

    def taken_back(self, gone: Outputs) -> Iterator[tuple[Subscription, Match]]:
        """The matches that outputs were, which are no more, with their queries."""
        for number, some in gone.by_query(self.output, reports=True):
            owner = self.owner(number)
            for match in owner.outputs(some):
                yield owner, match

    def count(self, outputs: Outputs, counts: Counter[str]) -> None:
        """Counts outputs by the names of their queries."""
        for number, some in outputs.counts().items():
            counts[self.owner(number).name] += some

    def owner(self, number: int) -> Subscription:
        """The subscription of a number."""
        owner = self._queries.levels.outputs[number]
        assert owner is not None
        return owner

    def output(self, root: Root, event: Event) -> Output:
        """An output, with the document that it still is."""
        number = event[NUMBER] if root.is_document else None
        if number is None:
            return Output(root, event)
        node = self._queries.patterns.nodes.node(number)
        document = self._intake.held[number >> PLACES]
        return Output(root, event, document, node, self._attribute_name)

    @property
    def called(self) -> bool:
        """Whether a callback waits for any query's outputs."""
        return self._queries.levels.called > 0

    def _way(self, owner: Subscription, stream: str, wave: Wave) -> Callable[[Output], object]:
        """How outputs of a query are handed on to whoever reads a stream."""
        form = owner.wiring.form
        assert isinstance(form, EventForm)
        readers = self._queries.patterns.readers
        if form.constructs or stream in readers.documented:
            return partial(self._as_document, owner, stream, wave, None)
        if not self._queries.graph.only_columns(stream):
            return partial(self._as_document, owner, stream, wave, readers)
        if stream in readers.identified or stream in self._queries.levels.revisable:
            return partial(self._as_identified, owner, stream, readers)
        return partial(self._as_event, stream, readers)

    def _as_document(
        self,
        owner: Subscription,
        stream: str,
        wave: Wave,
        readers: EventReaders | None,
        output: Output,
    ) -> None:
        """As the document of the result; without `readers` it is an event as that document."""
        number = self._intake.next_number
        if (document := self._document(owner, output, number, stream)) is None:
            return
        self._stage_one.admit_result(document, wave, columns=readers is None)
        if readers is not None and self._intake.next_number > number:
            self._hand_on(output, stream, readers, number)

    def _as_identified(
        self, owner: Subscription, stream: str, readers: EventReaders, output: Output
    ) -> None:
        """As an event that is known by the id of its document."""
        number = self._intake.next_number
        if (result := self._document(owner, output, number, stream)) is None:
            return
        document = without_body(result)
        if not self._intake.count_if_duplicate(document):
            self._intake.admit_result(document, (stream, NO_LEAVES))
            self._hand_on(output, stream, readers, number)

    def _as_event(self, stream: str, readers: EventReaders, output: Output) -> None:
        """As an event and nothing else."""
        number = self._intake.next_number
        self._intake.next_number = number + 1
        self._intake.see(stream, output.time)
        self._hand_on(output, stream, readers, number)

    def _hand_on(self, output: Output, stream: str, readers: EventReaders, number: int) -> None:
        root, event = output.root, output.event
        events = output.once(("events", stream), readers.as_events, root, event, stream)
        for plan, kind, values in events:
            coming = (event[START], event[END], number << PLACES, *values)
            plan.pending.append((kind, coming))

    def _document(
        self, owner: Subscription, output: Output, number: int, stream: str
    ) -> Document | None:
        """The result document of a match, None of one that cannot be made."""
        if (made := self._stage_one.result_of(owner.output(output), stream)) is None:
            return None
        id, body, is_json = made
        start = None if output.start == output.time else output.start
        return Document(number, stream, id, output.time, body, is_json, None, start)
