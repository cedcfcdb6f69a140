"""What the operators of event queries make of events that they have taken (docs/semantics.md#names,
#operators): attributes, and what conditions see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xscl.documents.attributes import MISSING
from xscl.pattern_stage.algebra.nodes import Aggregate, Iterate, Map
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.algebra.nodes.aggregate import is_aggregate
from xscl.pattern_stage.values import terms
from xscl.why.events.values import Attributes, Sight

__all__ = ["Made", "Running", "aggregated", "followed", "mapped", "sight_of", "sight_of_two"]


@dataclass(frozen=True, slots=True)
class Made:
    """An event, from a start to an end in microseconds, and how it is called."""

    start: int
    end: int
    attributes: Attributes
    name: str

    @property
    def age(self) -> int:
        """How long it lasts."""
        return self.end - self.start


def _there(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not MISSING}


def sight_of(event: Made, constants: Sequence[Any]) -> Sight:
    """What a FILTER or a SELECT sees."""
    return Sight({0: event.attributes}, {0: event.age, None: event.age}, constants)


def mapped(node: Map, event: Made, constants: Sequence[Any]) -> Made:
    """SELECT."""
    sight = sight_of(event, constants)
    values = {name: sight.kept(value) for name, value in node.items}
    given = event.attributes if node.star else {}
    return Made(event.start, event.end, _there({**given, **values}), event.name)


def sight_of_two(left: Made, right: Made, constants: Sequence[Any]) -> Sight:
    """What NEXT sees."""
    ages = {0: left.age, 1: right.age, None: right.end - left.start}
    return Sight({0: left.attributes, 1: right.attributes}, ages, constants)


def followed(node: Following, left: Made, right: Made) -> Made:
    """NEXT."""
    suffix = "_1" if node.renamed else ""
    values = {name + suffix: value for name, value in left.attributes.items()}
    name = f"{left.name} {right.name}"
    return Made(left.start, right.end, {**values, **right.attributes}, name)


@dataclass(frozen=True, slots=True)
class Running:
    """A FOLD so far: the left event, the latest right one's attributes (at first the left's), what
    is computed, the end."""

    node: Iterate
    first: Made
    last: Attributes
    computed: Attributes
    end: int
    name: str
    taken: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, node: Iterate, first: Made) -> Running:
        """Before anything is taken."""
        names = [name for name, _ in node.aggregates]
        computed = {n: first.attributes[n] for n in names if n in first.attributes}
        return cls(node, first, first.attributes, computed, first.end, first.name)

    def seen(self, event: Made) -> Attributes:
        """The attributes of a right event that count."""
        names = self.node.right_names
        values = event.attributes
        return values if names is None else {n: values[n] for n in names if n in values}

    def sight(self, event: Made, constants: Sequence[Any]) -> Sight:
        """What conditions see with a further event."""
        common, names = self.node.is_common, [name for name, _ in self.node.aggregates]
        running = {n: v for n, v in self.first.attributes.items() if not common(n)}
        running |= {n: v for n, v in self.last.items() if common(n)}
        running = {n: v for n, v in running.items() if n not in names} | {**self.computed}
        sides = {0: self.first.attributes, 1: self.seen(event), 2: running}
        start = self.first.start
        ages = {0: self.first.age, 1: event.age, 2: self.end - start, None: event.end - start}
        return Sight(sides, ages, constants)

    def beside(self, event: Made, constants: Sequence[Any]) -> Running:
        """With a further event."""
        sight = self.sight(event, constants)
        computed = _there({name: sight.kept(value) for name, value in self.node.aggregates})
        taken = (*self.taken, event.name)
        return Running(
            self.node, self.first, self.seen(event), computed, event.end, event.name, taken
        )

    @property
    def made(self) -> Made:
        """The event that it is."""
        names = [name for name, _ in self.node.aggregates]
        values = {self.node.outer(n): v for n, v in self.first.attributes.items()}
        values |= {n: v for n, v in self.last.items() if n not in names} | {**self.computed}
        name = " ".join((self.first.name, *self.taken))
        return Made(self.first.start, self.end, values, name)


# Aggregates.


def aggregated(node: Aggregate, events: Sequence[Made], constants: Sequence[Any]) -> Made:
    """An aggregate of the events of a group."""
    end, name = events[-1].end, " ".join(event.name for event in events)
    sights = [sight_of(event, constants) for event in events]
    group = _Group(sights[0].sides, sights[0].ages, constants, sights)
    values = {name: group.kept(item) for name, item in node.items}
    return Made(end, end, _there(values), name)


@dataclass(frozen=True)
class _Group(Sight):
    """What an item over aggregates sees: each event, and the first for what is grouped by."""

    sights: Sequence[Sight] = ()

    def value(self, term: terms.Term) -> object:
        """A term, of which calls of aggregates are over the group."""
        match term:
            case terms.Call("count", ()):
                return float(len(self.sights))
            case terms.Call(function, arguments) if is_aggregate(function, len(arguments)):
                return self._over(function, arguments)
        return Sight.value(self, term)

    def _over(self, function: str, arguments: Sequence[terms.Term]) -> object:
        first = [sight.kept(arguments[0]) for sight in self.sights]
        if function == "count":
            return float(sum(value is not MISSING for value in first))
        numbers = [(sight.number(arguments[0]), sight) for sight in self.sights]
        there = [(number, sight) for number, sight in numbers if number == number]
        if not there:
            return MISSING
        plain = [number for number, _ in there]
        best = max(plain) if function.endswith("max") else min(plain)
        match function:
            case "sum":
                return sum(plain)
            case "avg":
                return sum(plain) / len(plain)
            case "min" | "max":
                return best
        named = [sight for number, sight in there if number == best]
        texts = {text: sight for sight in named if (text := sight.text(arguments[1])) is not None}
        return texts[min(texts)].kept(arguments[1]) if texts else MISSING
