"""SELECT with aggregates or GROUP BY, over windows (docs/semantics.md#aggregates-and-windows)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.event_algebra.conditions import Names, Seen, scalar
from tests.oracle.event_algebra.documents import Event
from tests.oracle.event_algebra.schemas import Refused, Schema, unique
from tests.oracle.event_algebra.syntax import Function, Item, Operation, Ref, Scalar, Star
from tests.oracle.event_algebra.values import (
    MISSING,
    arithmetic,
    called,
    canonical,
    kept,
    number_of,
    text_of,
)

__all__ = ["Aggregation", "aggregated", "is_aggregated"]

_NAMES = {"count", "sum", "avg", "argmax", "argmin"}
OfGroup = Callable[[Sequence[Event]], Any]


def _is_aggregate(term: Scalar) -> bool:
    return isinstance(term, Function) and (
        term.name in _NAMES or (term.name in ("min", "max") and len(term.arguments) == 1)
    )


def is_aggregated(items: tuple[Item, ...]) -> bool:
    """Whether an item has an aggregate in it."""

    def within(term: Scalar) -> bool:
        match term:
            case Operation(_, left, right):
                return within(right) or (left is not None and within(left))
            case Function(_, arguments):
                return _is_aggregate(term) or any(map(within, arguments))
        return False

    return any(within(item.value) for item in items)


@dataclass(frozen=True)
class Aggregation:
    """A point event for each epoch and each group with an event in it."""

    names: tuple[str, ...]
    items: tuple[tuple[str, OfGroup], ...]
    groups: tuple[str, ...]
    window: int | None

    def points(self, events: Iterable[Event]) -> Iterable[Event]:
        every = list(events)
        for time in {event.end for event in every}:
            for key in {self.key(event) for event in every if event.end == time}:
                since = -math.inf if self.window is None else time - self.window
                group = [
                    event
                    for event in every
                    if self.key(event) == key and since <= event.end <= time
                ]
                values = {name: kept(value(group)) for name, value in self.items}
                values = {name: value for name, value in values.items() if value is not MISSING}
                yield Event(time, time, values, ("computed", canonical(values)))

    def key(self, event: Event) -> tuple[str, ...]:
        return tuple(canonical(event.attributes.get(name, MISSING)) for name in self.groups)


def aggregated(
    items: tuple[Item, ...], groups: tuple[str, ...], window: int | None, schema: Schema
) -> Aggregation:
    names = Names({"$1": schema})
    keys = [names.read(Ref(None, name))[1] for name in groups]
    found = []
    for item in items:
        name = item.alias or (item.value.name if isinstance(item.value, Ref) else None)
        if name is None:
            raise Refused("computed without AS")
        found.append((name, _of_group(item.value, names, keys)))
    listed = unique(name for name, _ in found)
    return Aggregation(listed, tuple(found), tuple(keys), window)


def _of_group(term: Scalar, names: Names, keys: Sequence[str]) -> OfGroup:
    match term:
        case Star():
            raise Refused("* beside aggregates")
        case Ref():
            _, name = names.read(term)
            if name not in keys:
                raise Refused(f"{name} is neither aggregated nor grouped")
            return lambda group: group[0].attributes.get(name, MISSING)
        case Operation(sign, left, right):
            b = _of_group(right, names, keys)
            if left is None:
                return lambda group: arithmetic("*", -1.0, b(group))
            a = _of_group(left, names, keys)
            return lambda group: arithmetic(sign, a(group), b(group))
        case Function(name, (Star(),)):
            return len
        case Function(name, arguments) if _is_aggregate(term):
            values = [scalar(one, names) for one in arguments]
            return lambda group: _aggregate(
                name, [[kept(value(_seen(event))) for value in values] for event in group]
            )
        case Function(name, arguments):
            parts = [_of_group(one, names, keys) for one in arguments]
            return lambda group: called(name, [part(group) for part in parts])
    constant = scalar(term, names)
    return lambda group: constant(Seen({}, {}))


def _seen(event: Event) -> Seen:
    return Seen({"$1": event.attributes}, {})


def _aggregate(name: str, rows: list[list[Any]]) -> Any:
    if name == "count":
        return sum(row[0] is not MISSING for row in rows)
    having = [row for row in rows if not math.isnan(number_of(row[0]))]
    numbers = [number_of(row[0]) for row in having]
    if not numbers:
        return MISSING
    match name:
        case "sum":
            return _sum(numbers)
        case "avg":
            # A mean of finite numbers is one, whatever their sum is.
            total = _sum(numbers)
            beyond = math.isinf(total) and all(map(math.isfinite, numbers))
            return float(_exact(numbers) / len(numbers)) if beyond else total / len(numbers)
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
    best = max(numbers) if name == "argmax" else min(numbers)
    named = [row[1] for row, number in zip(having, numbers, strict=True) if number == best]
    there = [one for one in named if one is not MISSING]
    return min(there, key=_place, default=MISSING)


def _place(value: Any) -> tuple[str, int, str]:
    """Of values that are equal as text numbers are first, then truths, null, strings, arrays and
    objects, each by its JSON text."""
    match value:
        case bool():
            kind = 1
        case int() | float():
            kind = 0
        case None:
            kind = 2
        case str():
            kind = 3
        case list():
            kind = 4
        case _:
            kind = 5
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":")) if kind > 3 else ""
    return text_of(value), kind, written


def _sum(numbers: Sequence[float]) -> float:
    if not all(map(math.isfinite, numbers)):
        return sum(numbers)
    total = _exact(numbers)
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _exact(numbers: Sequence[float]) -> Fraction:
    return sum(map(Fraction, numbers), Fraction())
