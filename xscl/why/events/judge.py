"""Why documents match an event query, or do not: what each operator does with them, in order of
time (docs/semantics.md#operators).

The first and the last document must be of the match; NEXT and FOLD may skip others.  Of all ways to
take the documents the one is shown whose first failure is the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from xscl.dissection.parts import Dissection
from xscl.documents.columns import attributes_of, values_in
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.event_queries.compile import CompiledEvents, Step
from xscl.language.syntax import (
    Block,
    Both,
    EventCondition,
    Filtered,
    Fold,
    Next,
    Query,
)
from xscl.language.unparse import Wording
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Map, Select
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.stream_names import is_internal
from xscl.times import to_seconds
from xscl.why.blocks import judge_events
from xscl.why.events.conditions import before, judged, of_group, passed_by
from xscl.why.events.makes import (
    Made,
    Running,
    aggregated,
    followed,
    mapped,
    sight_of,
    sight_of_two,
)
from xscl.why.events.values import Sight
from xscl.why.findings import Finding, Kind, reached
from xscl.why.report import Why

__all__ = ["Judge", "why_events"]

_MOST_WAYS = 64
"""Ways that are kept of an operator on some documents, the best ones."""

_MOST_DOCUMENTS = 40

Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """What was found, and the event, None where there is nothing that could be judged further."""

    findings: tuple[Finding, ...]
    event: Made | None


def why_events(dissection: Dissection, given: Sequence[Document]) -> Why:
    """Judges an event query on documents.  Raises XSCLError where no match has so many, or where
    the query reads the results of a sub-query in another language."""
    if len(given) > _MOST_DOCUMENTS:
        raise XSCLError(f"event queries are judged on at most {_MOST_DOCUMENTS} documents")
    documents = sorted(given, key=lambda document: document.time)
    query, compiled = dissection.query, dissection.compiled
    assert isinstance(compiled, CompiledEvents)
    judge = Judge(query, compiled, documents)
    ways = judge.ways(compiled.step, tuple(range(len(documents))))
    if not ways:
        alone = documents and judge.ways(compiled.step, (0,))
        few = "too many documents" if alone else "too few documents"
        raise XSCLError(
            f"query {query.name!r} has no match of {len(documents)} of them: {few}; name those of "
            "the match in order of time, and at will some between that are skipped"
        )
    findings = ways[0].findings
    ordered = sorted(findings, key=_heading)
    return Why(query.name, tuple(one.id for one in documents), tuple(ordered))


def _heading(finding: Finding) -> tuple[bool, bool, int]:
    return finding.kind != "stream", finding.block is None, finding.block or 0


class Judge:
    """A query, and documents in order of time."""

    def __init__(
        self, query: Query, compiled: CompiledEvents, documents: Sequence[Document]
    ) -> None:
        self.constants = compiled.constants
        self.documents = documents
        self.wording = Wording(query.text)
        self.known: dict[tuple[int, Places], list[_Way]] = {}

    def ways(self, step: Step, places: Places) -> list[_Way]:
        """The best ways in which a step's event is of some documents, each of them taken, or
        skipped in its middle."""
        key = id(step), places
        if key not in self.known:
            found = sorted(islice(self._ways(step, places), 4_096), key=_reached, reverse=True)
            self.known[key] = found[:_MOST_WAYS]
        return self.known[key]

    def _ways(self, step: Step, places: Places) -> Iterator[_Way]:
        match step.part:
            case Block() as block:
                return self.of_block(step, block, places)
            case Filtered(condition):
                return self.filtered(step, condition, places)
            case Query():
                return self.selected(step, places)
            case Both():
                return (way for one in step.inputs for way in self.ways(one, places))
            case Next(condition=condition):
                return self.next(step, condition, places)
            case Fold() as fold:
                return self.folded(step, fold, places)
        raise XSCLError(
            "a sub-query in another language is not judged here: give it a name and a stream of "
            "its own, and ask for it"
        )

    # Documents.

    def of_block(self, step: Step, block: Block, places: Places) -> Iterator[_Way]:
        """A document, of which a block takes what it selects."""
        if len(places) != 1 or is_internal(block.stream.text):
            return
        (place,) = places
        document = self.documents[place]
        findings, seen = judge_events(place + 1, block, self.wording, document)
        if seen is None or seen.tree is None:
            yield _Way(tuple(findings), None)
            return
        elements = {one: number for number, one in enumerate(seen.tree.elements)}
        value_of = values_in(document, elements)
        names = None if step.schema.open else step.schema.listed
        for node, bound in seen.events():
            values = attributes_of(node, bound, value_of)
            values |= {"document()": document.id, "timestamp()": to_seconds(document.time)}
            if names is not None:
                values = {name: values[name] for name in names if name in values}
            start = document.time if document.start is None else document.start
            yield _Way(tuple(findings), Made(start, document.time, values, document.id))

    def filtered(
        self, step: Step, condition: EventCondition | None, places: Places
    ) -> Iterator[_Way]:
        """FILTER."""
        for way in self.ways(step.inputs[0], places):
            if way.event is None or step.node is step.inputs[0].node:
                yield way
                continue
            assert isinstance(step.node, Select)
            sight = sight_of(way.event, self.constants)
            block = places[0] + 1 if len(places) == 1 else None
            kind: Kind = "comparison" if block is None else "filter"
            found = (
                replace(one, kind=kind, block=block)
                for one in judged(condition, step.node.condition, sight)
            )
            yield _Way((*way.findings, *found), way.event)

    def selected(self, step: Step, places: Places) -> Iterator[_Way]:
        """SELECT, of events or of groups of them."""
        (inner,) = step.inputs
        node = step.node
        if isinstance(node, Aggregate) and node is not inner.node:
            yield from self.grouped(node, inner, places)
            return
        for way in self.ways(inner, places):
            if way.event is None or not isinstance(node, Map) or node is inner.node:
                yield way
            else:
                yield _Way(way.findings, mapped(node, way.event, self.constants))

    # Two inputs.

    def next(self, step: Step, condition: EventCondition | None, places: Places) -> Iterator[_Way]:
        """NEXT: the right event is of the last documents, what is before it is skipped."""
        node, (left, right) = step.node, step.inputs
        assert isinstance(node, Following)

        def of_left(way: _Way, event: Made, rest: Places) -> Iterator[_Way]:
            for at in range(len(rest)):
                for other in self.ways(right, rest[at:]):
                    both = (*way.findings, *other.findings)
                    if other.event is None:
                        yield _Way(both, None)
                        continue
                    taken = other.event
                    sees = partial(sight_of_two, event, constants=self.constants)
                    skipped = self.skipped(step, rest, (at, taken), sees, event.end)
                    sight = sight_of_two(event, taken, self.constants)
                    order = before(event.name, event.end, taken)
                    found = judged(condition, node.condition, sight)
                    made = followed(node, event, taken)
                    yield _Way((*both, *skipped, order, *found), made)

        yield from self.after_left(left, places, of_left)

    def after_left(
        self, left: Step, places: Places, rest_of: Callable[[_Way, Made, Places], Iterator[_Way]]
    ) -> Iterator[_Way]:
        """The ways of a left event of the first documents with what follows them."""
        for cut in range(1, len(places)):
            for way in self.ways(left, places[:cut]):
                if way.event is None:
                    yield way
                else:
                    yield from rest_of(way, way.event, places[cut:])

    def skipped(
        self,
        step: Step,
        rest: Places,
        taken: tuple[int, Made],
        sees: Callable[[Made], Sight],
        after: int,
    ) -> Iterator[Finding]:
        """That NEXT or FOLD skips the documents before the event taken, which begins with the one
        at a place, and that no other event of the right side ends before it."""
        link, node = step.part, step.node
        assert isinstance(link, Next | Fold)
        assert isinstance(node, Following | Iterate)
        begins, event = taken
        for end in range(1, len(rest)):
            text = f"{type(link).__name__.upper()} skips {self.documents[rest[end - 1]].id}"
            found = Finding("documents", None, text, True, note="it ends no event on the right")
            for one in self.whole(step.inputs[1], rest[:end]):
                found = replace(found, note="what it ends does not start after the left has ended")
                if one.start > after:
                    seen = judged(link.condition, node.condition, sees(one))
                    found = passed_by(text, seen, one, event)
                    if not found.holds:
                        break
            if end <= begins or not found.holds:
                yield found

    def whole(self, step: Step, places: Places) -> Iterator[Made]:
        """The events that the last of some documents ends."""
        for start in range(len(places)):
            for way in self.ways(step, places[start:]):
                if way.event is not None and all(one.holds for one in way.findings):
                    yield way.event

    def folded(self, step: Step, fold: Fold, places: Places) -> Iterator[_Way]:
        """FOLD: each further event is of the documents that follow, or they are skipped."""
        node, (left, right) = step.node, step.inputs
        assert isinstance(node, Iterate)

        def onward(run: Running, found: tuple[Finding, ...], rest: Places) -> Iterator[_Way]:
            for at in range(len(rest)):
                for end in range(at + 1, len(rest) + 1):
                    for way in self.ways(right, rest[at:end]):
                        if way.event is None:
                            yield _Way((*found, *way.findings), None)
                            continue
                        event = way.event
                        sees = partial(run.sight, constants=self.constants)
                        skipped = self.skipped(step, rest[:end], (at, event), sees, run.end)
                        taken = self.taken(fold, node, run, event)
                        more = (*found, *way.findings, *skipped, *taken)
                        longer = run.beside(event, self.constants)
                        if end == len(rest):
                            yield _Way(more, longer.made)
                        else:
                            yield from onward(longer, more, rest[end:])

        def of_left(way: _Way, event: Made, rest: Places) -> Iterator[_Way]:
            return onward(Running.of(node, event), way.findings, rest)

        yield from self.after_left(left, places, of_left)

    def taken(self, fold: Fold, node: Iterate, run: Running, event: Made) -> Iterator[Finding]:
        """That FOLD goes on to an event."""
        sight = run.sight(event, self.constants)
        yield before(run.name, run.end, event)
        yield from judged(fold.condition, node.condition, sight)
        for one in judged(fold.continuing, node.continuing, sight):
            yield one if one.holds else replace(one, note=f"FOLD ends at {event.name}")

    # Groups.

    def grouped(self, node: Aggregate, inner: Step, places: Places) -> Iterator[_Way]:
        """Aggregates: the documents are all the events of a group."""
        for events, findings in self.apart(inner, places):
            if len(events) == 0:
                yield _Way(findings, None)
                continue
            last = max(events, key=lambda event: event.end)
            found = of_group(node, events, self.constants)
            made = aggregated(node, [*events[:-1], last], self.constants)
            yield _Way((*findings, *found), made)

    def apart(self, step: Step, places: Places) -> Iterator[tuple[list[Made], tuple[Finding, ...]]]:
        """The documents as events of a step, one after the other; none where one is no event."""
        if not places:
            yield [], ()
            return
        for end in range(1, len(places) + 1):
            for way in self.ways(step, places[:end])[:1]:
                if way.event is None:
                    yield [], way.findings
                    continue
                if end == len(places):
                    yield [way.event], way.findings
                    continue
                for events, findings in self.apart(step, places[end:]):
                    several = [way.event, *events] if events else []
                    yield several, (*way.findings, *findings)


def _reached(way: _Way) -> tuple[bool, int, int]:
    whole, first, held = reached(way.findings)
    return whole and way.event is not None, first, held
