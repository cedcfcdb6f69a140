"""What event queries have found -> matches, published documents, and events of the levels above.

What is published goes to event queries as it is; a document is made of it only where somebody reads
documents, or an event query whose outputs still are documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from xscl.documents.document import Document, without_body
from xscl.documents.events import PLACES
from xscl.documents.intake import Intake
from xscl.documents.retention import NO_LEAVES
from xscl.evaluation.stage_one import StageOne, Wave
from xscl.matches.event_form import EventForm, Output
from xscl.queries.catalogue import Catalogue
from xscl.queries.levels.event_rows import EventRows
from xscl.queries.subscription import Subscription

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import EventFound
    from xscl.matches.match import Match
    from xscl.matches.sides import AttributeName

__all__ = ["Delivery", "EventOutputs"]

Delivery = tuple[Subscription, "Match"]

_IN_ORDER = attrgetter("time", "number", "start")


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

    def tell(
        self,
        rows: EventRows,
        deliveries: list[Delivery] | None,
        wave: Wave,
        *,
        all_of_them: bool = True,
    ) -> None:
        """Adds outputs to the deliveries as matches, or if not `all_of_them` those that a callback
        or a published stream waits for; and hands on what is published."""
        if not rows.feeding and (deliveries is None or not all_of_them):
            # Callbacks get these out of the groups.
            return
        read = self._queries.graph.read
        for found in sorted(rows.found(), key=_IN_ORDER):
            owner = self.owner(found.number)
            wiring = owner.wiring
            fed = [stream for stream in wiring.feeds if read[stream]] if wiring.feeds else ()
            to = deliveries
            if to is not None and wiring.feeds:
                called = owner.on_match is not None or wiring.stream is not None
                if not owner.reported or not (fed or all_of_them or called):
                    to = None
            elif not all_of_them and owner.on_match is None:
                to = None
            if to is None and not fed:
                continue
            match = owner.output(self.output(found))
            if to is not None:
                to.append((owner, match))
            for stream in fed:
                self._publish(found, match, owner, stream, wave)

    def count(self, rows: EventRows, counts: Counter[str]) -> None:
        """Counts outputs by the names of their queries."""
        for number, some in rows.counts().items():
            if (owner := self.owner(number)).reported:
                counts[owner.name] += some

    def owner(self, number: int) -> Subscription:
        """The subscription of a number."""
        owner = self._queries.outputs[number]
        assert owner is not None
        return owner

    def output(self, found: EventFound, documents: Sequence[Document] | None = None) -> Output:
        """An output, with the document that it still is, which may be given."""
        number = found.document
        if number is None:
            return Output(found)
        node = self._queries.patterns.nodes.node(number)
        (document,) = documents or (self._intake.held[number >> PLACES],)
        return Output(found, document, node, self._attribute_name)

    @property
    def called(self) -> bool:
        """Whether a callback waits for any query's outputs."""
        return self._queries.called > 0

    def _publish(
        self,
        found: EventFound,
        match: Match,
        owner: Subscription,
        stream: str,
        wave: Wave,
    ) -> None:
        """Hands an output on to whoever reads a stream."""
        patterns, intake = self._queries.patterns, self._intake
        form = owner.wiring.form
        assert isinstance(form, EventForm)
        number = intake.next_number
        if form.constructs or not self._queries.graph.only_columns(stream):
            document = _document(match, found, number, stream)
            self._stage_one.admit_result(document, wave, columns=form.constructs)
            if form.constructs or intake.next_number == number:
                # It is an event as the document that it is, or was there before.
                return
        elif stream in patterns.readers.identified:
            document = without_body(_document(match, found, number, stream))
            if intake.count_if_duplicate(document):
                return
            intake.admit_result(document, (stream, NO_LEAVES))
        else:
            intake.next_number += 1
        patterns.readers.hand_on(found, stream, number << PLACES)


def _document(match: Match, found: EventFound, number: int, stream: str) -> Document:
    """The result document of a match."""
    start = None if found.start == found.time else found.start
    return Document(number, stream, match.id, found.time, match.result, match.json, None, start)
