"""The queries of a job on Spark, and which of them may be evaluated apart from the others: those
that need the same documents together, of a query and of the queries whose results it reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain
from typing import TypeVar

from xscl.engine.engine import Engine
from xscl.errors import QueryStopped
from xscl.language.scan import scan
from xscl.language.syntax import Join, Query, Source, SubQuery
from xscl.queries.subscription import Subscription
from xscl.sources.tables import rows
from xscl.spark.joins.needs import Needs, is_middle, needs_of

__all__ = ["Group", "Queries", "groups_of", "together"]

Q = TypeVar("Q")


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

    def engine(
        self,
        lateness: float | str | None,
        on_stop: Callable[[QueryStopped], object] | None = None,
    ) -> Engine:
        """An engine with these queries; raises an ExceptionGroup of all their errors."""
        engine = Engine(
            lateness=lateness,
            on_skip=_nobody,
            on_stop=on_stop,
            # A cell is made again of its documents, and finds what the watermark decides.
            without={"sequence"},
        )
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


@dataclass(frozen=True, slots=True)
class Group:
    """Queries that are evaluated over the same documents; `queries` are their names, None is all.

    `kind` distinguishes it from the other groups, also from run to run; `streams` are those that
    come from outside and are read.  It is `revising` if one of the queries takes matches back.
    """

    kind: str
    queries: frozenset[str] | None
    needs: Needs
    streams: frozenset[str]
    revising: bool = False

    def keep_to(self, engine: Engine) -> None:
        """Takes all other queries out of an engine."""
        if self.queries is not None:
            for subscription in engine.subscriptions:
                if subscription.name not in self.queries:
                    subscription.cancel()


def groups_of(engine: Engine, kind: Callable[[Needs], str]) -> list[Group]:
    """The queries of an engine in groups: those whose needs are of one kind."""
    by_kind: dict[str, list[tuple[Needs, Sequence[Subscription]]]] = {}
    for part in together(engine.subscriptions, _streams):
        needs = _needs_of(part)
        by_kind.setdefault(kind(needs), []).append((needs, part))
    outside = frozenset(engine.streams)
    groups = []
    for name, members in sorted(by_kind.items()):
        needs = reduce(Needs.either, (of_part for of_part, _ in members))
        queries = [query for _, part in members for query in part]
        streams = outside.intersection(*[{s for query in queries for s in query.streams}])
        names = frozenset(query.name for query in queries) if len(by_kind) > 1 else None
        revising = needs.timed and any(is_middle(query.query) for query in queries)
        groups.append(Group(name, names, needs, streams, revising))
    return groups


def together(
    queries: Sequence[Q], streams: Callable[[Q], tuple[Collection[str], Collection[str]]]
) -> Iterator[list[Q]]:
    """Queries, those together of which one reads what another publishes; `streams` are those that
    a query reads, and those that it publishes to."""
    published = {stream for one in queries for stream in streams(one)[1]}
    if not published:
        yield from ([one] for one in queries)
        return
    by_stream: dict[str, list[Q]] = {}
    for one in queries:
        linked = published.intersection(chain.from_iterable(streams(one)))
        parts = {id(part): part for stream in linked if (part := by_stream.get(stream))}
        merged = [query for part in parts.values() for query in part]
        merged.append(one)
        linked |= {stream for stream, part in by_stream.items() if id(part) in parts}
        by_stream.update(dict.fromkeys(linked, merged))
        if not linked:
            yield [one]
    yield from {id(part): part for part in by_stream.values()}.values()


def _streams(subscription: Subscription) -> tuple[Collection[str], Collection[str]]:
    return subscription.streams, [*_feeds(subscription)]


def _feeds(subscription: Subscription) -> Iterator[str]:
    """The streams that the results of a query and of its sub-queries go to."""
    yield from subscription.feeds
    for inner in subscription.wiring.inner:
        yield from _feeds(inner)


def _needs_of(part: Sequence[Subscription]) -> Needs:
    # Among several names count, and a query of an outline may be one in other names.
    return needs_of([one.query for one in part] if len(part) > 1 else map(_query, part))


def _query(subscription: Subscription) -> Query:
    """The syntax tree of a query, of any that is the same up to names and constants unless these
    are windows, or it is one of events."""
    query = subscription.outline.query
    return subscription.query if _counts_names(query.source) else query


def _counts_names(source: Source) -> bool:
    match source:
        case Join():
            sides = (source.left, source.right)
            return source.window.parameter is not None or any(map(_counts_names, sides))
        case SubQuery():
            return _counts_names(source.query.source)
        case _:
            return source.language.timed
