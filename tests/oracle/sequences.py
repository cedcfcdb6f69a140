"""Evaluates EVENT and PATTERN by trying every run, from the definitions of SASE and SASE+.

The queries are data, not text, so that no parser is shared with the engine; so is the number that a
text casts to.  There are no automata: a run is the list of events that it has taken, and whether it
may take or ignore more is decided again from all of these at each epoch.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

__all__ = [
    "Aggregate",
    "Arithmetic",
    "Block",
    "Comparison",
    "Component",
    "Event",
    "Length",
    "Match",
    "Negative",
    "Number",
    "Query",
    "Read",
    "Term",
    "Test",
    "Text",
    "evaluate",
]

Index = Literal["1", "i", "i-1", "LEN"]
STRATEGIES = (
    "strict_contiguity",
    "partition_contiguity",
    "skip_till_next_match",
    "skip_till_any_match",
)


# Events


@dataclass(frozen=True, slots=True)
class Block:
    """A stream, and what is selected from its documents: the whole, or `path`, by its text; of the
    events of a path, those whose attribute `f` is `x` where `filtered`, with k bound to `key` where
    `keyed`."""

    stream: str
    path: str = ""
    filtered: bool = False
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """An output node with the string values of its attributes by their text; `bound` are the nodes
    of the block's variables."""

    document: str
    time: float
    node: int
    bound: tuple[int, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False)

    def read(self, attribute: str) -> str | None:
        """The string value of an attribute."""
        return self.document if attribute == "document" else self.values.get(attribute)


# Conditions


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class Read:
    variable: str
    attribute: str
    index: Index | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    function: Literal["avg", "sum", "min", "max", "count"]
    variable: str
    attribute: str | None
    previous: bool = False


@dataclass(frozen=True, slots=True)
class Length:
    variable: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Negative:
    operand: Term


Term = Number | Text | Read | Aggregate | Length | Arithmetic | Negative


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Test:
    """`[x]`, or `[x = c]`."""

    __test__ = False  # pytest's word

    attribute: str
    constant: Number | Text | None = None


# Queries


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    blocks: tuple[Block, ...]
    kleene: bool = False
    negated: bool = False
    any: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """`conjuncts` are alternatives joined by OR; `within` is in seconds."""

    name: str
    components: tuple[Component, ...]
    strategy: str = "skip_till_any_match"
    conjuncts: tuple[tuple[Comparison, ...], ...] = ()
    tests: tuple[Test, ...] = ()
    within: float | None = None
    non_overlapping: bool = False

    @property
    def positive(self) -> list[Component]:
        return [component for component in self.components if not component.negated]


class Match(NamedTuple):
    query: str
    documents: tuple[str, ...]
    variables: tuple[str, ...]
    nodes: tuple[int, ...]
    bound: tuple[tuple[int, ...], ...]
    start: float
    time: float


Taken = tuple[tuple[int, Event], ...]
"""The events of a run, each with the place of its component among the positive ones."""


# Values

_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN", re.ASCII)
_ORDERS: dict[str, Callable[[object, object], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]
    "<=": operator.le,  # type: ignore[dict-item]
    ">": operator.gt,  # type: ignore[dict-item]
    ">=": operator.ge,  # type: ignore[dict-item]
}


def _cast(text: str) -> float | None:
    """The xs:double of a text; None where it is not castable."""
    text = text.strip(" \t\r\n")
    return float(text) if _DOUBLE.fullmatch(text) else None


def _calculated(sign: str, left: float, right: float) -> float:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            if right or math.isnan(left):
                return left / right if right else math.nan
            return math.copysign(math.inf, left) * math.copysign(1, right) if left else math.nan
    if math.isnan(left) or math.isnan(right) or not right or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


@dataclass(slots=True)
class _Bound:
    """Events by the names of their components, and an `i` for the one that runs."""

    query: Query
    events: Mapping[str, Sequence[Event]]
    i: int = 0

    def event(self, read: Read) -> Event:
        events = self.events[read.variable]
        match read.index:
            case "i":
                return events[self.i - 1]
            case "i-1":
                return events[self.i - 2]
            case "LEN":
                return events[-1]
        return events[0]

    def missing(self, term: Term) -> Iterator[bool]:
        """For each read of what its event lacks, whether its component is an ANY."""
        match term:
            case Read(variable, attribute):
                if attribute != "timestamp" and self.event(term).read(attribute) is None:
                    yield _component(self.query, variable).any
            case Arithmetic(_, left, right):
                yield from self.missing(left)
                yield from self.missing(right)
            case Negative(operand):
                yield from self.missing(operand)

    def number(self, term: Term) -> float:
        match term:
            case Number(value):
                return value
            case Text(value):
                number = _cast(value)
                return math.nan if number is None else number
            case Read(_, attribute):
                event = self.event(term)
                if attribute == "timestamp":
                    return event.time
                number = _cast(event.read(attribute) or "")
                return math.nan if number is None else number
            case Aggregate():
                return self.aggregated(term)
            case Length(variable):
                return len(self.events[variable])
            case Arithmetic(sign, left, right):
                return _calculated(sign, self.number(left), self.number(right))
            case Negative(operand):
                return -self.number(operand)

    def aggregated(self, term: Aggregate) -> float:
        events = self.events[term.variable]
        if term.previous:
            events = events[: self.i - 1]
        if term.attribute is None:
            return len(events)
        if term.attribute == "timestamp":
            numbers: list[float | None] = [event.time for event in events]
        else:
            texts = [event.read(term.attribute) for event in events]
            numbers = [_cast(text) for text in texts if text is not None]
        if term.function == "count":
            return len(numbers)
        if not numbers:
            return 0 if term.function == "sum" else math.nan
        values = [math.nan if number is None else number for number in numbers]
        if any(map(math.isnan, values)):
            return math.nan
        match term.function:
            case "sum":
                return sum(values)
            case "avg":
                return sum(values) / len(values)
            case "min":
                return min(values)
        return max(values)

    def holds(self, comparison: Comparison) -> bool:
        left, right = comparison.left, comparison.right
        missing = [*self.missing(left), *self.missing(right)]
        if missing:
            return any(missing)
        order = _ORDERS[comparison.operator]
        if _is_number(left) or _is_number(right):
            a, b = self.number(left), self.number(right)
            return not (math.isnan(a) or math.isnan(b)) and order(a, b)
        one, other = self.text(left), self.text(right)
        if comparison.operator in ("=", "!="):
            return order(one, other)
        numbers = _cast(one), _cast(other)
        if None in numbers:
            return order(one, other)
        return not any(math.isnan(n) for n in numbers if n is not None) and order(*numbers)

    def text(self, term: Term) -> str:
        if isinstance(term, Text):
            return term.value
        assert isinstance(term, Read)
        text = self.event(term).read(term.attribute)
        assert text is not None
        return text


def _is_number(term: Term) -> bool:
    return not isinstance(term, Text | Read) or (
        isinstance(term, Read) and term.attribute == "timestamp"
    )


def _component(query: Query, name: str) -> Component:
    return next(component for component in query.components if component.name == name)


# Conjuncts on edges


def _reads(term: Term) -> Iterator[Read | Aggregate | Length]:
    match term:
        case Read() | Aggregate() | Length():
            yield term
        case Arithmetic(_, left, right):
            yield from _reads(left)
            yield from _reads(right)
        case Negative(operand):
            yield from _reads(operand)


def _all_reads(conjunct: Sequence[Comparison]) -> list[Read | Aggregate | Length]:
    return [
        read
        for comparison in conjunct
        for term in (comparison.left, comparison.right)
        for read in _reads(term)
    ]


def _runs(read: Read | Aggregate | Length) -> bool:
    """Whether a read is for each i."""
    match read:
        case Read(index=index):
            return index in ("i", "i-1")
        case Aggregate(previous=previous):
            return previous
    return False


@cache
def _edge(query: Query, conjunct: tuple[Comparison, ...]) -> tuple[int, int]:
    """The place of the positive component, and the edge of it (begin, take, proceed), of a
    conjunct: its last identifier's."""
    places = {component.name: i for i, component in enumerate(query.positive)}
    edges = [(0, 0)]
    for read in _all_reads(conjunct):
        place = places[read.variable]
        if _runs(read):
            edges.append((place, 1))
        elif not isinstance(read, Read) or read.index == "LEN":
            edges.append((place, 2))
        else:
            edges.append((place, 0))
    return max(edges)


def _of_negated(query: Query, conjunct: tuple[Comparison, ...]) -> str | None:
    for read in _all_reads(conjunct):
        if _component(query, read.variable).negated:
            return read.variable
    return None


def _conjunct_holds(
    query: Query,
    conjunct: tuple[Comparison, ...],
    events: Mapping[str, Sequence[Event]],
    *,
    last: bool = False,
) -> bool:
    """Whether a conjunct holds, for every i from 2 that its variable has, or for the `last`."""
    running = {read.variable for read in _all_reads(conjunct) if _runs(read)}
    if not running:
        bound = _Bound(query, events)
        return any(map(bound.holds, conjunct))
    (variable,) = running
    length = len(events[variable])
    return all(
        any(map(_Bound(query, events, i).holds, conjunct))
        for i in range(length if last else 2, length + 1)
        if i > 1
    )


def _tests_hold(query: Query, chosen: Sequence[tuple[Component, Event]]) -> bool:
    for test in query.tests:
        for component, event in chosen:
            value = event.read(test.attribute)
            if value is None:
                if not component.any:
                    return False
            elif test.constant is not None:
                compared = Comparison("=", Read(component.name, test.attribute), test.constant)
                if not _Bound(query, {component.name: [event]}).holds(compared):
                    return False
        if test.constant is None:
            values = {event.read(test.attribute) for _, event in chosen} - {None}
            if len(values) > 1:
                return False
    return True


# Runs


class _Evaluation:
    def __init__(self, query: Query, select: Callable[[Block], Sequence[Event]]) -> None:
        self.query = query
        self.positive = query.positive
        self.events = [
            list(dict.fromkeys(itertools.chain.from_iterable(map(select, component.blocks))))
            for component in query.components
        ]
        self.of_positive = [
            events
            for events, component in zip(self.events, query.components, strict=True)
            if not component.negated
        ]
        self.input = list(dict.fromkeys(itertools.chain.from_iterable(self.events)))
        self.times = sorted({event.time for event in self.input})

    def bound(self, taken: Taken) -> dict[str, list[Event]]:
        events: dict[str, list[Event]] = {}
        for place, event in taken:
            events.setdefault(self.positive[place].name, []).append(event)
        return events

    def chosen(self, taken: Taken) -> list[tuple[Component, Event]]:
        return [(self.positive[place], event) for place, event in taken]

    def edge_holds(self, taken: Taken, place: int, edge: int) -> bool:
        """Whether the conjuncts of an edge hold, of which the last event was taken (begin, take),
        or which is left (proceed)."""
        for conjunct in self.query.conjuncts:
            if _of_negated(self.query, conjunct) or _edge(self.query, conjunct) != (place, edge):
                continue
            if not _conjunct_holds(self.query, conjunct, self.bound(taken), last=edge == 1):
                return False
        return True

    def in_window(self, taken: Taken) -> bool:
        within = self.query.within
        return within is None or taken[-1][1].time - within < taken[0][1].time

    def takes(self, taken: Taken, place: int, edge: int, time: float) -> list[Taken]:
        """What a run becomes by each event of a time that satisfies an edge."""
        grown = [
            (*taken, (place, event)) for event in self.of_positive[place] if event.time == time
        ]
        return [
            one
            for one in grown
            if self.in_window(one)
            and _tests_hold(self.query, self.chosen(one))
            and self.edge_holds(one, place, edge)
        ]

    def in_partition(self, event: Event, taken: Taken) -> bool:
        for test in self.query.tests:
            value = event.read(test.attribute)
            if value is None:
                return False
            if test.constant is not None:
                compared = Comparison("=", Read("e", test.attribute), test.constant)
                query = Query("", (Component("e", ()),))
                if not _Bound(query, {"e": [event]}).holds(compared):
                    return False
            elif {one.read(test.attribute) for _, one in taken} - {None, value}:
                return False
        return True

    def runs(self) -> Iterator[Taken]:
        """All runs that are complete, each as often as there are ways to it (one)."""
        waiting = [one for time in self.times for one in self.takes((), 0, 0, time)]
        while waiting:
            taken = waiting.pop()
            place = taken[-1][0]
            kleene = self.positive[place].kleene
            may_leave = not kleene or self.edge_holds(taken, place, 2)
            if place == len(self.positive) - 1 and may_leave:
                yield taken
            for time in (time for time in self.times if time > taken[-1][1].time):
                if kleene:
                    stays = self.takes(taken, place, 1, time)
                    waiting += stays
                else:
                    stays = []
                begins = []
                if place + 1 < len(self.positive) and may_leave:
                    begins = self.takes(taken, place + 1, 0, time)
                    waiting += begins
                if not self.ignorable(taken, time, stays if kleene else begins):
                    break

    def ignorable(self, taken: Taken, time: float, satisfying: Sequence[Taken]) -> bool:
        within = self.query.within
        if within is not None and time - within >= taken[0][1].time:
            return False
        match self.query.strategy:
            case "skip_till_any_match":
                return True
            case "skip_till_next_match":
                return not satisfying
        seen = [event for event in self.input if event.time == time]
        if self.query.strategy == "strict_contiguity":
            return not seen
        return not any(self.in_partition(event, taken) for event in seen)

    # Negation

    def forbidden(self, taken: Taken) -> bool:
        places = 0
        for component, events in zip(self.query.components, self.events, strict=True):
            if not component.negated:
                places += 1
                continue
            after, before = self.interval(taken, places)
            for event in events:
                if after < event.time < before and self.kills(component, event, taken):
                    return True
        return False

    def interval(self, taken: Taken, places: int) -> tuple[float, float]:
        """The open interval of a negated component behind so many positive ones."""
        within = math.inf if self.query.within is None else self.query.within
        if not places:
            return taken[-1][1].time - within, taken[0][1].time
        after = max(event.time for place, event in taken if place < places)
        if places == len(self.positive):
            return after, taken[0][1].time + within
        return after, min(event.time for place, event in taken if place >= places)

    def kills(self, component: Component, event: Event, taken: Taken) -> bool:
        bound = {**self.bound(taken), component.name: [event]}
        return _tests_hold(self.query, [*self.chosen(taken), (component, event)]) and all(
            _conjunct_holds(self.query, conjunct, bound)
            for conjunct in self.query.conjuncts
            if _of_negated(self.query, conjunct) == component.name
        )

    # Matches

    def matches(self) -> list[tuple[Taken, Match]]:
        found = []
        for taken in self.runs():
            if self.forbidden(taken):
                continue
            start, time = taken[0][1].time, taken[-1][1].time
            if self.query.components[-1].negated:
                assert self.query.within is not None
                time = start + self.query.within
            match = Match(
                self.query.name,
                tuple(event.document for _, event in taken),
                tuple(self.positive[place].name for place, _ in taken),
                tuple(event.node for _, event in taken),
                tuple(event.bound for _, event in taken),
                start,
                time,
            )
            found.append((taken, match))
        return found

    def not_overlapping(self, found: Sequence[tuple[Taken, Match]]) -> list[Match]:
        tests = [test for test in self.query.tests if test.constant is None]
        if self.query.strategy == "strict_contiguity":
            tests = []
        last: dict[tuple[str | None, ...], float] = {}
        reported = []

        def order(one: tuple[Taken, Match]) -> tuple[object, ...]:
            taken, match = one
            identity = [
                (event.time, event.document, event.node, event.bound, self.positive[place].name)
                for place, event in taken
            ]
            return match.time, -match.start, len(taken), identity

        for taken, match in sorted(found, key=order):
            partition = tuple(
                next(
                    (
                        value
                        for _, event in taken
                        if (value := event.read(test.attribute)) is not None
                    ),
                    None,
                )
                for test in tests
            )
            if match.start > last.get(partition, -math.inf):
                reported.append(match)
                last[partition] = match.time
        return reported


def evaluate(query: Query, select: Callable[[Block], Sequence[Event]]) -> list[Match]:
    """All matches of a query over what each block selects."""
    evaluation = _Evaluation(query, select)
    found = evaluation.matches()
    if query.non_overlapping:
        return evaluation.not_overlapping(found)
    return [match for _, match in found]
