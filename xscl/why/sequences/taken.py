"""The values that a pattern compares, on given events: terms and comparisons by their definitions
(docs/semantics.md#values-and-missing-attributes), one at a time; the automata take no part in
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

from xscl.documents.attributes import MISSING, Node, reached, text_of_node
from xscl.pattern_stage import pattern as stage
from xscl.pattern_stage.compiler.bound import runs_over
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.values.interpreter import Interpreter
from xscl.pattern_stage.values.numbers import aggregate, number_of
from xscl.pattern_stage.values.terms import Aggregate, Attribute, Index, Leaf, Length, Or, Read
from xscl.times import to_seconds
from xscl.why.findings import Finding, judged_by, values_of
from xscl.why.near_values import near_equal
from xscl.xpath_stage import number_text

__all__ = ["Event", "Run"]


@dataclass(frozen=True, slots=True)
class Event:
    """An event that a component takes, by its place: the id and the time of its document, its
    output node and the nodes of its block's variables."""

    component: int
    document: str
    time: int
    output: Node
    bound: Mapping[str, Node]

    def read(self, attribute: Attribute) -> str | float | None:
        """An attribute; None where it is missing."""
        if attribute.own == "timestamp":
            return to_seconds(self.time)
        if attribute.own == "document":
            return self.document
        node = next(reached(self.output, self.bound, attribute), None)
        return None if node is None else text_of_node(node)


@dataclass(frozen=True, slots=True)
class Run:
    """Some events of a match in order, and the constants of its query."""

    pattern: Pattern
    constants: Sequence[str | float]
    events: tuple[Event, ...]

    def of(self, component: int) -> list[Event]:
        """The events of a component."""
        return [event for event in self.events if event.component == component]

    def beside(self, event: Event) -> Run:
        """The run with one more event."""
        return Run(self.pattern, self.constants, (*self.events, event))

    # Tests.

    def test(self, test: stage.Test) -> tuple[bool, list[str]]:
        """Whether a test holds of the events, and the values that they have."""
        values = [(event, event.read(test.attribute)) for event in self.events]
        shown = ["(none)" if value is None else _text(value) for _, value in values]
        lacking = [event for event, value in values if value is None]
        if not all(self.pattern.components[event.component].any for event in lacking):
            return False, shown
        there = [_text(value) for _, value in values if value is not None]
        if test.constant is None:
            return len(set(there)) <= 1, shown
        constant = self.constants[test.constant.place]
        if isinstance(constant, str):
            return all(value == constant for value in there), shown
        return all(number_of(value) == constant for value in there), shown

    def found_of_test(self, test: stage.Test, finding: Finding) -> Finding:
        """A finding with whether a test holds, and the values that it compares."""
        holds, values = self.test(test)
        if test.constant is None:
            return replace(finding, holds=holds, left=values_of(values))
        constant = self.constants[test.constant.place]
        written = _text(constant)
        groups = [([one for one in values if one != "(none)"], [written])]
        near = None if holds else near_equal(groups, written=1)
        return replace(
            finding,
            holds=holds,
            left=values_of(values, None if near is None else near.left),
            right=None if near is None else values_of([written]),
            near=None if near is None else near.words,
        )

    # Conjuncts.

    def conjunct(self, conjunct: stage.Conjunct, *, last: bool = False) -> bool:
        """Whether a conjunct holds, for every `i` that it runs over or the `last`."""
        sights = [*self._sights(conjunct)][-1 if last else 0 :]
        return all(any(map(sight.holds, conjunct)) for sight in sights)

    def finding(self, conjunct: stage.Conjunct, finding: Finding) -> Finding:
        """A finding with whether a conjunct holds, and the values on both sides of its
        comparisons, of the first `i` for which it does not."""
        finding = replace(finding, holds=True)
        for sight in self._sights(conjunct):
            finding = judged_by(sight, Or(conjunct), finding)
            if not finding.holds:
                break
        return finding

    def _sights(self, conjunct: stage.Conjunct) -> Iterator[_Sight]:
        return (_Sight(self, number) for number in self._numbers(conjunct))

    def _numbers(self, conjunct: stage.Conjunct) -> Iterator[int]:
        """The numbers of the events that `i` stands for, from 0; only one where there is no `i`."""
        over = runs_over(conjunct)
        return iter((0,) if over is None else range(1, len(self.of(over))))


class _Sight(Interpreter):
    """What a conjunct sees of a run, for one `i`."""

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.i, self.constants = run, number, run.constants

    def leaf(self, leaf: Leaf) -> object:
        match leaf:
            case Length(component):
                return float(len(self.run.of(component)))
            case Aggregate():
                events = self.run.of(leaf.component)[: self.i if leaf.previous else None]
                if leaf.attribute is None:
                    return float(len(events))
                read = [event.read(leaf.attribute) for event in events]
                values = (number_of(v) if isinstance(v, str) else v for v in read)
                return float(aggregate(leaf.function, values))
            case Read():
                return self._read(leaf)
        raise TypeError(leaf)

    def lenient(self, leaf: Leaf) -> bool:
        wild = isinstance(leaf, Read) and self.run.pattern.components[leaf.component].any
        return wild and self.leaf(leaf) is MISSING

    def _read(self, read: Read) -> object:
        events = self.run.of(read.component)
        places = {Index.EACH: self.i, Index.PREVIOUS: self.i - 1, Index.LAST: -1}
        place = 0 if read.index is None else places.get(read.index, 0)
        if not -len(events) <= place < len(events):
            return nan
        value = events[place].read(read.attribute)
        return MISSING if value is None else value


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else number_text(value)
