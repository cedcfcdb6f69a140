"""The subscribed queries of an engine, by name.

A query goes in by its disjuncts, which are registered with the stages; those that are alike but for
constants go in as one shared query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xscl.consistency import Level
from xscl.documents.composites import DerivedStream
from xscl.documents.retention import Shape
from xscl.errors import QueryError, StateError, XSCLError, line_and_column
from xscl.queries.callbacks import OnMatch
from xscl.queries.constant_table import Asked, ConstantTable, SharedDisjunct
from xscl.queries.levels.pattern_levels import PatternLevels
from xscl.queries.levels.pattern_memory import memories_in, text_of_memory
from xscl.queries.pending import Pending
from xscl.queries.schemas import Schemas
from xscl.queries.stage_registration import QueryReader, StageRegistration
from xscl.queries.stream_graph import StreamGraph, edges_of
from xscl.queries.subscription import Subscription
from xscl.xpath_stage import XPathEvaluator, foreign_character

if TYPE_CHECKING:
    from xscl.dissection.parts import Disjunct, Dissection
    from xscl.documents.revisable import Revisable
    from xscl.language.alike import TextPlace
    from xscl.language.parameters import Prepared
    from xscl.language.syntax import Query
    from xscl.pattern_stage.memory import Memory
    from xscl.patterns.compile_automaton import CompiledAutomaton
    from xscl.queries.shared_query import SharedQueries, SharedQuery
    from xscl.queries.wiring import Wiring

__all__ = ["Catalogue"]


class Catalogue:
    """Subscriptions by name.

    `stages` and, of patterns and event queries, `levels` have what they are registered with,
    `graph` the streams that they read and publish, `schemas` what event queries publish there, and
    `shared` the queries that several of them share.  `cancel` is called by `Subscription.cancel`.
    """

    def __init__(
        self,
        xpath: XPathEvaluator,
        stages: StageRegistration,
        patterns: PatternLevels,
        cancel: Callable[[Subscription], None],
    ) -> None:
        self._xpath = xpath
        self.stages = stages
        self.patterns = patterns
        self.levels = patterns.levels
        self._cancel = cancel
        self.graph = StreamGraph()
        self.schemas = Schemas()
        self._by_name: dict[str, Subscription] = {}
        self._feeding: dict[Subscription, None] = {}
        """Queries that publish, whose matches may be taken back."""
        self._lowest, self._looked_at = 0, (-1, -1)
        self._remembered: dict[int, tuple[Memory, str]] = {}

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def named(self, name: str) -> Subscription:
        """The subscription of a name; raises StateError if there is none."""
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            raise StateError(f"no query is named {name!r}; there are: {known}")
        return self._by_name[name]

    @cached_property
    def shared(self) -> SharedQueries:
        """The queries that several subscriptions share."""
        from xscl.queries.shared_query import SharedQueries

        return SharedQueries()

    def automaton(self, name: str) -> CompiledAutomaton:
        """The automaton of a name; raises StateError if there is none, XSCLError for another
        query."""
        from xscl.patterns.compile_automaton import CompiledAutomaton

        pattern = self.named(name).wiring.pattern
        if not isinstance(pattern, CompiledAutomaton):
            raise XSCLError(f"query {name!r} is no automaton: it has no arcs that could change")
        return pattern

    # Coming and going.

    def check_name(self, query: Query) -> None:
        """Raises QueryError if a query cannot have its name."""
        problem = self.misnamed(query.name)
        if problem is not None:
            raise QueryError(problem, query=query.name, text=query.text, at=_name_place(query))

    def misnamed(self, name: str) -> str | None:
        """Why no query can have a name, if none can."""
        if not name.strip() or len(name.splitlines()) > 1:
            return f"found the name {name!r}; a query's name is a line of text"
        if (alien := foreign_character(name)) is not None:
            return f"found a name with {alien}"
        taken = self._by_name.get(name)
        if taken is None:
            return None
        line, column = line_and_column(taken.query.text, _name_place(taken.query))
        return (
            f"the name {name!r} is taken by the query at line {line}, column {column} "
            "of its text; choose another or cancel that one"
        )

    def add(
        self,
        dissection: Dissection,
        since: int,
        on_match: OnMatch | None,
        place: TextPlace | None = None,
    ) -> Subscription:
        """Subscribes a query under its name, which is free; it sees the documents from number
        `since` on.  Its text is at `place`, where that is not the text that was parsed.  Raises
        QueryError if it would close a cycle of streams."""
        self.graph.check(dissection)
        self._check_sub_queries(dissection)
        wiring = self._wiring(dissection, None, since, self.levels.default)
        return self.add_alike(wiring, dissection.query.name, since, on_match, place)

    def _check_sub_queries(self, dissection: Dissection) -> None:
        """Raises QueryError where a sub-query has the name of another query's, as those of `p` and
        `p(1)` may: their streams go by their names."""
        for one in dissection.everything():
            for stream, inner in (*one.subqueries, *one.publishing):
                if self.graph.read[stream]:
                    query, name = dissection.query, inner.query.name
                    problem = f"a sub-query of another query is {name!r}, too; rename this query"
                    raise QueryError(
                        problem, query=query.name, text=query.text, at=_name_place(query)
                    )

    def alike(self, prepared: Prepared) -> Wiring | None:
        """What the subscriptions of a query have in common that differ in their names alone."""
        return self.shared.wiring(prepared, self._cancel, self.schemas.of, self.levels.default)

    def since_before(self, position: int, retained: int) -> int:
        """In place of the number of the first document that a query sees that of one which sees
        what is retained, when so many documents are and `position` have come: a number below 0.
        Only queries that look back at the same documents have the same."""
        if self._looked_at != (position, retained):
            self._looked_at = position, retained
            self._lowest = min([self._lowest, *[one.since for one in self]]) - 1
        return self._lowest

    def add_alike(
        self,
        wiring: Wiring,
        name: str,
        since: int,
        on_match: OnMatch | None,
        place: TextPlace | None = None,
    ) -> Subscription:
        """Subscribes a query under a name, as `add` does, given what it has in common with
        others."""
        self.graph.add(wiring.dissection)
        subscription = self._subscribe(wiring, name, since, on_match, place)
        self._by_name[name] = subscription
        if self.levels:
            feeds = any(True for _ in edges_of(wiring.dissection))
            self.levels.place(self.graph.level, again=feeds)
        self.schemas.add(subscription)
        return subscription

    def add_shared(
        self,
        shared: SharedQuery,
        row: Mapping[str, object],
        name: str,
        since: int,
        on_match: OnMatch | None,
        place: TextPlace | None = None,
    ) -> Subscription:
        """Subscribes a shared query with a row of values, which are right, as `add` does."""
        if shared.wiring is None:
            self._register_shared(shared, name, since)
        assert shared.wiring is not None
        (order,) = self.stages.take_numbers(1)
        values = shared.values(row)
        subscription = Subscription(name, shared.wiring, order, since, on_match, values, place)
        shared.size += 1
        if shared.wiring.events is not None:
            self.levels.subscribe(shared.wiring.events, subscription)
            if shared.wiring.events.level is None:
                self.levels.place(self.graph.level, again=False)
        for disjunct in shared.disjuncts:
            for asked in disjunct.table.asked:
                self._xpath.constants.register(asked.family, asked.constant(subscription))
            disjunct.table.add(subscription)
        self._by_name[name] = subscription
        return subscription

    def attach(self, subscription: Subscription, on_match: OnMatch | None) -> None:
        """Gives a subscription another callback."""
        if subscription.wiring.events is not None:
            self.levels.called += (on_match is not None) - (subscription.on_match is not None)
        subscription.on_match = on_match

    def remove(self, subscription: Subscription) -> bool:
        """Takes a subscription out; False if it was not in."""
        if self._by_name.get(subscription.name) is not subscription:
            return False
        del self._by_name[subscription.name]
        from xscl.queries.shared_query import SharedQuery

        source = subscription.wiring.source
        if isinstance(source, SharedQuery):
            subscription.active = False
            self._remove_shared(source, subscription)
        else:
            self.graph.remove(subscription.wiring.dissection)
            self.schemas.remove(subscription)
            self._unsubscribe(subscription)
        return True

    def reach(self, shape: Shape) -> int | None:
        """How long a shape of documents or composites can be reached by a query after the
        watermark (microseconds); None if nothing reads it."""
        match shape:
            case DerivedStream():
                return self.stages.reach(shape) if shape.uses else None
            case (str(stream), frozenset() as leaves):
                if not self.graph.read[stream]:
                    return None
                return max(self.stages.reach(leaves), self.patterns.reach_of_stream(stream))
        raise TypeError(shape)

    def remembered(self) -> dict[str, str]:
        """What patterns must remember over a restart, by name, as texts."""
        nodes, memories, known = self.patterns.nodes, self.levels.memories, self._remembered
        self._remembered = {
            number: known[number]
            if number in known and known[number][0] == memory
            else (memory, text_of_memory(memory, nodes))
            for number, memory in memories.items()
        }
        return {self._pattern(one): text for one, (_, text) in self._remembered.items()}

    def memories_in(self, remembered: Mapping[str, str]) -> dict[int, Memory]:
        """What patterns remember, by number, given these texts."""
        names = {self._pattern(one): one for one in self.levels.patterns if remembered}
        texts = {names[name]: text for name, text in remembered.items() if name in names}
        return memories_in(texts, self.patterns.nodes)

    def changed_arcs(self) -> dict[str, str]:
        """The arcs of automata that have changed, by name, as they are kept over a restart."""
        return {self._pattern(one): text for one, text in self.levels.changed_arcs()}

    def recall_arcs(self, texts: Mapping[str, str]) -> None:
        """Gives automata the arcs of these texts; the levels must be made again then."""
        from xscl.patterns.change_arcs import arcs_in

        for name, text in texts.items():
            compiled = self.automaton(name)
            compiled.now = arcs_in(text, compiled.automaton)
            self.levels.changed[self.named(name).order] = compiled.now, text

    def _pattern(self, number: int) -> str:
        """The name of a pattern."""
        return self.stages.reader(number).owner.name  # type: ignore[union-attr]

    def pending(self) -> dict[str, Pending]:
        """The matches of each query that are found once no earlier event can come any more, by
        name: patterns and event queries, each alone."""
        found = dict[str, Pending]()
        for level in self.levels.all:
            for controller in level.of_patterns:
                for number, (many, until) in controller.stage.pending().items():
                    owner = self.stages.reader(number).owner
                    if isinstance(owner, Subscription) and owner.reported:
                        # One that is several parts, as of a disjunction, has matches of each.
                        found[owner.name] = Pending.of(many, until).joined(found.get(owner.name))
            for plan in level.plans:
                for number, (many, until) in plan.stage.pending().items():
                    one = self.levels.outputs[number]
                    if one is not None and one.reported:
                        found[one.name] = Pending.of(many, until).joined(found.get(one.name))
        return found

    # Inside.

    def _wiring(
        self,
        dissection: Dissection,
        internal: str | None,
        since: int,
        around: Level,
        *,
        around_asks: bool = False,
    ) -> Wiring:
        """The wiring of a query, whose sub-queries are subscribed; they go by its consistency, as
        it does by that of the query `around` it, if that asks for one, else of the engine."""
        from xscl.language.level import level_of
        from xscl.queries.wiring import Wiring

        own = level_of(dissection.query)
        level, asks = own or around, around_asks or own is not None
        feeds = tuple(stream for stream in (internal, dissection.feeds) if stream is not None)
        inner: list[Subscription] = []
        try:
            for stream, below in (*dissection.subqueries, *dissection.publishing):
                wiring = self._wiring(below, stream, since, level, around_asks=asks)
                inner.append(self._subscribe(wiring, below.query.name, since, None))
            of = dissection, feeds, self._cancel, self.schemas.of, tuple(inner)
            return replace(Wiring.of(*of, level=level), asked_around=around_asks)
        except BaseException:
            for one in inner:
                self._unsubscribe(one)
            raise

    def revisable_before(self, declared: Revisable, level: Level) -> Revisable:
        """The streams that were declared revisable, and those to which queries published whose
        matches might be taken back, where queries that ask for none had another consistency."""
        wirings = [one.wiring for one in self._with_inner() if one.feeds]
        middle = [one for one in wirings if (one.level if one.asked else level).name == "middle"]
        return self._revisable(declared, middle)

    def asking(self) -> set[int]:
        """The numbers of the queries, and their sub-queries, that ask for their consistency."""
        return {one.order for one in self._with_inner() if one.wiring.asked}

    def _with_inner(self) -> list[Subscription]:
        """All subscriptions, with those of sub-queries."""
        every = [*self]
        for one in every:
            # The list grows by them.
            every += one.wiring.inner
        return every

    def _revisable(self, declared: Revisable, middle: Collection[Wiring]) -> Revisable:
        """The streams that are declared revisable, and those to which `middle` queries publish
        whose matches may be taken back."""
        revisable, fed = declared, set[str]()
        more = True
        while more:
            more = False
            for one in middle:
                if not fed.issuperset(one.feeds) and self._takes_back(one, revisable):
                    fed.update(one.feeds)
                    revisable, more = declared.with_streams(fed), True
        return revisable

    def waiting(self) -> list[str]:
        """The names of the patterns and event queries that wait though they need not any more."""
        levels = self.levels
        if not levels.waiting:
            return []
        patterns = [n for n, pattern in levels.patterns.items() if pattern in levels.waiting]
        members = [one.name for query, one in levels.members() if query in levels.waiting]
        return sorted([*map(self._pattern, patterns), *members])

    def numbers_waiting(self, names: Collection[str]) -> set[int]:
        """The numbers of those of some names."""
        if not names:
            return set()
        patterns = {number for number in self.levels.patterns if self._pattern(number) in names}
        return patterns | {one.order for _, one in self.levels.members() if one.name in names}

    def _follow_revisable(self) -> None:
        """Notes the streams whose documents may be taken back."""
        levels = self.levels
        revisable = self._revisable(levels.declared, [one.wiring for one in self._feeding])
        if revisable != levels.revisable:
            levels.revisable, levels.stale = revisable, True
            levels.version += 1

    @staticmethod
    def _takes_back(wiring: Wiring, revisable: Revisable) -> bool:
        """Whether matches of a `middle` query may be taken back."""
        compiled: Any = wiring.pattern if wiring.events is None else wiring.events.compiled
        if compiled is not None and not compiled.monotone:
            return True
        return any(one in revisable for one in wiring.dissection.streams)

    def _subscribe(
        self,
        wiring: Wiring,
        name: str,
        since: int,
        on_match: OnMatch | None,
        place: TextPlace | None = None,
    ) -> Subscription:
        disjuncts = wiring.dissection.disjuncts
        # A pattern, and a query that can have no match, have a place in the order, too.
        numbers = self.stages.take_numbers(max(len(disjuncts), 1))
        subscription = Subscription(name, wiring, numbers[0], since, on_match, (), place)
        for number, disjunct in zip(numbers, disjuncts, strict=False):
            # Of the sole disjunct of a query, the join stage can count the matches.
            sole = len(disjuncts) == 1 and not wiring.feeds and not disjunct.operators[:-1]
            since = max(since, 0)
            self.stages.register(number, subscription, name, disjunct, since, sole_disjunct=sole)
        if wiring.pattern is not None:
            self.levels.add(numbers[0], wiring.pattern, max(since, 0), feeding=bool(wiring.feeds))
            from xscl.queries.levels.pattern_rows import PatternReading

            reading = PatternReading(wiring.pattern, self.patterns.nodes.node)
            self.stages.read_by(numbers[0], QueryReader(subscription, reading))
        if wiring.events is not None:
            self.levels.subscribe(wiring.events, subscription)
        if wiring.feeds and wiring.level.name == "middle":
            self._feeding[subscription] = None
            self._follow_revisable()
        return subscription

    def _unsubscribe(self, subscription: Subscription) -> None:
        subscription.active = False
        if subscription in self._feeding:
            del self._feeding[subscription]
            self._follow_revisable()
            self.levels.ceased()
        if subscription.wiring.pattern is not None:
            self.levels.remove(subscription.order)
        self._remove_output(subscription)
        for number in subscription.numbers:
            self.stages.release(number)
        for inner in subscription.wiring.inner:
            self._unsubscribe(inner)

    def _remove_output(self, subscription: Subscription) -> None:
        """Takes out an event query, if it is one."""
        if subscription.wiring.events is not None:
            self.levels.unsubscribe(subscription.wiring.events, subscription)

    def _register_shared(self, shared: SharedQuery, name: str, since: int) -> None:
        """Registers a shared query, whose first subscription bears this name."""
        from xscl.queries.wiring import Wiring

        dissection = shared.dissection
        shared.wiring = Wiring.of(
            dissection,
            (),
            self._cancel,
            self.schemas.of,
            source=shared,
            level=self.levels.default,
        )
        self.graph.add(dissection)
        shared.numbers = self.stages.take_numbers(len(dissection.disjuncts))
        shared.disjuncts = tuple(
            SharedDisjunct(shared, self._constant_table(shared, one))
            for one in dissection.disjuncts
        )
        for number, owner, disjunct in zip(
            shared.numbers, shared.disjuncts, dissection.disjuncts, strict=True
        ):
            self.stages.register(number, owner, name, disjunct, since)
        self.shared.add(shared)

    def _remove_shared(self, shared: SharedQuery, subscription: Subscription) -> None:
        """Takes a subscription out of its shared query, and with the last one that."""
        self._remove_output(subscription)
        for disjunct in shared.disjuncts:
            disjunct.table.remove(subscription)
            for asked in disjunct.table.asked:
                self._xpath.constants.release(asked.family, asked.constant(subscription))
        shared.size -= 1
        if not shared.size:
            for number in shared.numbers:
                self.stages.release(number)
            self.graph.remove(shared.dissection)
            self.shared.remove(shared)

    def _constant_table(self, shared: SharedQuery, disjunct: Disjunct) -> ConstantTable:
        """An empty table for the constants that a disjunct leaves open."""
        columns = disjunct.operators[-1].columns
        asked = [
            Asked(
                opened,
                tuple(shared.left_open.index(parameter.name) for parameter in opened.parameters),
                columns.index(node),
                disjunct.patterns[node].block,
                self._xpath.constants.number(opened.family),
            )
            for node, opened in disjunct.opened
        ]
        return ConstantTable(asked, width=len({*disjunct.outputs, *disjunct.selected.values()}))


def _name_place(query: Query) -> int:
    return query.at if query.named_at is None else query.named_at
