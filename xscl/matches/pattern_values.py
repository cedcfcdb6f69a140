"""From the names in SELECT of a pattern's match to nodes of its events, and numbers.

`a[].p` is read from each event of a Kleene plus, in order; a read of one event is the first node
that its path leads to, or nothing.  Aggregates and arithmetic are numbers of xs:double.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from operator import attrgetter
from typing import TYPE_CHECKING

from lxml import etree

from xscl.documents.attributes import Node, reached
from xscl.documents.trees import Nodes, nodes_of
from xscl.language import syntax
from xscl.language.patterns.names import bare_attribute
from xscl.language.syntax import Value
from xscl.matches.nodes import BoundNode
from xscl.pattern_stage.values.numbers import aggregate, divide, number_of, remainder
from xscl.pattern_stage.values.terms import Attribute
from xscl.patterns.compile import CompiledPattern, attribute
from xscl.times import to_seconds
from xscl.xpath_stage import likeness, number_text
from xscl.xpath_stage.values import canonical_url

if TYPE_CHECKING:
    from xscl.matches.pattern_form import Taken, TakenEvent

__all__ = ["OPERATIONS", "ComputedValue", "Operation", "Read", "Values"]


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """A computed value, as results show it: under a name, a number or a text."""

    of: float | str
    name: str

    def string(self) -> str:
        """Its text."""
        return self.of if isinstance(self.of, str) else number_text(self.of)

    def value(self) -> object:
        """The value as JSON, which has no NaN and no infinity."""
        if isinstance(self.of, str):
            return self.of
        if not isfinite(self.of):
            return None
        return int(self.of) if self.of.is_integer() and abs(self.of) < 2**53 else self.of

    def markup(self, *, in_default: bool = False) -> str:
        """The value as an element."""
        element = etree.Element(self.name)
        element.text = self.string()
        text = etree.tostring(element, encoding="unicode")
        return text.replace(self.name, f'{self.name} xmlns=""', 1) if in_default else text


Read = Callable[["Taken"], Sequence[BoundNode | ComputedValue]]
"""From a match to a value of SELECT."""

Operation = Callable[[float, float], float]

OPERATIONS: Mapping[str, Operation] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divide,
    "%": remainder,
}


class Values:
    """The values of one pattern's matches."""

    def __init__(self, names: Sequence[str], kleene: Iterable[str]) -> None:
        self._names = names
        self._kleene = frozenset(kleene)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """What operators compute."""
        return OPERATIONS

    @classmethod
    def of(cls, pattern: CompiledPattern) -> Values:
        """Those of a pattern."""
        kleene = [one.name for one in pattern.pattern.components if one.kleene]
        return cls(pattern.names, kleene)

    def reader(self, value: Value) -> Read:
        """A function from a match to a value of SELECT."""
        match value:
            case syntax.Read() if not self._is_length(value):
                return self._nodes(value)
            case syntax.Literal(str() as text):
                return lambda taken: [ComputedValue(text, "value")]
            case syntax.Call(_, (argument,)):
                texts = self.reader(argument)
                return lambda taken: [
                    ComputedValue(canonical_url(one.string()), "value") for one in texts(taken)
                ]
        name = value.function if isinstance(value, syntax.Aggregate) else "value"
        if isinstance(value, syntax.Read):
            name = "LEN"
        number = self._number(value)
        return lambda taken: [ComputedValue(number(taken), name)]

    def _is_length(self, read: syntax.Read) -> bool:
        """Whether a read is `a.LEN`."""
        return (
            read.variable is not None
            and read.variable.text in self._kleene
            and read.index is None
            and read.attribute is not None
        )

    def _nodes(self, read: syntax.Read, which: slice | None = None) -> Read:
        """A read, of one event or of all of a Kleene plus; of those that `which` picks."""
        if read.variable is None or read.variable.text not in self._names:
            variable, of = self._names[0], attribute(bare_attribute(read))
        else:
            variable, of = read.variable.text, attribute(read.attribute)
        if which is None:
            which = slice(None)
            if read.index:
                which = slice(1) if read.index == "1" else slice(-1, None)

        def nodes(taken: Taken) -> list[BoundNode | ComputedValue]:
            events = [event for event in taken if event.variable == variable]
            found = (_first(event, of) for event in events[which])
            return [one for one in found if one is not None]

        return nodes

    def _number(self, value: Value) -> Callable[[Taken], float]:
        match value:
            case syntax.Literal():
                constant = number_of(str(value.value))
                return lambda taken: constant
            case syntax.PerCent():
                share = value.share
                return lambda taken: share
            case syntax.Minus(operand):
                negated = self._number(operand)
                return lambda taken: -negated(taken)
            case syntax.Arithmetic(operator, left, right):
                first, second = self._number(left), self._number(right)
                operation = self.operations[operator]
                return lambda taken: operation(first(taken), second(taken))
            case syntax.Aggregate(function, read):
                assert read.variable is not None
                name = read.variable.text
                of = None if read.attribute is None else attribute(read.attribute)

                def aggregated(taken: Taken) -> float:
                    events = [event for event in taken if event.variable == name]
                    if of is None:
                        return float(len(events))
                    return float(aggregate(function, _doubles(events, of)))

                return aggregated
            case syntax.Read() if self._is_length(value):
                assert value.variable is not None
                variable = value.variable.text
                return lambda taken: float(sum(event.variable == variable for event in taken))
            case syntax.Read():
                nodes = self._nodes(value)

                def single(taken: Taken) -> float:
                    return next((number_of(one.string()) for one in nodes(taken)), float("nan"))

                return single
            case syntax.Call("similar", arguments):
                readers = [self.reader(one) for one in arguments]

                def similar(taken: Taken) -> float:
                    some = [one.string() for texts in readers for one in texts(taken)[:1]]
                    return likeness.share(*some) if len(some) == len(readers) else nan

                return similar
            case syntax.Call():
                called = self.reader(value)
                return lambda taken: next((number_of(one.string()) for one in called(taken)), nan)
            case syntax.Parameter(name):
                raise ValueError(f"the parameter `:{name}` is not bound")


def _doubles(events: Iterable[TakenEvent], of: Attribute) -> Iterable[float | None]:
    for event in events:
        node = _first(event, of)
        yield None if node is None else number_of(node.string())


def _first(event: TakenEvent, of: Attribute) -> BoundNode | ComputedValue | None:
    """An attribute of an event."""
    document = event.document
    if of.own == "timestamp":
        return ComputedValue(to_seconds(document.time), "timestamp")
    if of.own == "document":
        return ComputedValue(document.id, "document")
    if not of.steps and of.attribute is None:
        return event.output
    # A tree may be dropped as soon as it is read, and a variable be in another part.
    read: list[Nodes] = []

    def node(at: BoundNode) -> Node:
        some = next((one for one in read if at.number in one), None)
        if some is None:
            read.append(some := nodes_of(document, at.number))
        return some.element(at.number), at.attribute

    # In their order: the part that is read first has what is below.
    for at in sorted([event.output, *event.bound.values()], key=attrgetter("number")):
        node(at)
    bound = {name: node(at) for name, at in event.bound.items()}
    for element, name in reached(node(event.output), bound, of):
        number = next(one.numbers[element] for one in read if element in one.numbers)
        return BoundNode(document, number, name)
    return None
