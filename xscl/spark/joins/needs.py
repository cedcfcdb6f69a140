"""What one match needs: how many documents, from how long, and by which key they are together.

By that a stream is cut into cells.  A join needs some documents together, of no matter how many
others.  A query of events needs all events of its time, or at least all those that have one key:
what is between two events, or what is absent, decides with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

from xscl.language.automata.check import within_of
from xscl.language.eql.walk import events_of, name_of
from xscl.language.events.walk import conditions, parts, read_by
from xscl.language.syntax import (
    Block,
    Compared,
    Composition,
    Described,
    Duration,
    Equivalence,
    EventOf,
    EventPattern,
    Events,
    Every,
    Expression,
    Filtered,
    Fold,
    Join,
    Named,
    Next,
    Occurring,
    Query,
    Selected,
    Sequenced,
    Source,
    Star,
    SubQuery,
    Window,
    Windowed,
)
from xscl.pattern_stage.values.terms import Attribute
from xscl.patterns.compile import attribute
from xscl.times import span

__all__ = ["MIDDLE", "Needs", "is_middle", "needs_of", "sub_queries"]


MIDDLE = (
    "found CONSISTENCY middle over a stream: what Spark has written is not taken back; write "
    "CONSISTENCY strong, or weak"
)


class Needs(NamedTuple):
    """What one match needs: documents at most, the time between any two of them at most
    (microseconds, None without bound), and whether a published result is among them.

    A match that is `timed` is one of events: it needs all documents of that time, but for those
    that differ from it in the attribute `key`."""

    width: int
    reach: int | None
    derived: bool
    timed: bool = False
    key: Attribute | None = None

    def alongside(self, other: Needs, window: int | None) -> Needs:
        """What two sides need that are joined within a window."""
        reach = _sum(self.reach, other.reach, window)
        derived, timed = self.derived or other.derived, self.timed or other.timed
        return Needs(self.width + other.width, reach, derived, timed)

    def either(self, other: Needs) -> Needs:
        """What is enough for both."""
        return Needs(
            max(self.width, other.width),
            _most(self.reach, other.reach),
            self.derived or other.derived,
            self.timed or other.timed,
            self.key if self.key == other.key else None,
        )

    @property
    def bounded(self) -> str:
        """Whether time bounds it, in a word."""
        of_events = "events, " * self.timed
        return of_events + ("endless" if self.reach is None else "bounded")

    @property
    def said(self) -> str:
        """All but the reach, in words."""
        if self.timed:
            return f"{self.bounded}{self.by}"
        return f"{self.bounded}, {self.width} documents{', derived' * self.derived}"

    @property
    def by(self) -> str:
        """The key, in words."""
        if self.key is None:
            return ""
        return f", by {'/'.join(self.key.steps)}{f'@{a}' if (a := self.key.attribute) else ''}"

    @property
    def how_long(self) -> str:
        """The reach, in words."""
        return "without end" if self.reach is None else f"within {span(self.reach)}"


_DOCUMENT = Needs(1, 0, False)


def needs_of(queries: Iterable[Query]) -> Needs:
    """What the widest match needs of queries of which one may read what another publishes."""
    queries = [*queries]
    publishers: dict[str, list[Query]] = {}
    left = [*queries]
    while left:
        query = left.pop()
        left += (one.query for one in sub_queries(query.source))
        if query.publish is not None:
            publishers.setdefault(query.publish.text, []).append(query)
    known: dict[str, Needs] = {}

    def of_stream(stream: str) -> Needs:
        if stream not in known:
            needs = _DOCUMENT
            for query in publishers.get(stream, ()):
                needs = needs.either(of_source(query))._replace(derived=True)
            known[stream] = needs
        return known[stream]

    def of_source(query: Query) -> Needs:
        return _of_source(query, query.source, of_stream)

    needs = reduce(Needs.either, map(of_source, queries), of_source(queries[0]))
    # A query's key need not be in what it publishes.
    return needs._replace(key=None) if len(queries) > 1 else needs


def is_middle(query: Query) -> bool:
    """Whether a query, or one that it reads in parentheses, may take matches back."""
    written = getattr(query.source, "consistency", None)
    if isinstance(query.source, Described):
        written = query.source.automaton.consistency
        return written is not None and written.lstrip().lower().startswith("middle")
    if written is not None and written.level == "middle":
        return True
    return any(is_middle(one.query) for one in sub_queries(query.source))


def sub_queries(source: Source) -> Iterator[SubQuery]:
    """The sub-queries of a source, without those in these."""
    match source:
        case SubQuery():
            yield source
        case Join():
            yield from sub_queries(source.left)
            yield from sub_queries(source.right)
        case Events():
            yield from (one for one in read_by(source.expression) if isinstance(one, SubQuery))
        case Composition():
            for event in events_of(source.pattern):
                if isinstance(event.block, SubQuery):
                    yield event.block


OfStream = Callable[[str], Needs]


def _of_source(query: Query, source: Source, of_stream: OfStream) -> Needs:
    blocks: list[Any]
    match source:
        case Block():
            return of_stream(source.stream.text)
        case SubQuery():
            inner = _of_source(source.query, source.query.source, of_stream)
            return inner._replace(derived=True, key=None)
        case Join():
            left = _of_source(query, source.left, of_stream)
            right = _of_source(query, source.right, of_stream)
            return left.alongside(right, source.window.length)
        case EventPattern():
            blocks = [block for one in source.components for block in one.types]
            own, key = _of_pattern(source), _key_of_pattern(source)
        case Described():
            blocks = [*source.blocks]
            own, key = within_of(source.automaton), _key_of_automaton(source)
        case Composition():
            blocks = [event.block for event in events_of(source.pattern)]
            own, key = _of_composition(source), None
        case Events():
            blocks = [*read_by(source.expression)]
            own, key = _of_events(source.expression), _key_of_events(query, source)
    below = [
        _of_source(query, one, of_stream) for one in blocks if isinstance(one, Block | SubQuery)
    ]
    read = reduce(Needs.either, below, _DOCUMENT)
    # An event of a path may not be the only one in its document, nor have a document's key.
    plain = not read.derived and all(isinstance(one, Block) and not one.steps for one in blocks)
    return Needs(1, _sum(own, read.reach), read.derived, True, key if plain else None)


def _sum(*lengths: int | None) -> int | None:
    return None if None in lengths else sum(one for one in lengths if one is not None)


def _most(*lengths: int | None) -> int | None:
    return None if None in lengths else max(one for one in lengths if one is not None)


# Patterns


def _of_pattern(source: EventPattern) -> int | None:
    # Which matches overlap depends on all that came before.
    return None if source.window is None or source.non_overlapping else source.window.length


def _key_of_pattern(source: EventPattern) -> Attribute | None:
    """The first attribute that all events of a match have in common."""
    strict = source.selection is not None and source.selection.strategy == "strict_contiguity"
    if strict or any(one.any for one in source.components):
        return None
    for conjunct in _conjuncts(source.condition):
        if isinstance(conjunct, Equivalence) and conjunct.constant is None:
            found = attribute(conjunct.attribute)
            if found.own is None:
                return found
    return None


def _conjuncts(condition: object) -> Iterator[object]:
    if isinstance(condition, Every):
        yield from condition.parts
    elif condition is not None:
        yield condition


# Automata


def _key_of_automaton(source: Described) -> Attribute | None:
    names = [name for name in source.automaton.by if name.isidentifier()]
    return Attribute((names[0],)) if names else None


# EQL


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
        for one in _conjuncts(qualification.condition)
        if isinstance(one, Occurring)
    ]
    for _ in names:
        for ends, length in windows:
            for name in ends:
                (other,) = ends - {name} or {name}
                if name in ways and length is not None:
                    ways[other] = min(ways.get(other, ways[name] + length), ways[name] + length)
    return ways.get(names[-1])


# Event queries


def _of_events(expression: Expression) -> int | None:
    """How far back an event query looks from the end of what it finds: as long as its composites
    are, and in addition as its windows are."""
    return _sum(_extent(expression), _windows(expression))


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
            return _most(_extent(expression.left), _extent(expression.right))


def _windows(expression: Expression) -> int | None:
    match expression:
        case Windowed(window=window, operand=operand):
            return _sum(window.length, _of_events(operand))
        case Filtered(operand=operand):
            return _windows(operand)
        case Block() | SubQuery():
            return 0
        case _:
            return _most(_windows(expression.left), _windows(expression.right))


def _durations(expression: Expression) -> Iterator[int]:
    """The bounds on the DUR of what an operator makes, from above."""
    for condition in conditions(expression):
        for one in _conjuncts(condition):
            match one:
                case Compared(
                    "<" | "<=" | "=", Duration(None), Window(length=int(length))
                ) | Compared(">" | ">=" | "=", Window(length=int(length)), Duration(None)):
                    yield length


def _key_of_events(query: Query, source: Events) -> Attribute | None:
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
    for conjunct in _conjuncts(one.condition):
        match conjunct:
            case Compared("=", Named(deco=first, name=name), Named(deco=second, name=other)):
                sides = {first, second}
                before = sides - {"$2"}
                fits = before == {"$1"} or (isinstance(one, Fold) and before == {"$"})
                if "$2" in sides and fits and name == other and name not in made:
                    yield name
