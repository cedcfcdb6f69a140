"""How many events come through each condition of a pattern: of each component by its block and by
what is asked of one event, then pairs of the events of components that follow one another, by
order, tests, window and comparisons, and what an absence forbids; at last the matches.

Pairs are counted by times and equal values, without enumerating them; the comparisons of a pair,
and what may not lie between, are looked at for so many pairs at most.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.language.same_query import bare
from xscl.language.syntax import EventPattern
from xscl.pattern_stage.layouts import NUMBER, TypedEvent
from xscl.pattern_stage.pattern import Conjunct
from xscl.pattern_stage.processor import PatternStage
from xscl.pattern_stage.values.numbers import number_of
from xscl.pattern_stage.values.terms import Aggregate, Form, Index, Length, Read, Slot, leaves
from xscl.patterns.compile import CompiledPattern
from xscl.patterns.written import Written
from xscl.times import span
from xscl.why.blocks import JudgedBlock
from xscl.why.findings import Tally
from xscl.why.funnel import block_tallies
from xscl.why.patterns import pattern_of
from xscl.why.report import Funnel
from xscl.why.sequences.taken import Event, Run

__all__ = ["components_of", "funnel_of_sequence", "matches_of_sequence", "value_of"]

_MOST = 100_000
"""So many pairs are looked at."""


def funnel_of_sequence(dissection: Dissection, documents: Iterable[Document]) -> Funnel:
    """Counts what comes through each condition of a pattern."""
    counting = _Counting(dissection, [*documents])
    return Funnel(
        dissection.query.name, len(counting.documents), (*counting.tallies(),), counting.matches()
    )


def matches_of_sequence(dissection: Dissection, documents: Iterable[Document]) -> list[list[Event]]:
    """The events of each match of a pattern, in order of time."""
    counting = _Counting(dissection, [*documents])
    deque(counting.tallies(), maxlen=0)
    stage, came = counting.staged()
    return [[came[event[NUMBER]] for _, event in one.events] for one in stage.found()]


class _Counting:
    """A pattern, the documents, and the events of each component that came through."""

    def __init__(self, dissection: Dissection, documents: Sequence[Document]) -> None:
        query, compiled = dissection.query, dissection.compiled
        assert isinstance(query.source, EventPattern)
        assert isinstance(compiled, CompiledPattern)
        self.query, self.source, self.compiled = query, query.source, compiled
        self.pattern, self.documents = compiled.pattern, documents
        self.written = Written(query.source, query.text, self.pattern)
        self.every: list[list[tuple[int, Event]]] = []
        """By component the events of its types, each with the place of its type."""
        self.events: list[list[Event]] = []
        """Those of them that hold alone."""
        self.of = {one: components_of(one) for one in self.pattern.conjuncts}

    def tallies(self) -> Iterator[Tally]:
        """The tallies, in the order of the text."""
        for at in range(len(self.source.components)):
            some: list[tuple[int, Event]] = []
            for place in range(len(self.compiled.blocks[at])):
                yield from self.typed(at, place, some)
            some.sort(key=lambda one: one[1].time)
            self.every.append(some)
            yield from self.alone(at, [event for _, event in some])
        positive = [at for at, one in enumerate(self.pattern.components) if not one.negated]
        for one, other in pairwise(positive):
            yield from self.pairs(one, other)

    def typed(self, at: int, place: int, to: list[tuple[int, Event]]) -> Iterator[Tally]:
        """The tallies of a type, whose events are added."""
        block = self.compiled.blocks[at][place]
        pattern = pattern_of(at + 1, block, self.written.blocks)

        def through(document: Document, judged: JudgedBlock) -> None:
            id, time = document.id, document.time
            to.extend((place, Event(at, id, time, *one)) for one in judged.events())

        read = [one for one in self.documents if one.stream == block.stream.text]
        yield from block_tallies(pattern, read, self.written.blocks, through)

    def alone(self, at: int, events: Sequence[Event]) -> Iterator[Tally]:
        """The tallies of what is asked of one event of a component."""
        asked: list[tuple[str, Callable[[Run], bool]]] = [
            (text, lambda run, test=test: run.test(test)[0])  # type: ignore[misc]
            for text, test in self.written.tests
        ]
        asked += [
            (self.written.clause(one), lambda run, one=one: run.conjunct(one))  # type: ignore[misc]
            for one, of in self.of.items()
            if of == {at}
        ]
        runs = [self.run(event) for event in events]
        holds = [[test(run) for _, test in asked] for run in runs]
        for place, (text, _) in enumerate(asked):
            passed = sum(all(one[: place + 1]) for one in holds)
            alone = sum(not one[place] and one.count(False) == 1 for one in holds)
            yield Tally("comparison", at + 1, text, passed, alone=alone)
        self.events.append([event for event, one in zip(events, holds, strict=True) if all(one)])

    def run(self, *events: Event) -> Run:
        """Some events, as conditions see them."""
        return Run(self.pattern, self.compiled.constants, events)

    # Pairs.

    def pairs(self, one: int, other: int) -> Iterator[Tally]:
        """The tallies of the pairs of events of two components that follow one another."""
        names = [self.pattern.components[at].name for at in (one, other)]
        tests = [made for _, made in self.written.tests if made.constant is None]
        tests = [made for made in tests if not self._wild(one, other)]
        texts = [text for text, made in self.written.tests if made in tests]
        for number in range(len(tests) + 1):
            groups = _grouped(self.events[one], self.events[other], tests[:number])
            between = f"{names[0]} before {names[1]}" if not number else texts[number - 1]
            passed = sum(_in_order(left, right, None) for left, right in groups)
            kind = "comparison" if number else "time"
            yield Tally(kind, None, between, passed, pairs=True)  # type: ignore[arg-type]
        within = self.pattern.within
        if within is not None:
            passed = sum(_in_order(left, right, within) for left, right in groups)
            yield Tally("time", None, f"within {span(within)}", passed, pairs=True)
        asked = [conjunct for conjunct, of in self.of.items() if of == {one, other}]
        absences = range(one + 1, other)
        if self.pattern.components[one].kleene and len(self.events[one]) < len(self.every[one]):
            # It is the last event that counts, which these pairs need not have.
            absences = range(0)
        forbidden = [at for at in absences if self._decides(at, one, other)]
        if not asked and not forbidden:
            return
        pairs = chain_pairs(groups, within)
        some = [self.run(*pair) for pair in islice(pairs, _MOST)]
        capped = next(pairs, None) is not None
        for conjunct in asked:
            some = [run for run in some if run.conjunct(conjunct)]
            text = self.written.clause(conjunct)
            yield Tally("comparison", None, text, len(some), capped, pairs=True)
        for at in forbidden:
            some = [run for run in some if not self.happened(run, at)]
            wording = self.written.wording.component(self.source.components[at])
            text = f"no {wording.removeprefix('!')} between"
            yield Tally("documents", None, text, len(some), capped, pairs=True)

    def _wild(self, *components: int) -> bool:
        return any(self.pattern.components[at].any for at in components)

    def _decides(self, at: int, one: int, other: int) -> bool:
        """Whether two events say what a negated component forbids between them."""
        return all({one, other, at} >= self.of[conjunct] for conjunct in self.written.negative[at])

    def happened(self, run: Run, at: int) -> bool:
        """Whether an event that may not lie between two does."""
        first, last = (event.time for event in run.events)
        events = self.events[at]
        start = bisect_right(events, first, key=_time)
        for event in events[start : bisect_left(events, last, start, key=_time)]:
            beside = run.beside(event)
            counts = all(beside.test(made)[0] for _, made in self.written.tests)
            if counts and all(beside.conjunct(one) for one in self.written.negative[at]):
                return True
        return False

    # The whole.

    def matches(self) -> int:
        """How many matches there are, by the pattern stage."""
        stage, _ = self.staged()
        return stage.counts().get(1, 0)

    def staged(self) -> tuple[PatternStage, list[Event]]:
        """The pattern stage once all events have come, and these by number."""
        came = list[Event]()
        stage = PatternStage(identity=lambda number: (came[number].document, number))
        kinds: dict[object, int] = {}
        # What several components read is one event.
        first: dict[int, tuple[int, int]] = {}
        types = list[list[int]]()
        for at, blocks in enumerate(self.compiled.blocks):
            types.append([kinds.setdefault(bare(block), len(kinds)) for block in blocks])
            for place, kind in enumerate(types[at]):
                first.setdefault(kind, (at, place))
        stage.add(1, self.pattern, types, self.compiled.constants)
        coming = list[TypedEvent]()
        for kind, (at, of) in first.items():
            slots = stage.slots(kind)
            for place, event in self.every[at]:
                if place == of:
                    values = [value_of(event, slot) for slot in slots]
                    coming.append((kind, (event.time, event.time, len(came), *values)))
                    came.append(event)
        stage.take(coming)
        stage.flush()
        return stage, came


def chain_pairs(
    groups: Iterable[tuple[list[Event], list[Event]]], within: int | None
) -> Iterator[tuple[Event, Event]]:
    """The pairs of each group that are in order, and in the window."""
    for left, right in groups:
        for event in right:
            for place in range(*_reach(left, event.time, within)):
                yield left[place], event


def _reach(left: Sequence[Event], time: int, within: int | None) -> tuple[int, int]:
    """The places of those before a time, within a window."""
    first = 0 if within is None else bisect_right(left, time - within, key=_time)
    return first, bisect_left(left, time, key=_time)


def _in_order(left: Sequence[Event], right: Sequence[Event], within: int | None) -> int:
    """How many pairs there are."""
    reaches = (_reach(left, event.time, within) for event in right)
    return sum(max(0, end - first) for first, end in reaches)


def _grouped(
    left: Sequence[Event], right: Sequence[Event], tests: Sequence[object]
) -> list[tuple[list[Event], list[Event]]]:
    """The events of two components, those together that are equal under tests."""
    if not tests:
        return [([*left], [*right])]
    groups: defaultdict[object, tuple[list[Event], list[Event]]] = defaultdict(lambda: ([], []))
    for side, events in enumerate((left, right)):
        for event in events:
            key = tuple([str(event.read(test.attribute)) for test in tests])  # type: ignore[attr-defined]
            groups[key][side].append(event)
    return [*groups.values()]


def components_of(conjunct: Conjunct) -> set[int]:
    """The components of whose events a conjunct reads; no set of one or two where it is of
    several events of a Kleene plus."""
    found = {
        one.component for one in leaves(conjunct) if isinstance(one, Read | Aggregate | Length)
    }
    several = any(
        isinstance(one, Aggregate | Length)
        or (isinstance(one, Read) and one.index in (Index.PREVIOUS, Index.EACH, Index.LAST))
        for one in leaves(conjunct)
    )
    return {*found, -1} if several else found


def value_of(event: Event, slot: Slot | None) -> str | float | None:
    """The value of a slot, as it is read of a document."""
    value = None if slot is None else event.read(slot.attribute)
    if value is None or slot is None:
        return None
    if slot.form is Form.NUMBER:
        return number_of(value) if isinstance(value, str) else value
    return str(value) if isinstance(value, float) else value


def _time(event: Event) -> int:
    return event.time
