"""What an engine must report for event queries, step by step.

Each query sees the documents that come after it, and results of others when they are reported.  A
query of FILTER, SELECT lists and UNION only reports its matches immediately, any other once the
watermark is past them, each once; a weak one reports what follows from what it has seen, and
ignores what is before that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from tests.oracle.event_algebra.aggregates import is_aggregated
from tests.oracle.event_algebra.documents import Event, Tree, events_of_block, tree_of
from tests.oracle.event_algebra.expressions import Meaning, Scope, meaning
from tests.oracle.event_algebra.schemas import Refused
from tests.oracle.event_algebra.syntax import (
    Block,
    Constructor,
    Declared,
    Expression,
    Filter,
    Fold,
    Item,
    Next,
    Query,
    Star,
    Union,
    Window,
)
from tests.oracle.event_algebra.values import canonical, text_of

__all__ = ["Match", "Model", "evaluate"]


class Match(NamedTuple):
    """Times in microseconds; the result by its text, and the documents, `*` one of a query."""

    query: str
    start: int
    time: int
    result: str
    documents: tuple[str, ...]


@dataclass(frozen=True)
class _Document:
    """A document of a stream, and the step in which it came."""

    name: tuple[object, ...]
    tree: Tree
    start: int
    end: int
    step: int
    id: str


@dataclass(eq=False)
class _Standing:
    """A query, or a sub-query that publishes; it sees what comes after its step and, all together
    before that, what was `retained`."""

    query: Query
    meaning: Meaning
    names: tuple[str, ...] | None
    since: int
    reported: bool
    reports_immediately: bool
    copies: bool
    weak: bool
    retained: frozenset[tuple[object, ...]] = frozenset()
    done: set[tuple[object, ...]] = field(default_factory=set)


def _is_copy(query: Query, declared: Container[str]) -> bool:
    """Whether a query selects the documents of a block, with no word of event queries."""
    block = query.expression
    if not isinstance(block, Block) or block.stream in declared:
        return False
    return query.items is None or query.items == (Item(Star()),)


def _immediate(expression: Expression) -> bool:
    match expression:
        case Block():
            return True
        case Filter(_, operand):
            return _immediate(operand)
        case Union(left, right):
            return _immediate(left) and _immediate(right)
        case Query(_, inner, items, groups):
            plain = not groups and not (isinstance(items, tuple) and is_aggregated(items))
            return plain and _immediate(inner)
    return False


def _blocks(expression: Expression) -> Iterator[Block]:
    match expression:
        case Block():
            yield expression
        case Filter(_, operand) | Window(_, operand):
            yield from _blocks(operand)
        case Query():
            yield from _blocks(expression.expression)
        case Next() | Fold() | Union():
            yield from _blocks(expression.left)
            yield from _blocks(expression.right)


def _streams(expression: Expression) -> Iterator[str]:
    return (block.stream for block in _blocks(expression))


class Model:
    """The outside of an engine; `lateness` in microseconds, None that nothing is late."""

    def __init__(self, lateness: int | None = None) -> None:
        self.lateness = lateness
        self.watermark = -math.inf
        self._ended = -math.inf
        self.step = 0
        self._standing: list[tuple[str, _Standing]] = []
        self._documents: dict[str, list[_Document]] = defaultdict(list)
        self._seen: set[tuple[str, str]] = set()

    # Queries

    def subscribe(
        self, text: Declared, *, retained: Collection[tuple[str, str]] | None = None
    ) -> list[Match]:
        """Adds the queries of a text, in their order; those that look back see the documents
        `retained`, by stream and id, and may report them."""
        before = frozenset(retained or ())
        for query in text.queries:
            inner: list[tuple[Query, Meaning]] = []
            names_of = partial(self.names, declared=text.streams)
            what = meaning(query, Scope(names_of, lambda *one, to=inner: to.append(one)))
            for publishing, its in inner:
                if publishing is not query:
                    # It goes by the level of the query around it.
                    of_level = replace(publishing, weak=query.weak)
                    self._add(query.name, of_level, its, before, reported=False, copies=False)
            copies = _is_copy(query, text.streams)
            self._add(query.name, query, what, before, reported=True, copies=copies)
            try:
                self._order()
            except Refused:
                self.cancel(query.name)
                raise
        # What the input's end has made final, is so for those that look back, too.
        return [] if retained is None else self._report(max(self.watermark, self._ended))

    def _add(
        self,
        owner: str,
        query: Query,
        what: Meaning,
        before: frozenset[tuple[object, ...]],
        *,
        reported: bool,
        copies: bool,
    ) -> None:
        closed = not (what.schema.open or copies or isinstance(query.items, Constructor))
        names = what.schema.listed if closed else None
        immediate = query.weak or _immediate(query)
        since, weak = self.step, query.weak
        standing = _Standing(query, what, names, since, reported, immediate, copies, weak, before)
        self._standing.append((owner, standing))

    @property
    def subscribed(self) -> list[str]:
        """The names of queries."""
        return list(dict.fromkeys(name for name, _ in self._standing))

    def cancel(self, name: str) -> None:
        self._standing = [one for one in self._standing if one[0] != name]

    def reads_published(self, query: Query) -> bool:
        """Whether a query reads what others publish."""
        return not {*self.published}.isdisjoint(_streams(query.expression))

    @property
    def published(self) -> list[str]:
        """The streams that queries publish to."""
        return sorted({one.query.publish for _, one in self._standing if one.query.publish})

    def names(self, stream: str, declared: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
        """The names of a stream where it is closed."""
        if stream in declared:
            return tuple(declared[stream])
        publishing = [one.names for _, one in self._standing if one.query.publish == stream]
        first = publishing[0] if publishing else None
        if first is None or any(one is None or set(one) != set(first) for one in publishing):
            return None
        return first

    def _order(self) -> list[_Standing]:
        """Publishers before readers."""
        order: list[_Standing] = []
        waiting = [one for _, one in self._standing]
        while waiting:
            unread = {one.query.publish for one in waiting} - {None}
            ready = [one for one in waiting if not unread & set(_streams(one.query.expression))]
            if not ready:
                raise Refused("a cycle")
            order += ready
            waiting = [one for one in waiting if one not in ready]
        return order

    # Documents

    def publish(self, envelopes: Sequence[Mapping[str, Any]]) -> list[Match]:
        """A batch; what is late or there already is skipped."""
        self.step += 1
        for envelope in envelopes:
            end = _microseconds(envelope["timestamp"])
            start = _microseconds(envelope.get("start", envelope["timestamp"]))
            name = (envelope["stream"], envelope["id"])
            if end < self.watermark or name in self._seen:
                continue
            self._seen.add(name)
            document = _Document(name, tree_of(envelope), start, end, self.step, envelope["id"])
            self._documents[envelope["stream"]].append(document)
            if self.lateness is not None:
                self.watermark = max(self.watermark, end - self.lateness)
        return self._report(self.watermark)

    def advance(self, time: int) -> list[Match]:
        self.step += 1
        self.watermark = max(self.watermark, time)
        return self._report(self.watermark)

    def flush(self) -> list[Match]:
        """As if all had come."""
        self.step += 1
        ends = (one.end for some in self._documents.values() for one in some)
        self._ended = max(ends, default=-math.inf) + 1
        return self._report(math.inf)

    # Matches

    def _report(self, watermark: float) -> list[Match]:
        return [match for one in self._order() for match in self._of(one, watermark)]

    def _of(self, standing: _Standing, watermark: float) -> Iterator[Match]:
        query, feed = standing.query, self._feed(standing)
        for event in standing.meaning.events(lambda block: self._events(block, feed)):
            key = (event.key, event.start, event.end)
            if key in standing.done or not (standing.reports_immediately or event.end < watermark):
                continue
            standing.done.add(key)
            tree = self._result(standing, event)
            if query.publish is not None:
                name = (query.name, id(standing), *key)
                document = _Document(name, tree, event.start, event.end, self.step, "*")
                self._documents[query.publish].append(document)
            if standing.reported:
                documents = () if event.document is None else (event.document,)
                yield Match(query.name, event.start, event.end, _result(standing, tree), documents)

    def _feed(self, standing: _Standing) -> Mapping[str, Sequence[_Document]]:
        """The documents that a query sees, by stream."""
        blocks = set(_blocks(standing.query.expression))
        streams = {block.stream for block in blocks}
        feed = {
            stream: [
                one
                for one in self._documents[stream]
                if one.step > standing.since or one.name in standing.retained
            ]
            for stream in streams
        }
        if not standing.weak:
            return feed
        seen: dict[str, list[_Document]] = {stream: [] for stream in streams}
        newest = -math.inf
        for step in range(standing.since, self.step + 1):
            some = [
                (stream, one)
                for stream in streams
                for one in feed[stream]
                if max(one.step, standing.since) == step and one.end >= newest
            ]
            for stream, one in some:
                seen[stream].append(one)
                if any([*self._events(block, {stream: [one]})] for block in blocks):
                    newest = max(newest, one.end)
        return seen

    def _events(self, block: Block, feed: Mapping[str, Sequence[_Document]]) -> Iterator[Event]:
        for one in feed.get(block.stream, ()):
            yield from events_of_block(block, one.tree, one.start, one.end, one.name, one.id)

    def _result(self, standing: _Standing, event: Event) -> Tree:
        query = standing.query
        if standing.copies:
            return next(
                one.tree
                for some in self._documents.values()
                for one in some
                if one.name == event.key
            )
        if not isinstance(query.items, Constructor):
            return tree_of({"json": dict(event.attributes)})
        members = query.items.members
        if query.items.tag is None:
            return tree_of({"json": {to: event.attributes.get(of) for to, of in members}})
        children = [
            Tree(to, text_of(event.attributes[of]) if of in event.attributes else "")
            for to, of in members
        ]
        return Tree(query.items.tag, "".join(one.value for one in children), children)


def _result(standing: _Standing, tree: Tree) -> str:
    query = standing.query
    if isinstance(query.items, Constructor) and query.items.tag is not None:
        return f"<{tree.name}>{[(one.name, one.value) for one in tree.children]}"
    if standing.copies and (tree.children or tree.attributes) and isinstance(tree.value, str):
        return "*"
    return canonical(tree.value)


def _microseconds(time: float) -> int:
    return round(time * 1_000_000)


def evaluate(
    text: Declared, envelopes: Sequence[Mapping[str, Any]], size: int | None = None
) -> list[Match]:
    """All matches of a text over documents that come together, or so many at a time."""
    model = Model()
    model.subscribe(text)
    size = size or max(1, len(envelopes))
    found: list[Match] = []
    for start in range(0, len(envelopes), size):
        found += model.publish(envelopes[start : start + size])
    return [*found, *model.flush()]
