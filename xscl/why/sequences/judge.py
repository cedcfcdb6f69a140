"""Why documents match a pattern, or do not: types, order, edges, what may lie between, windows and
what must not have happened (docs/semantics.md#sequences, #runs).

The documents are given in order of time, one for each event; a Kleene plus takes one or more of
them, and of a document any of its events, in the way that makes the first thing that fails the
last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, pairwise, product

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.language.syntax import Block, EventPattern
from xscl.language.unparse import Wording
from xscl.pattern_stage.compiler.conditions import Edge
from xscl.pattern_stage.pattern import Conjunct, Strategy
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.written import Place, Written
from xscl.times import moment, span
from xscl.why.blocks import judge_events
from xscl.why.findings import Finding, values_of
from xscl.why.report import Why, furthest
from xscl.why.sequences.funnel import matches_of_sequence
from xscl.why.sequences.taken import Event, Run

__all__ = ["why_sequence"]

_MOST_WAYS = 1_000


def why_sequence(
    dissection: Dissection, given: Sequence[Document], held: Iterable[Document]
) -> Why:
    """Judges a pattern on documents for its events; `held` are those that may have come between, or
    may have happened.  Raises XSCLError where there are too few documents, or too many."""
    return _Judge(dissection, held).why(sorted(given, key=lambda document: document.time))


_Typed = tuple[list[Finding], Event | None]
"""The findings of a type on a document, and an event of it."""


class _Judge:
    """A pattern, and the documents that are held."""

    def __init__(self, dissection: Dissection, held: Iterable[Document]) -> None:
        query, compiled = dissection.query, dissection.compiled
        assert isinstance(query.source, EventPattern)
        assert isinstance(compiled, CompiledPattern)
        self.query, self.dissection = query, dissection
        self.source = query.source
        self.compiled, self.pattern = compiled, compiled.pattern
        self.written = Written(query.source, query.text, self.pattern)
        self.wording, self.tests = self.written.wording, self.written.tests
        self.blocks = Wording(query.text)
        self.held = sorted(held, key=lambda document: document.time)
        self.positive = [at for at, one in enumerate(self.pattern.components) if not one.negated]

    def why(self, given: Sequence[Document]) -> Why:
        """The findings of the way of taking the documents that comes furthest."""
        ways = [*islice(self.ways(len(given)), _MOST_WAYS)]
        if not ways:
            raise XSCLError(self.wrong_number(len(given)))
        return furthest([self.judged(given, one) for one in ways])

    def ways(self, documents: int) -> Iterator[tuple[int, ...]]:
        """The components that may take so many documents, one for each."""
        for cuts in combinations(range(1, documents), len(self.positive) - 1):
            bounds = [0, *cuts, documents]
            sizes = [end - start for start, end in pairwise(bounds)]
            taken = [*zip(self.positive, sizes, strict=True)]
            if all(size == 1 or self.pattern.components[at].kleene for at, size in taken):
                yield tuple(at for at, size in taken for _ in range(size))

    def wrong_number(self, found: int) -> str:
        """The sentence for a number of documents that no match has."""
        shown = ", ".join(
            self.wording.component(self.source.components[at]) for at in self.positive
        )
        several = any(self.pattern.components[at].kleene for at in self.positive)
        least = len(self.positive)
        expected = f"{least} documents{' or more' if several else ''}, one for each event"
        return f"query {self.query.name!r} takes {expected} of {shown}; found {found}"

    def judged(self, given: Sequence[Document], way: Sequence[int]) -> Iterator[Why]:
        """The findings of one way, with each choice of an event of each document."""
        taken = [
            self.typed(number, document, at)
            for number, (document, at) in enumerate(zip(given, way, strict=True), 1)
        ]
        if any(event is None for some in taken for _, event in some):
            taken = [some[:1] for some in taken]
        ids = tuple(one.id for one in given)
        for chosen in product(*taken):
            streams = [stream for (stream, *_), _ in chosen]
            blocks = [one for (_, *found), _ in chosen for one in found]
            events = tuple(event for _, event in chosen if event is not None)
            between = [*self.of_events(events)] if len(events) == len(chosen) else []
            found = (*streams, *blocks, *between)
            if between and self.pattern.non_overlapping and all(one.holds for one in found):
                between.append(self.apart(events))
            yield Why(self.query.name, ids, (*streams, *blocks, *between))

    # Types.

    def typed(self, number: int, document: Document, at: int) -> list[_Typed]:
        """Each event that the component's types have of a document, with the findings of its
        type; where it has none, the findings of the type that comes furthest."""
        judged = [
            self.of_block(number, block, document, at) for block in self.source.components[at].types
        ]
        events: list[_Typed] = [(found, event) for found, some in judged for event in some]
        return events or [max(((found, None) for found, _ in judged), key=_holding)]

    def of_block(
        self, number: int, block: Block, document: Document, at: int
    ) -> tuple[list[Finding], list[Event]]:
        """The findings of a block on a document, and the events that it selects of it."""
        findings, seen = judge_events(number, block, self.blocks, document)
        id, time = document.id, document.time
        return findings, [Event(at, id, time, *one) for one in (seen.events() if seen else ())]

    def seen(self, at: int, after: float, before: float) -> Iterator[Event]:
        """The events of a component strictly between two times."""
        for document in self.held:
            if after < document.time < before:
                for block in self.source.components[at].types:
                    yield from self.of_block(0, block, document, at)[1]

    # What holds between events.

    def of_events(self, events: tuple[Event, ...]) -> Iterator[Finding]:
        """The findings of the order, the tests, the conjuncts, the window, the gaps, and what must
        not have happened."""
        run = Run(self.pattern, self.compiled.constants, events)
        for one, other in pairwise(events):
            text, sides = f"{self.name(one)} before {self.name(other)}", (one.time, other.time)
            left, right = (values_of([moment(time)]) for time in sides)
            yield Finding("time", None, text, one.time < other.time, left, right)
        for text, test in self.tests:
            yield run.found_of_test(test, Finding("comparison", None, text, None))
        for conjuncts in self.written.positive.values():
            for conjunct in conjuncts:
                yield self.compared(run, conjunct)
        if self.pattern.within is not None:
            apart = events[-1].time - events[0].time
            text = f"within {span(self.pattern.within)}"
            shown = values_of([span(apart)])
            yield Finding("time", None, text, apart < self.pattern.within, shown)
        yield from self.gaps(run)
        for at, component in enumerate(self.pattern.components):
            if component.negated:
                yield self.forbidden(run, at)

    def apart(self, events: Sequence[Event]) -> Finding:
        """The finding that no other match is reported instead of one, by the pattern stage."""

        def said(some: Iterable[Event]) -> list[tuple[int, str]]:
            return [(one.time, one.document) for one in some]

        found = matches_of_sequence(self.dissection, self.held)
        text = "OUTPUT NON OVERLAPPING"
        if any(said(one) == said(events) for one in found):
            return Finding("documents", None, text, True)
        first, last = events[0].time, events[-1].time
        for one in found:
            both = Run(self.pattern, self.compiled.constants, (*one, *events))
            overlap = one[0].time <= last and one[-1].time >= first
            if overlap and all(both.test(made)[0] for _, made in self.tests):
                ids = ", ".join(event.document for event in one)
                note = f"{ids}, until {moment(one[-1].time)}, is reported"
                return Finding("documents", None, text, False, note=note)
        return Finding("documents", None, text, False)

    def name(self, event: Event) -> str:
        """An event, by its component."""
        return self.pattern.components[event.component].name

    def compared(self, run: Run, conjunct: Conjunct) -> Finding:
        """The finding of a conjunct."""
        finding = Finding("comparison", None, self.written.clause(conjunct), None)
        return run.finding(conjunct, finding)

    # What lies between.

    def gaps(self, run: Run) -> Iterator[Finding]:
        """The finding of each gap between two events, unless anything may lie there."""
        if self.pattern.strategy is Strategy.SKIP_TILL_ANY_MATCH:
            return
        for number, (one, other) in enumerate(pairwise(run.events), 1):
            before = Run(run.pattern, run.constants, run.events[:number])
            inside = self.between(before, one, other)
            found = next(inside, None)
            text = f"{self.strategy()} between {self.name(one)} and {self.name(other)}"
            if found is None:
                yield Finding("documents", None, text, True)
            else:
                note = f"{found.document}, at {moment(found.time)}, may not be ignored"
                yield Finding("documents", None, text, False, note=note)

    def strategy(self) -> str:
        """The strategy as it is written."""
        return self.pattern.strategy.name.lower()

    def between(self, run: Run, one: Event, other: Event) -> Iterator[Event]:
        """The events between two of a run that may not be ignored."""
        after, before = one.time, other.time
        if self.pattern.strategy is not Strategy.SKIP_TILL_NEXT_MATCH:
            partition = self.pattern.strategy is Strategy.PARTITION_CONTIGUITY
            for at in range(len(self.pattern.components)):
                for event in self.seen(at, after, before):
                    if not partition or self.in_partition(run, event):
                        yield event
            return
        # At `p[i]` what could be taken, else what could begin.
        at, edge = other.component, Edge.BEGIN
        if self.pattern.components[one.component].kleene:
            at, edge = one.component, Edge.TAKE
        yield from (e for e in self.seen(at, after, before) if self.fits(run.beside(e), (at, edge)))

    def in_partition(self, run: Run, event: Event) -> bool:
        """Whether an event is in the partition of a run."""
        return all(
            event.read(made.attribute) is not None and run.beside(event).test(made)[0]
            for _, made in self.tests
        )

    def fits(self, run: Run, place: Place) -> bool:
        """Whether the last event of a run could take an edge."""
        last = place[1] is Edge.TAKE
        apart = run.events[-1].time - run.events[0].time
        return (
            (self.pattern.within is None or apart < self.pattern.within)
            and all(run.test(made)[0] for _, made in self.tests)
            # Of a loop's conjuncts the events before the last were judged.
            and all(run.conjunct(one, last=last) for one in self.written.positive.get(place, ()))
        )

    # What must not have happened.

    def forbidden(self, run: Run, at: int) -> Finding:
        """The finding of a negated component."""
        within = self.pattern.within or float("inf")
        first, last = run.events[0].time, run.events[-1].time
        before = [e.time for e in run.events if e.component < at]
        after = [e.time for e in run.events if e.component > at]
        low = max(before) if before else last - within
        high = min(after) if after else first + within
        text = f"no {self.wording.component(self.source.components[at]).removeprefix('!')}"
        for event in self.seen(at, low, high):
            beside = run.beside(event)
            counts = all(beside.test(made)[0] for _, made in self.tests)
            if counts and all(beside.conjunct(one) for one in self.written.negative[at]):
                note = f"{event.document}, at {moment(event.time)}, is one"
                return Finding("documents", None, text, False, note=note)
        return Finding("documents", None, text, True)


def _holding(typed: _Typed) -> int:
    return sum(finding.holds is True for finding in typed[0])
