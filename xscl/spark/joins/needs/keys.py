"""The attribute that all events of a match have in common, by its language: events that differ in
it are in different matches."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.events.walk import parts
from xscl.language.patterns.normal_form import every
from xscl.language.syntax import (
    Compared,
    Composition,
    Described,
    Equivalence,
    EventPattern,
    Events,
    Fold,
    Named,
    Next,
    Query,
    Selected,
    Star,
    Windowed,
)
from xscl.pattern_stage.values.terms import Attribute
from xscl.patterns.compile import attribute

__all__ = ["key_of"]


def key_of(
    query: Query, source: EventPattern | Described | Composition | Events
) -> Attribute | None:
    """The attribute, None where there is none; `source` is the query's."""
    match source:
        case EventPattern():
            return _of_pattern(source)
        case Described():
            return _of_automaton(source)
        case Composition():
            # The next event may be of any key.
            return None
        case Events():
            return _of_events(query, source)


def _of_pattern(source: EventPattern) -> Attribute | None:
    """The first attribute that all events of a match have in common."""
    strict = source.selection is not None and source.selection.strategy == "strict_contiguity"
    if strict or any(one.any for one in source.components):
        return None
    for conjunct in every(source.condition):
        if isinstance(conjunct, Equivalence) and conjunct.constant is None:
            found = attribute(conjunct.attribute)
            if found.own is None:
                return found
    return None


def _of_automaton(source: Described) -> Attribute | None:
    names = [name for name in source.automaton.by if name.isidentifier()]
    return Attribute((names[0],)) if names else None


def _of_events(query: Query, source: Events) -> Attribute | None:
    """An attribute that all events have in common of which an output is made, and that the output
    has: equal outputs are one."""
    grouping = source.grouping
    groups = None if grouping is None else {name.text for name in grouping.names}
    names = groups
    for one in parts(source.expression):
        some: set[str] | None = None
        if isinstance(one, Next | Fold):
            some = {*_equal(one)}
        elif isinstance(one, Windowed):
            some = groups or set()
        if some is not None:
            names = some if names is None else names & some
    select = query.select
    if isinstance(select, tuple) and names:
        items = [item.path.value for item in select if isinstance(item.path, Selected)]
        if not any(isinstance(item, Star) for item in items):
            names = names & {item.name for item in items if isinstance(item, Named)}
    elif select is not None:
        return None
    return Attribute((min(names),)) if names else None


def _equal(one: Next | Fold) -> Iterator[str]:
    """The attributes that are the same in the next event."""
    made = {item.alias.text for item in one.aggregates} if isinstance(one, Fold) else set()
    for conjunct in every(one.condition):
        match conjunct:
            case Compared("=", Named(deco=first, name=name), Named(deco=second, name=other)):
                sides = {first, second}
                before = sides - {"$2"}
                fits = before == {"$1"} or (isinstance(one, Fold) and before == {"$"})
                if "$2" in sides and fits and name == other and name not in made:
                    yield name
