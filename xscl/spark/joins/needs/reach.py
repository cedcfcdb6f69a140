"""How long one match of events may take, by its language: from the first document that it needs to
the last."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.automata.check import within_of
from xscl.language.eql.walk import name_of
from xscl.language.events.walk import conditions
from xscl.language.patterns.normal_form import every
from xscl.language.syntax import (
    Block,
    Compared,
    Composition,
    Described,
    Duration,
    EventOf,
    EventPattern,
    Events,
    Expression,
    Filtered,
    Fold,
    Next,
    Occurring,
    Sequenced,
    SubQuery,
    Window,
    Windowed,
)

__all__ = ["most", "reach_of", "total"]


def reach_of(source: EventPattern | Described | Composition | Events) -> int | None:
    """Microseconds at most, None without bound."""
    match source:
        case EventPattern():
            return _of_pattern(source)
        case Described():
            return within_of(source.automaton)
        case Composition():
            return _of_composition(source)
        case Events():
            return _of_events(source.expression)


def total(*lengths: int | None) -> int | None:
    """The sum, None where one is without bound."""
    return None if None in lengths else sum(one for one in lengths if one is not None)


def most(*lengths: int | None) -> int | None:
    """The longest, None where one is without bound."""
    return None if None in lengths else max(one for one in lengths if one is not None)


def _of_pattern(source: EventPattern) -> int | None:
    # Which matches overlap depends on all that came before.
    if source.window is None or source.window.length is None or source.non_overlapping:
        return None
    # What must not have come before its first event may be so long before what must not follow.
    twice = source.components[0].negated and source.components[-1].negated
    return source.window.length * (2 if twice else 1)


def _of_composition(source: Composition) -> int | None:
    """How long a sequence of single events can be by its OCCURS WITHIN: along the shortest way from
    its first event to its last one."""
    pattern = source.pattern
    if isinstance(pattern, EventOf):
        return 0
    if not isinstance(pattern, Sequenced):
        return None
    if not all(isinstance(part, EventOf) for part in pattern.parts):
        return None
    names = [name_of(part) for part in pattern.parts if isinstance(part, EventOf)]
    ways: dict[str | None, int] = {names[0]: 0}
    windows = [
        ({one.one.text, one.other.text}, one.window.length)
        for qualification in source.qualifications
        for one in every(qualification.condition)
        if isinstance(one, Occurring)
    ]
    for _ in names:
        for ends, length in windows:
            for name in ends:
                (other,) = ends - {name} or {name}
                if name in ways and length is not None:
                    ways[other] = min(ways.get(other, ways[name] + length), ways[name] + length)
    return ways.get(names[-1])


def _of_events(expression: Expression) -> int | None:
    """How far back an event query looks from the end of what it finds: as long as its composites
    are, and in addition as its windows are."""
    return total(_extent(expression), _windows(expression))


def _extent(expression: Expression) -> int | None:
    match expression:
        case Filtered(operand=operand):
            lengths = [*_durations(expression)]
            of_operand = _extent(operand)
            if of_operand is not None:
                lengths.append(of_operand)
            return min(lengths, default=None)
        case Next() | Fold():
            return min(_durations(expression), default=None)
        case Windowed() | Block() | SubQuery():
            return 0
        case _:
            return most(_extent(expression.left), _extent(expression.right))


def _windows(expression: Expression) -> int | None:
    match expression:
        case Windowed(window=window, operand=operand):
            return total(window.length, _of_events(operand))
        case Filtered(operand=operand):
            return _windows(operand)
        case Block() | SubQuery():
            return 0
        case _:
            return most(_windows(expression.left), _windows(expression.right))


def _durations(expression: Expression) -> Iterator[int]:
    """The bounds on the DUR of what an operator makes, from above."""
    for condition in conditions(expression):
        for one in every(condition):
            match one:
                case Compared(
                    "<" | "<=" | "=", Duration(None), Window(length=int(length))
                ) | Compared(">" | ">=" | "=", Window(length=int(length)), Duration(None)):
                    yield length
