"""The queries of a join on Spark, and which of them may be evaluated apart from the others.

Queries need the same documents together that one match may be made of: those of a query, and those
of the queries whose results it reads.  How many these are (`width`), and how far apart in time
(`reach`), decides into which cells a stream can be cut for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import NamedTuple

from xscl.engine.engine import Engine
from xscl.errors import XSCLError
from xscl.language.scan import scan
from xscl.language.syntax import Block, Join, Query, Source, SubQuery
from xscl.queries.subscription import Subscription
from xscl.sources.tables import rows

__all__ = ["Group", "Needs", "Queries", "groups_of"]


@dataclass(frozen=True)
class Queries:
    """Query texts with the tables of their parameters, as tasks get them."""

    texts: Sequence[str]
    tables: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: str | Iterable[str], params: Mapping[str, object] | None = None) -> Queries:
        """Those of one text or several; `params` has a table for each query with parameters, by
        its name."""
        texts = (texts,) if isinstance(texts, str) else tuple(texts)
        return cls(texts, {name: list(rows(table)) for name, table in (params or {}).items()})

    @cached_property
    def digest(self) -> str:
        """Distinguishes them from all others."""
        said = json.dumps([[*self.texts], self.tables], default=repr, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def engine(self, lateness: float | str | None) -> Engine:
        """An engine with these queries; raises an ExceptionGroup of all their errors."""
        engine = Engine(lateness=lateness, on_skip=_nobody)
        for text in self.texts:
            engine.load(text, tables=self.tables_of(text))
        return engine

    def load_missing(self, engine: Engine) -> None:
        """Subscribes those whose names an engine does not have."""
        for text in self.texts:
            # Where a name is there already it is refused, and that query stays as it is.
            engine.load_good(text, tables=self.tables_of(text))

    def tables_of(self, text: str) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """The tables of a text's queries; with one text, of whatever name."""
        if len(self.texts) == 1 or not self.tables:
            return self.tables
        named = {statement.name for statement in scan(text).statements}
        return {name: table for name, table in self.tables.items() if name in named}


def _nobody(error: object) -> None:
    """Documents that cannot be read have been reported when they were first looked at."""


class Needs(NamedTuple):
    """What one match needs: documents at most, the time between any two of them at most
    (microseconds, None without bound), and whether a published result is among them."""

    width: int
    reach: int | None
    derived: bool

    def alongside(self, other: Needs, window: int | None) -> Needs:
        """What two sides need that are joined within a window."""
        bounds = (self.reach, other.reach, window)
        reach = None if None in bounds else sum(bound for bound in bounds if bound is not None)
        return Needs(self.width + other.width, reach, self.derived or other.derived)

    def either(self, other: Needs) -> Needs:
        """What is enough for both."""
        reach = None if self.reach is None or other.reach is None else max(self.reach, other.reach)
        return Needs(max(self.width, other.width), reach, self.derived or other.derived)

    @property
    def bounded(self) -> str:
        """Whether time bounds it, in a word."""
        return "endless" if self.reach is None else "bounded"

    @property
    def said(self) -> str:
        """All but the reach, in words."""
        return f"{self.bounded}, {self.width} documents{', derived' * self.derived}"


_DOCUMENT = Needs(1, 0, False)


@dataclass(frozen=True, slots=True)
class Group:
    """Queries that are evaluated over the same documents; `queries` are their names, None is all.

    `kind` distinguishes it from the other groups, also from run to run; `streams` are those that
    come from outside and are read.
    """

    kind: str
    queries: frozenset[str] | None
    needs: Needs
    streams: frozenset[str]

    def keep_to(self, engine: Engine) -> None:
        """Takes all other queries out of an engine."""
        if self.queries is not None:
            for subscription in engine.subscriptions:
                if subscription.name not in self.queries:
                    subscription.cancel()


def groups_of(engine: Engine, kind: Callable[[Needs], str]) -> list[Group]:
    """The queries of an engine in groups: those whose needs are of one kind."""
    by_kind: dict[str, list[tuple[Needs, Sequence[Subscription]]]] = {}
    for part in _together(engine.subscriptions):
        needs = _needs_of(part)
        by_kind.setdefault(kind(needs), []).append((needs, part))
    outside = frozenset(engine.streams)
    groups = []
    for name, members in sorted(by_kind.items()):
        needs = reduce(Needs.either, (of_part for of_part, _ in members))
        queries = [query for _, part in members for query in part]
        streams = outside.intersection(*[{s for query in queries for s in query.streams}])
        names = frozenset(query.name for query in queries) if len(by_kind) > 1 else None
        groups.append(Group(name, names, needs, streams))
    return groups


def _together(subscriptions: Sequence[Subscription]) -> Iterator[list[Subscription]]:
    """The queries, those together of which one reads what another publishes."""
    published = {stream for one in subscriptions for stream in one.feeds}
    if not published:
        yield from ([one] for one in subscriptions)
        return
    by_stream: dict[str, list[Subscription]] = {}
    for one in subscriptions:
        linked = published & {*one.streams, *one.feeds}
        parts = {id(part): part for stream in linked if (part := by_stream.get(stream))}
        merged = [query for part in parts.values() for query in part]
        merged.append(one)
        streams = linked | {s for s, part in by_stream.items() if id(part) in parts}
        by_stream.update(dict.fromkeys(streams, merged))
        if not linked:
            yield [one]
    yield from {id(part): part for part in by_stream.values()}.values()


def _needs_of(part: Sequence[Subscription]) -> Needs:
    """What the widest match of some queries needs."""
    # Among several names count, and a query of an outline may be one in other names.
    queries = [one.query for one in part] if len(part) > 1 else [*map(_query, part)]
    publishers: dict[str, list[Query]] = {}
    for query in queries:
        if query.publish is not None:
            publishers.setdefault(query.publish.text, []).append(query)
    known: dict[str, Needs] = {}

    def of_stream(stream: str) -> Needs:
        if stream not in known:
            needs = _DOCUMENT
            for query in publishers.get(stream, ()):
                needs = needs.either(of_source(query.source))._replace(derived=True)
            known[stream] = needs
        return known[stream]

    def of_source(source: Source) -> Needs:
        match source:
            case Block():
                return of_stream(source.stream.text)
            case SubQuery():
                return of_source(source.query.source)._replace(derived=True)
            case Join():
                sides = of_source(source.left), of_source(source.right)
                return sides[0].alongside(sides[1], source.window.length)
            case _:
                raise XSCLError("patterns of events do not run on Spark; write a join")

    needs = _DOCUMENT
    for query in queries:
        needs = needs.either(of_source(query.source))
    return needs


def _query(subscription: Subscription) -> Query:
    """The syntax tree of a query, of any that is the same up to names and constants unless these
    are windows."""
    query = subscription.outline.query
    return subscription.query if _has_open_window(query.source) else query


def _has_open_window(source: Source) -> bool:
    match source:
        case Join():
            sides = (source.left, source.right)
            return source.window.parameter is not None or any(map(_has_open_window, sides))
        case SubQuery():
            return _has_open_window(source.query.source)
        case _:
            return False
