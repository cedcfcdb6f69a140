"""Expressions as sets of events, literally as docs/semantics.md#operators defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.oracle.event_algebra.aggregates import aggregated, is_aggregated
from tests.oracle.event_algebra.conditions import Names, Seen, condition, scalar
from tests.oracle.event_algebra.documents import Event
from tests.oracle.event_algebra.schemas import Refused, Schema, unique
from tests.oracle.event_algebra.syntax import (
    Block,
    Constructor,
    Expression,
    Filter,
    Fold,
    Item,
    Next,
    Query,
    Ref,
    Star,
    Union,
    Window,
)
from tests.oracle.event_algebra.values import MISSING, canonical, kept

__all__ = ["Meaning", "Scope", "computed", "meaning"]

Feed = Callable[[Block], Iterable[Event]]
Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Scope:
    """The names of a stream, None where it is open; `publish` takes sub-queries that publish."""

    names_of: Callable[[str], tuple[str, ...] | None]
    publish: Callable[[Query, Meaning], None]


@dataclass(frozen=True)
class Meaning:
    """An expression's schema, and its events given those of its blocks."""

    schema: Schema
    events: Callable[[Feed], list[Event]]


def _set(events: Iterable[Event]) -> list[Event]:
    """Each event once."""
    return list({(one.key, one.start, one.end): one for one in events}.values())


def computed(start: int, end: int, attributes: Attributes) -> Event:
    """An event that its attributes identify."""
    values = {name: kept(value) for name, value in attributes.items()}
    values = {name: value for name, value in values.items() if value is not MISSING}
    return Event(start, end, values, ("computed", canonical(values)))


def meaning(expression: Expression, scope: Scope) -> Meaning:
    match expression:
        case Block():
            return _block(expression, scope)
        case Filter():
            return _filter(expression, scope)
        case Union():
            return _union(expression, scope)
        case Next():
            return _next(expression, scope)
        case Fold():
            return _fold(expression, scope)
        case Query():
            found = _query(expression, scope)
            if expression.publish is not None:
                scope.publish(expression, found)
            return found
    raise Refused("WINDOW stands under an aggregate alone")


def _block(block: Block, scope: Scope) -> Meaning:
    names = None if block.path else scope.names_of(block.stream)
    if names is None:
        variables = frozenset(one.name for one in block.bindings)
        return Meaning(Schema(known=variables), lambda feed: _set(feed(block)))
    return Meaning(
        Schema(names, open=False),
        lambda feed: [
            replace(one, attributes=_only(one.attributes, names)) for one in _set(feed(block))
        ],
    )


def _only(attributes: Attributes, names: Iterable[str]) -> Attributes:
    return {name: attributes[name] for name in names if name in attributes}


def _filter(expression: Filter, scope: Scope) -> Meaning:
    inner = meaning(expression.operand, scope)
    names = Names({"$1": inner.schema})
    names.decorated([expression.condition] if expression.condition else [])
    holds = condition(expression.condition, names)
    return Meaning(
        names.sides["$1"], lambda feed: [one for one in inner.events(feed) if holds(_seen(one))]
    )


def _seen(event: Event) -> Seen:
    age = event.end - event.start
    return Seen({"$1": event.attributes}, {None: age, "$1": age})


def _union(expression: Union, scope: Scope) -> Meaning:
    left, right = meaning(expression.left, scope), meaning(expression.right, scope)
    a, b = left.schema, right.schema
    if a.open or b.open:
        both = tuple(name for name in a.listed if name in b.listed)
        schema = Schema(both, known=a.known | b.known)
    elif set(a.listed) == set(b.listed):
        schema = a
    else:
        raise Refused("UNION of different names")
    return Meaning(schema, lambda feed: _set([*left.events(feed), *right.events(feed)]))


def _next(expression: Next, scope: Scope) -> Meaning:
    left, right = meaning(expression.left, scope), meaning(expression.right, scope)
    names = Names({"$1": left.schema, "$2": right.schema})
    names.decorated([expression.condition] if expression.condition else [])
    holds = condition(expression.condition, names)
    a, b = names.sides["$1"], names.sides["$2"]
    collides = (a.open and b.open) or any(map(b.has, a.names))

    def renamed(name: str) -> str:
        return f"{name}_1" if collides else name

    schema = Schema(
        unique((*map(renamed, a.listed), *b.listed)),
        a.open or b.open,
        frozenset({*map(renamed, a.known), *b.known}),
    )

    def admits(one: Event, other: Event) -> bool:
        if other.start <= one.end:
            return False
        ages = {
            None: other.end - one.start,
            "$1": one.end - one.start,
            "$2": other.end - other.start,
        }
        return holds(Seen({"$1": one.attributes, "$2": other.attributes}, ages))

    def events(feed: Feed) -> list[Event]:
        found = []
        following = right.events(feed)
        for one in left.events(feed):
            admitted = [other for other in following if admits(one, other)]
            first = min((other.end for other in admitted), default=None)
            for other in admitted:
                if other.end == first:
                    values = {renamed(name): value for name, value in one.attributes.items()}
                    values |= other.attributes
                    found.append(computed(one.start, other.end, values))
        return _set(found)

    return Meaning(schema, events)


@dataclass(frozen=True, slots=True)
class _Element:
    """Of I[n]: the event of R, the attributes of the latest of S, the aggregates, the end."""

    first: Event
    last: Attributes
    aggregates: Attributes
    end: int

    @property
    def key(self) -> tuple[object, ...]:
        return (
            self.first.key,
            self.first.start,
            self.first.end,
            canonical(self.last),
            canonical(self.aggregates),
            self.end,
        )


def _fold(expression: Fold, scope: Scope) -> Meaning:
    left, right = meaning(expression.left, scope), meaning(expression.right, scope)
    targets = unique(name for _, name in expression.aggregates)
    names = Names({"$1": left.schema, "$2": right.schema}, targets)
    conditions = [one for one in (expression.condition, expression.continuing) if one is not None]
    names.decorated([*conditions, *(value for value, _ in expression.aggregates)])
    theta = condition(expression.condition, names)
    rho = condition(expression.continuing, names)
    values = {name: scalar(value, names) for value, name in expression.aggregates}
    a, b = names.sides["$1"], names.sides["$2"]
    if not a.open:
        # Nothing else of an open right side is seen.
        b = Schema(tuple(sorted(b.known)), open=False) if b.open else b
        if lacking := [name for name in b.listed if not a.has(name)]:
            raise Refused(f"FOLD lacks {lacking}")

    def common(name: str) -> bool:
        if a.open and b.open:
            return name in targets or name not in a.listed or b.has(name)
        return name in targets or b.has(name)

    def renamed(name: str) -> str:
        return f"{name}_1" if common(name) else name

    schema = Schema(
        unique(
            (
                *map(renamed, a.listed),
                *(name for name in b.listed if name not in targets),
                *targets,
            )
        ),
        a.open,
        frozenset({*map(renamed, a.known), *b.known}),
    )

    def seen(element: _Element, event: Event) -> Seen:
        first = element.first
        running = {name: v for name, v in first.attributes.items() if not common(name)}
        running |= {name: v for name, v in element.last.items() if common(name)}
        running = {name: v for name, v in running.items() if name not in targets}
        running |= element.aggregates
        return Seen(
            {"$1": first.attributes, "$2": event.attributes, "$": running},
            {
                None: event.end - first.start,
                "$1": first.end - first.start,
                "$2": event.end - event.start,
                "$": element.end - first.start,
            },
        )

    def further(element: _Element, following: list[Event]) -> list[_Element]:
        after = [event for event in following if element.end < event.start]
        admitted = [event for event in after if theta(seen(element, event))]
        first = min((event.end for event in admitted), default=None)
        found = []
        for event in admitted:
            if event.end == first and rho(now := seen(element, event)):
                new = {name: kept(value(now)) for name, value in values.items()}
                new = {name: value for name, value in new.items() if value is not MISSING}
                found.append(_Element(element.first, event.attributes, new, event.end))
        return found

    def events(feed: Feed) -> list[Event]:
        following = right.events(feed)
        if not b.open:
            following = [
                replace(one, attributes=_only(one.attributes, b.listed)) for one in following
            ]
        elements = [
            _Element(one, one.attributes, _only(one.attributes, targets), one.end)
            for one in left.events(feed)
        ]
        found = []
        while elements:
            grown = [new for one in elements for new in further(one, following)]
            elements = list({one.key: one for one in grown}.values())
            for one in elements:
                first = one.first.attributes
                shown = {renamed(name): value for name, value in first.items() if common(name)}
                shown |= {name: value for name, value in first.items() if not common(name)}
                shown |= {name: value for name, value in one.last.items() if name not in targets}
                shown |= one.aggregates
                found.append(computed(one.first.start, one.end, shown))
        return _set(found)

    return Meaning(schema, events)


def _query(query: Query, scope: Scope) -> Meaning:
    items = query.items
    if query.groups or (isinstance(items, tuple) and is_aggregated(items)):
        assert isinstance(items, tuple)
        window, operand = 0, query.expression
        if isinstance(operand, Window):
            window, operand = operand.length and operand.length.value, operand.operand
        inner = meaning(operand, scope)
        of_groups = aggregated(items, query.groups, window, inner.schema)
        return Meaning(
            Schema(of_groups.names, open=False),
            lambda feed: _set(of_groups.points(inner.events(feed))),
        )
    inner = meaning(query.expression, scope)
    if isinstance(items, Constructor):
        return _list(tuple(Item(Ref(None, name)) for _, name in items.members), inner)
    if items is None or items == (Item(Star()),):
        return inner
    return _list(items, inner)


def _list(items: tuple[Item, ...], inner: Meaning) -> Meaning:
    names = Names({"$1": inner.schema})
    listed, values = [], {}
    for item in items:
        if isinstance(item.value, Star):
            continue
        name = item.alias or (item.value.name if isinstance(item.value, Ref) else None)
        if name is None:
            raise Refused("computed without AS")
        listed.append(name)
        values[name] = scalar(item.value, names)
    unique(listed)
    schema = Schema(tuple(listed), open=False)
    star = any(isinstance(item.value, Star) for item in items)
    if star:
        under = names.sides["$1"]
        mine = (name for name in under.listed if name not in values)
        schema = Schema((*mine, *listed), under.open, under.known - set(listed))

    def mapped(event: Event) -> Event:
        shown = {name: value(_seen(event)) for name, value in values.items()}
        return computed(event.start, event.end, {**(event.attributes if star else {}), **shown})

    return Meaning(schema, lambda feed: _set(mapped(one) for one in inner.events(feed)))
