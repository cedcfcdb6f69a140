"""The values that a pattern compares, on given events: terms and comparisons by their definitions
(patterns-sase.md, section 2), one at a time; the automata take no part in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import eq, ge, gt, le, lt, ne

from pattern_stage import pattern as stage
from pattern_stage.arithmetic import aggregate, castable, divide, number_of, remainder
from pattern_stage.pattern import Attribute, Index, Pattern
from xpath_stage import number_text
from xscl.documents.attributes import Node, reached, text_of_node
from xscl.times import to_seconds

__all__ = ["Event", "Run"]

_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


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


class _Missing(Exception):
    """An event lacks what is read; whether it is of an ANY component."""

    def __init__(self, any_of: bool) -> None:
        super().__init__()
        self.any_of = any_of


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

    # Conjuncts.

    def conjunct(
        self, conjunct: stage.Conjunct, *, last: bool = False
    ) -> tuple[bool, list[tuple[str, str]]]:
        """Whether a conjunct holds, for every `i` that it runs over or the `last`, and the values
        on both sides of its comparisons, of the first `i` for which it does not."""
        shown: list[tuple[str, str]] = []
        for number in [*self._numbers(conjunct)][-1 if last else 0 :]:
            shown = [self._sides(one, number) for one in conjunct]
            if not any(self._holds(one, number) for one in conjunct):
                return False, shown
        return True, shown

    def _numbers(self, conjunct: stage.Conjunct) -> Iterator[int]:
        """The numbers of the events that `i` stands for, from 0; only one where there is no `i`."""
        for comparison in conjunct:
            for leaf in (*_leaves(comparison.left), *_leaves(comparison.right)):
                running = isinstance(leaf, stage.Aggregate) and leaf.previous
                if running or getattr(leaf, "index", None) in (Index.EACH, Index.PREVIOUS):
                    yield from range(1, len(self.of(leaf.component)))
                    return
        yield 0

    def _holds(self, one: stage.Comparison, number: int) -> bool:
        try:
            left, right = self._value(one.left, number), self._value(one.right, number)
        except _Missing as missing:
            return missing.any_of
        compare = _COMPARE[one.operator]
        if isinstance(left, str) and isinstance(right, str):
            numbers = number_of(left), number_of(right)
            both = castable(left, numbers[0]) and castable(right, numbers[1])
            if one.operator in ("=", "!=") or not both:
                return bool(compare(left, right))
            left, right = numbers
        first, second = (number_of(v) if isinstance(v, str) else v for v in (left, right))
        return first == first and second == second and bool(compare(first, second))

    def _sides(self, one: stage.Comparison, number: int) -> tuple[str, str]:
        shown = []
        for term in (one.left, one.right):
            try:
                shown.append(_text(self._value(term, number)))
            except _Missing:
                shown.append("(none)")
        return shown[0], shown[1]

    def _value(self, term: stage.Term, number: int) -> str | float:
        match term:
            case stage.Constant(place):
                return self.constants[place]
            case stage.Length(component):
                return float(len(self.of(component)))
            case stage.Negative(operand):
                return -self._double(operand, number)
            case stage.Arithmetic(operator, left, right):
                first, second = self._double(left, number), self._double(right, number)
                match operator:
                    case "+":
                        return first + second
                    case "-":
                        return first - second
                    case "*":
                        return first * second
                    case "/":
                        return divide(first, second)
                    case "%":
                        return remainder(first, second)
            case stage.Aggregate():
                events = self.of(term.component)[: number if term.previous else None]
                if term.attribute is None:
                    return float(len(events))
                read = [event.read(term.attribute) for event in events]
                values = (number_of(v) if isinstance(v, str) else v for v in read)
                return float(aggregate(term.function, values))
            case stage.Read():
                return self._read(term, number)

    def _double(self, term: stage.Term, number: int) -> float:
        value = self._value(term, number)
        return number_of(value) if isinstance(value, str) else value

    def _read(self, read: stage.Read, number: int) -> str | float:
        events = self.of(read.component)
        places = {Index.EACH: number, Index.PREVIOUS: number - 1, Index.LAST: -1}
        place = 0 if read.index is None else places.get(read.index, 0)
        if not -len(events) <= place < len(events):
            return nan
        value = events[place].read(read.attribute)
        if value is None:
            raise _Missing(self.pattern.components[read.component].any)
        return value


def _leaves(term: stage.Term) -> Iterator[stage.Read | stage.Aggregate]:
    match term:
        case stage.Arithmetic(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case stage.Negative(operand):
            yield from _leaves(operand)
        case stage.Read() | stage.Aggregate():
            yield term


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else number_text(value)
