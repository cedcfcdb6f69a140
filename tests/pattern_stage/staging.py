"""Queries and events of the oracle (tests/oracle/sequences.py) as the pattern stage takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.oracle import sequences as oracle
from xscl.pattern_stage.found import Found
from xscl.pattern_stage.layouts import NUMBER, Event
from xscl.pattern_stage.pattern import Component, Pattern, Strategy, Test
from xscl.pattern_stage.processor import PatternStage
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Form,
    Index,
    Length,
    Negative,
    Read,
    Term,
)
from xscl.xpath_stage import double_of

__all__ = ["Staging"]

_INDEX = {"1": Index.FIRST, "i": Index.EACH, "i-1": Index.PREVIOUS, "LEN": Index.LAST, None: None}


def attribute_of(text: str) -> Attribute:
    """An attribute by its text in the oracle."""
    if text == "timestamp":
        return Attribute(own="timestamp")
    if text == "document":
        return Attribute(own="document")
    path, _, attribute = text.partition("@")
    return Attribute(tuple(path.rstrip("/").split("/")) if path else (), attribute or None)


@dataclass
class _Terms:
    query: oracle.Query
    constants: list[str | float] = field(default_factory=list)

    def place(self, variable: str) -> int:
        return [one.name for one in self.query.components].index(variable)

    def constant(self, value: oracle.Number | oracle.Text) -> Constant:
        self.constants.append(value.value)
        return Constant(len(self.constants) - 1, isinstance(value, oracle.Number))

    def term(self, term: oracle.Term) -> Term:
        match term:
            case oracle.Number() | oracle.Text():
                return self.constant(term)
            case oracle.Read(variable, attribute, index):
                return Read(self.place(variable), attribute_of(attribute), _INDEX[index])
            case oracle.Aggregate(function, variable, attribute, previous):
                of = None if attribute is None else attribute_of(attribute)
                return Aggregate(function, self.place(variable), of, previous)
            case oracle.Length(variable):
                return Length(self.place(variable))
            case oracle.Arithmetic(sign, left, right):
                return Arithmetic(sign, self.term(left), self.term(right))  # type: ignore[arg-type]
            case oracle.Negative(operand):
                return Negative(self.term(operand))


class Staging:
    """A pattern stage with queries of the oracle, and their events by number."""

    def __init__(self, queries: Iterable[oracle.Query], without: Iterable[str] = ()) -> None:
        self.stage = PatternStage(without, identity=self._identity)
        self.queries = list(queries)
        self.types: dict[oracle.Block, int] = {}
        self._numbers: dict[oracle.Event, int] = {}
        self._events: list[oracle.Event] = []
        for number, query in enumerate(self.queries):
            self.add(number, query)

    def add(self, number: int, query: oracle.Query, since: int = 0, weak: bool = False) -> None:
        """A query."""
        terms = _Terms(query)
        pattern = Pattern(
            tuple(
                Component(one.name, len({*one.blocks}), one.kleene, one.negated, one.any)
                for one in query.components
            ),
            Strategy[query.strategy.upper()],
            tuple(
                tuple(
                    Comparison.of(one.operator, terms.term(one.left), terms.term(one.right))  # type: ignore[arg-type]
                    for one in conjunct
                )
                for conjunct in query.conjuncts
            ),
            tuple(
                Test(
                    attribute_of(one.attribute),
                    None if one.constant is None else terms.constant(one.constant),
                )
                for one in query.tests
            ),
            None if query.within is None else round(query.within * 1_000_000),
            query.non_overlapping,
        )
        types = [
            [self.types.setdefault(block, len(self.types)) for block in dict.fromkeys(one.blocks)]
            for one in query.components
        ]
        self.stage.add(number, pattern, types, terms.constants, since, weak)

    def _identity(self, number: int) -> tuple[object, ...]:
        event = self._events[number]
        return event.document, event.node, event.bound

    def number(self, event: oracle.Event) -> int:
        """The number of an event."""
        if event not in self._numbers:
            self._numbers[event] = len(self._events)
            self._events.append(event)
        return self._numbers[event]

    def event(self, type_: int, event: oracle.Event) -> tuple[int, Event]:
        """An event with its type, as the stage takes it."""
        values: list[str | float | None] = []
        for slot in self.stage.slots(type_):
            text = None if slot is None else event.read(_text(slot.attribute))
            if slot is None or text is None or slot.form is Form.TEXT:
                values.append(text)
            else:
                number = double_of(text)
                values.append(float("nan") if number is None else number)
        time = round(event.time * 1_000_000)
        return type_, (time, time, self.number(event), *values)

    def match(self, found: Found) -> tuple[object, ...]:
        """A match as `expected` has it."""
        query = self.queries[found.number]
        events = [
            (query.components[place], self._events[event[NUMBER]]) for place, event in found.events
        ]
        return (
            query.name,
            tuple(event.document for _, event in events),
            tuple(one.name for one, _ in events),
            tuple(event.node for _, event in events),
            tuple(event.bound for _, event in events),
            found.start / 1_000_000,
            found.time / 1_000_000,
        )


def _text(attribute: Attribute) -> str:
    if attribute.own is not None:
        return attribute.own
    named = [] if attribute.attribute is None else [f"@{attribute.attribute}"]
    return "/".join([*attribute.steps, *named])
