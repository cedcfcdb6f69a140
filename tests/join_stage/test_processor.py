"""Batches, queries that come and go, eviction and review: the join stage against nested loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.drawn import drawn
from tests.join_stage.entities import (
    Entity,
    Feeder,
    Query,
    all_matches,
    composite,
    composites,
    document,
    documents,
    queries,
)
from tests.templates.graphs import graph
from xscl.join_stage import Strategies, TimeConstraint, Wanted

STRATEGIES = [
    Strategies(),
    Strategies(in_process=0),
    # Some batches in process, others in DuckDB.
    Strategies(in_process=1),
    Strategies(memory=0),
    Strategies(signatures=False),
    Strategies(ranges=False),
]


class Live(RuleBasedStateMachine):
    """Whatever comes and goes, a batch completes what nested loops find among what is retained."""

    def __init__(self) -> None:
        super().__init__()
        self.feeder: Feeder
        self.queries: dict[int, Query] = {}
        self.retained: dict[int, Entity] = {}
        self.next_number = 0
        self.next_query = 0
        self.watermark = 0

    def teardown(self) -> None:
        self.feeder.connection.close()

    def _new_number(self) -> int:
        self.next_number += 1
        return self.next_number - 1

    def _subscribe(self, query: Query) -> int:
        number = self.next_query
        self.next_query += 1
        self.queries[number] = query
        self.feeder.subscribe(number, query)
        return number

    @initialize(
        some=st.lists(queries(), min_size=3, max_size=6),
        strategies=st.sampled_from(STRATEGIES),
        data=st.data(),
    )
    def begin(self, some: list[Query], strategies: Strategies, data: st.DataObject) -> None:
        self.feeder = Feeder(strategies)
        for query in some:
            self._subscribe(query)
        for _ in range(2):
            times = st.integers(0, 4)
            new = [data.draw(documents(self._new_number(), data.draw(times))) for _ in range(2)]
            self._publish(new)
            self._publish([data.draw(composites(self._new_number(), new))])

    @rule(query=queries())
    def subscribe(self, query: Query) -> None:
        self._subscribe(replace(query, since=self.next_number))

    @precondition(lambda self: self.queries)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.queries)))
        del self.queries[number]
        self.feeder.cancel(number)
        if data.draw(st.booleans()):
            self.feeder.release()

    @rule(data=st.data())
    def publish(self, data: st.DataObject) -> None:
        new = []
        for _ in range(data.draw(st.integers(1, 2))):
            time = data.draw(st.integers(self.watermark, self.watermark + 4))
            new.append(data.draw(documents(self._new_number(), time)))
        self._publish(new)

    @precondition(lambda self: any(not entity.composite for entity in self.retained.values()))
    @rule(data=st.data())
    def compose(self, data: st.DataObject) -> None:
        """Composites of retained documents, alone or with a document that comes with them; as in
        the engine one of their documents is not before the watermark."""
        new: list[Entity] = []
        if data.draw(st.booleans()):
            new.append(data.draw(documents(self._new_number(), self.watermark + 1)))
        parts = [one for one in (*self.retained.values(), *new) if not one.composite]
        for _ in range(data.draw(st.integers(1, 2))):
            one = data.draw(composites(self._new_number(), parts))
            if one.time >= self.watermark:
                new.append(one)
        if new:
            self._publish(new)

    def _publish(self, new: list[Entity]) -> None:
        self.retained.update((one.number, one) for one in new)
        numbers = {one.number for one in new}
        expected = all_matches(self.queries, self.retained.values(), numbers)
        event("matches" if expected else "no matches")
        assert self.feeder.publish(new) == expected
        by_query = Counter({query: 0 for query, _ in expected})
        for (query, _), count in expected.items():
            by_query[query] += count
        assert Counter(self.feeder.processor.counts()) == by_query

    @precondition(lambda self: self.retained)
    @rule(query=queries(), other=queries(), again=st.booleans())
    def review(self, query: Query, other: Query, again: bool) -> None:
        asked = {self._subscribe(query): query}
        if again:
            number = self._subscribe(other)
            asked[number] = other
        expected = all_matches(asked, self.retained.values(), self.retained.keys())
        event("matches in review" if expected else "no matches in review")
        found = self.feeder.review(list(self.retained.values()), set(asked))
        assert found == expected

    @precondition(lambda self: self.retained)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        gone = data.draw(st.sets(st.sampled_from(sorted(self.retained)), min_size=1, max_size=3))
        self.feeder.processor.evict(None, sorted(gone))
        for number in gone:
            del self.retained[number]

    @rule(later=st.integers(0, 3), exact=st.booleans())
    def evict(self, later: int, exact: bool) -> None:
        """What comes from now on finds all that it can reach; a composite's rows would not come
        back in a review, so composites before the watermark go for good."""
        self.watermark += later
        old = [n for n, one in self.retained.items() if one.composite and one.time < self.watermark]
        for number in old:
            del self.retained[number]
        self.feeder.processor.evict(self.watermark, old, exact=exact)
        if exact:
            reach = self._reaches()
            rows = self.feeder.connection.execute("SELECT path, ts FROM node").fetchall()
            assert all(ts >= self.watermark - reach[path] for path, ts in rows if path in reach)

    def _reaches(self) -> dict[int, int]:
        """The reach of each leaf path of which it is known what it accepts."""
        feeder = self.feeder
        reach: dict[int, int] = {}
        for labels, spine in feeder.spines.items():
            path = feeder.paths[labels[-1]]
            if path not in feeder.unsettled:
                reach[path] = max(reach.get(path, 0), feeder.processor.registry.reach(spine))
        return reach

    @rule(label=st.sampled_from(["root", "a", "b"]))
    def move(self, label: str) -> None:
        self.feeder.move(label)

    @rule()
    def collect(self) -> None:
        self.feeder.collect()
        retained = self.feeder.connection.execute(
            "SELECT DISTINCT s FROM node WHERE s IS NOT NULL"
        ).fetchall()
        assert {s for (s,) in retained} == self.feeder.strings

    @invariant()
    def nothing_is_left_of_what_went(self) -> None:
        registry = self.feeder.processor.registry
        plans = {query.planned[0] for query in self.queries.values()}
        counts = registry.counts()
        assert counts["queries"] == len(self.queries)
        assert counts["plans"] == len(plans)
        assert counts["templates"] == len({plan.template.id for plan in plans})
        self.feeder.processor.prepare()
        tables = self.feeder.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'rows_')"
        ).fetchall()
        assert {name for (name,) in tables} == {f"rows_{plan.id}" for plan in plans}


class TestLive(Live.TestCase):  # type: ignore[misc]
    settings = drawn(6, stateful_step_count=15)


# By hand.

ENDS = graph([(0, None), (1, None)], [(0, "=", 1)], [0, 1])


def chained(composite: tuple[bool, bool], *, after: bool = True, window: int | None = 5) -> Query:
    """Sides of which the first columns, or the roots, are equal."""
    labels = tuple("#0" if derived else "root" for derived in composite)
    return Query(ENDS, labels, composite, TimeConstraint(after, window))


def one_column(number: int, *parts: Entity) -> Entity:
    return composite(number, parts, [(0, 1), (0, 2)])


@pytest.fixture
def feeder() -> Iterator[Feeder]:
    some = Feeder()
    yield some
    some.connection.close()


def documents_at(*times: int) -> list[Entity]:
    return [document(number, time, 1, []) for number, time in enumerate(times)]


def test_what_follows_a_composite_comes_after_its_end(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((True, False)))
    a, b, early, soon, late = documents_at(0, 4, 4, 5, 10)
    for one in (a, b, early, soon, late):
        feeder.publish([one])
    assert feeder.publish([one_column(5, a, b)]) == {(0, (5, 3, 0, 0)): 1}


def test_a_composite_that_follows_begins_after(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((False, True)))
    before, a, between, b = documents_at(1, 2, 3, 6)
    for one in (before, a, between, b):
        feeder.publish([one])
    assert feeder.publish([one_column(4, a, b)]) == {(0, (0, 4, 0, 0)): 1}
    # Too long after.
    assert feeder.publish([one_column(5, document(9, 2, 1, []), document(8, 7, 1, []))]) == {}


@pytest.mark.parametrize("kinds", [(True, False), (False, True)])
def test_a_document_does_not_join_what_it_is_part_of(
    feeder: Feeder, kinds: tuple[bool, bool]
) -> None:
    feeder.subscribe(0, chained(kinds, after=False))
    a, b, c = documents_at(0, 1, 2)
    feeder.publish([a, b, c])
    pair = (3, 2) if kinds[0] else (2, 3)
    assert feeder.publish([one_column(3, a, b)]) == {(0, (*pair, 0, 0)): 1}


def test_composites_have_no_document_in_common(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((True, True), after=False))
    a, b, c, d = documents_at(0, 1, 2, 3)
    feeder.publish([a, b, c, d])
    feeder.publish([one_column(4, a, b)])
    assert feeder.publish([one_column(5, b, c)]) == {}
    found = feeder.publish([one_column(6, c, d)])
    assert found == {(0, (4, 6, 0, 0)): 1, (0, (6, 4, 0, 0)): 1}


def test_a_query_sees_composites_of_documents_that_it_sees(feeder: Feeder) -> None:
    a, b, c = documents_at(0, 1, 2)
    feeder.publish([a])
    feeder.subscribe(0, replace(chained((True, False)), since=1))
    feeder.publish([b, c])
    assert feeder.publish([one_column(3, a, b)]) == {}
    assert feeder.publish([one_column(4, b)]) == {(0, (4, 2, 0, 0)): 1}


def test_a_valued_node_comes_with_its_string(feeder: Feeder) -> None:
    """An inner node too, and one whose string is that of its partner in the join."""
    whole = graph([(0, None), (0, 0), (1, None), (1, 2)], [(1, "=", 3)], [0, 1, 2, 3])
    labels = ("root", "a", "root", "b")
    query = Query(
        replace(whole, valued=frozenset([0, 1, 3])),
        labels,
        (False, False),
        TimeConstraint(True, None),
    )
    feeder.subscribe(0, query)
    feeder.publish([document(0, 0, 21, [("a", 7)])])
    found = feeder.publish([document(1, 1, 22, [("b", 7)])])
    assert found == {(0, (0, 1, 0, 1, 0, 1, 21, 7, 7)): 1}


def test_a_review_is_of_the_queries_asked_for_alone(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((False, False), after=False))
    retained = documents_at(0, 1, 2)
    feeder.publish(retained)
    feeder.subscribe(1, chained((False, False)))
    feeder.subscribe(2, chained((False, False), window=1))
    found = feeder.review(retained, [2])
    assert found == {(2, (0, 1, 0, 0)): 1, (2, (1, 2, 0, 0)): 1}
    assert feeder.processor.counts() == {2: 2}
    # Of all queries again, and nothing twice.
    found = feeder.publish([document(3, 3, 1, [])])
    assert Counter(query for query, _ in found) == {0: 6, 1: 3, 2: 1}


def test_disjuncts_are_distinguished(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((False, False)), sole_disjunct=False)
    feeder.subscribe(1, chained((False, False)))
    feeder.publish(documents_at(0, 1))
    processor = feeder.processor
    assert processor.counts() == {1: 1}
    assert [
        number
        for some in processor.outputs(Wanted.BUT_SOLE_DISJUNCTS)
        for number, rows in some.by_query()
        for _ in rows
    ] == [0]


def test_a_batch_of_nothing_completes_nothing(feeder: Feeder) -> None:
    feeder.subscribe(0, chained((False, False), after=False))
    assert feeder.publish([]) == {}
    feeder.publish(documents_at(0, 1))
    assert feeder.publish([]) == {}
