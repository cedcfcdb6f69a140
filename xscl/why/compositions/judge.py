"""Why documents match a composition, or do not: blocks, conditions, the first step where another
event is the successor, and what lies in the scope of an exception.

The documents are given in order of time, one for each event of a match, in the way of taking them,
and of a document any of its events, that makes the first thing that fails the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document
from xscl.errors import XSCLError
from xscl.pattern_stage.compositions.plan import (
    Chain,
    Conjunct,
    Either,
    Event,
    Exception_,
    Many,
    Plan,
    lengths,
)
from xscl.times import moment
from xscl.why.compositions.composites import Composite, Composites, Taken, history
from xscl.why.findings import Finding, shown_sides, values_of
from xscl.why.report import Why, furthest

__all__ = ["why_composition"]

_MOST_WAYS = 1_000


def why_composition(
    dissection: Dissection, given: Sequence[Document], held: Iterable[Document]
) -> Why:
    """Judges a composition on documents for its events; `held` are those that may have come
    between.  Raises XSCLError where no match has so many documents."""
    every = {(one.stream, one.id): one for one in (*held, *given)}
    judge = _Judge(dissection, Composites(dissection, every.values()))
    return judge.why(sorted(given, key=lambda document: document.time))


@dataclass(frozen=True, slots=True)
class _Way:
    """A part of the normal form with the documents that it takes: those of its parts, or of an
    event the place of one."""

    plan: Plan
    parts: tuple[_Way, ...] = ()
    place: int = 0


class _Judge:
    """A composition over documents."""

    def __init__(self, dissection: Dissection, composites: Composites) -> None:
        self.query, self.composites = dissection.query, composites
        self.normal = composites.compiled.composition.normal

    def why(self, given: Sequence[Document]) -> Why:
        """The findings of the way of taking the documents that comes furthest."""
        ways = [*islice(_ways(self.normal, 0, len(given)), _MOST_WAYS)]
        if not ways:
            raise XSCLError(self._wrong_number(len(given)))
        return furthest([self._judged(one, given) for one in ways])

    def _wrong_number(self, found: int) -> str:
        least, most = lengths(self.normal)
        number = f"{least}" if least == most else f"{least} or more" if most is None else ""
        number = number or f"{least} to {most}"
        of = self.composites.name(self.normal)
        return (
            f"query {self.query.name!r} takes {number} documents, one for each event of {of}; "
            f"found {found}"
        )

    def _judged(self, way: _Way, given: Sequence[Document]) -> Iterator[Why]:
        """The findings of one way, with each choice of an event of each document."""
        leaves = [*_leaves(way)]
        streams: list[Finding] = []
        blocks: list[Finding] = []
        events: list[list[Taken]] = []
        for leaf, document in zip(leaves, given, strict=True):
            assert isinstance(leaf.plan, Event)
            (stream, *found), some = self.composites.judged(
                leaf.plan.type, leaf.place + 1, document
            )
            streams.append(stream)
            blocks += found
            events.append(some)
        ids = tuple(one.id for one in given)
        for chosen in product(*events) if all(events) else [()]:
            between = self._of(way, chosen) if chosen else ()
            yield Why(self.query.name, ids, (*streams, *blocks, *between))

    # Parts.

    def _of(self, way: _Way, events: Composite) -> Iterator[Finding]:
        """The findings of a part on the events that it takes."""
        match way.plan:
            case Event(_, _, _, conditions):
                yield from self._conditions(conditions, (), events)
            case Either(_, _, conditions):
                yield from self._of(way.parts[0], events)
                yield from self._conditions(conditions, (), events)
            case Many() as many:
                yield from self._iteration(many, way, events)
            case Chain() as chain:
                yield from self._chain(chain, way, events)

    def _iteration(self, many: Many, way: _Way, events: Composite) -> Iterator[Finding]:
        before: Composite = ()
        for part in way.parts:
            coming = _taken(part, way, events)
            yield from self._of(part, coming)
            if before:
                yield self._order(before, coming)
            yield from self._conditions(many.phi, before, coming, iterates=True)
            if before:
                yield self._successor(many.operand, many.phi, before, coming, iterates=True)
            yield from self._conditions(many.theta, before, coming, ends=True, iterates=True)
            before += coming

    def _chain(self, chain: Chain, way: _Way, events: Composite) -> Iterator[Finding]:
        before: Composite = ()
        sizes: list[int] = []
        for number, part in enumerate(way.parts, 1):
            coming = _taken(part, way, events)
            yield from self._of(part, coming)
            if number > 1:
                step = chain.steps[number - 2]
                yield self._order(before, coming)
                yield from self._conditions(step.phi, before, coming)
                yield self._successor(part.plan, step.phi, before, coming)
                yield from self._conditions(step.theta, before, coming, ends=True)
            before += coming
            sizes.append(len(before))
            for exception in chain.exceptions:
                if exception.high == number:
                    low = sizes[exception.low - 1] if exception.low else 0
                    yield self._exception(exception, before, low)

    # Conditions.

    def _conditions(
        self,
        conjuncts: Iterable[Conjunct],
        before: Composite,
        coming: Composite,
        *,
        ends: bool = False,
        iterates: bool = False,
    ) -> Iterator[Finding]:
        for one in conjuncts:
            sight = self.composites.sight(before, coming, iterates=iterates)
            holds = sight.holds(one.predicate)
            left, right = map(values_of, shown_sides(sight, one.predicate))
            note = "it ends the attempt: no later one is tried" if ends and not holds else None
            text = self.composites.text(one)
            yield Finding("comparison", None, text, holds, left, right, note=note)

    def _order(self, before: Composite, coming: Composite) -> Finding:
        one, other = before[-1], coming[0]
        text = f"{self._name(one)} before {self._name(other)}"
        left, right = (values_of([moment(time)]) for time in (one.time, other.start))
        return Finding("time", None, text, one.time < other.start, left, right)

    def _name(self, event: Taken) -> str:
        return self.composites.compiled.names[event.component]

    def _successor(
        self,
        plan: Plan,
        phi: Sequence[Conjunct],
        before: Composite,
        coming: Composite,
        *,
        iterates: bool = False,
    ) -> Finding:
        """Whether what comes is the successor: the first of those that pass φ."""
        last = before[-1].time
        found = [
            one
            for one in self.composites.of(plan)
            if one[0].start > last
            and all(self.composites.holds(each, before, one, iterates=iterates) for each in phi)
        ]
        first = min(found, key=history, default=coming)
        text = f"the next {self.composites.name(plan)} after {self._name(before[-1])}"
        if history(first) >= history(coming):
            return Finding("documents", None, text, True)
        ids = ", ".join(dict.fromkeys(one.document for one in first))
        note = f"{ids}, at {moment(first[-1].time)}, comes first"
        return Finding("documents", None, text, False, note=note)

    def _exception(self, exception: Exception_, before: Composite, low: int) -> Finding:
        """Whether nothing that is forbidden lies in its scope."""
        begin = before[low - 1].time if low else before[0].start
        end = before[-1].time
        since = f"after {self._name(before[low - 1])}" if low else f"in {self._name(before[0])}"
        name = self.composites.name(exception.forbidden)
        text = f"no {name} {since} and before the end of {self._name(before[-1])}"
        for one in self.composites.of(exception.forbidden):
            inside = begin < one[0].start and one[-1].time < end
            if inside and all(
                self.composites.holds(each, before, one) for each in exception.conditions
            ):
                ids = ", ".join(dict.fromkeys(each.document for each in one))
                note = f"{ids}, at {moment(one[-1].time)}, is one"
                return Finding("documents", None, text, False, note=note)
        return Finding("documents", None, text, True)


# Ways of taking documents.


def _ways(plan: Plan, place: int, size: int) -> Iterator[_Way]:
    """The ways in which a part takes so many documents, from the one at a place on."""
    least, most = lengths(plan)
    if size < least or (most is not None and size > most):
        return
    match plan:
        case Event():
            yield _Way(plan, place=place)
        case Either(operands):
            for one in operands:
                yield from (_Way(plan, (way,)) for way in _ways(one, place, size))
        case Many(operand):
            for first in range(least, size + 1):
                for way in _ways(operand, place, first):
                    if first == size:
                        yield _Way(plan, (way,))
                        continue
                    for rest in _ways(plan, place + first, size - first):
                        yield _Way(plan, (way, *rest.parts))
        case Chain(operands):
            yield from (_Way(plan, parts) for parts in _split(operands, place, size))


def _split(operands: Sequence[Plan], place: int, size: int) -> Iterator[tuple[_Way, ...]]:
    first, *others = operands
    if not others:
        yield from ((way,) for way in _ways(first, place, size))
        return
    for taken in range(1, size - len(others) + 1):
        for way in _ways(first, place, taken):
            for rest in _split(others, place + taken, size - taken):
                yield (way, *rest)


def _leaves(way: _Way) -> Iterator[_Way]:
    if isinstance(way.plan, Event):
        yield way
    for part in way.parts:
        yield from _leaves(part)


def _taken(part: _Way, of: _Way, events: Composite) -> Composite:
    """The events that a part takes of those of a whole."""
    first = next(_leaves(of)).place
    places = [one.place - first for one in _leaves(part)]
    return events[places[0] : places[-1] + 1]
