"""Queries and documents come and go in any order: after each step, the engine is as the model.

What a call reports, what its callbacks get and what it skips are compared; documents may be late,
come twice, out of order, with a time in the far future, or not be readable.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, event, reject
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import xscl
from tests.drawn import drawn
from tests.oracle import patterns
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_text
from tests.oracle.drawn_documents import plain_documents
from tests.oracle.drawn_queries import queries, query_with_sub_query
from tests.oracle.live import LiveModel, Undecided
from tests.oracle.nested_loops import Row
from tests.oracle.terms import Query
from tests.xscl.engine.drawing import Reporter, reported_by_oracle
from tests.xscl.engine.three_ways import WAYS as FORMS
from tests.xscl.engine.three_ways import published
from tests.xscl.engine.ways import USUAL, WAYS, Way

MOST_QUERIES = 5
MOST_MATCHES = 200
"""Of an example with more in one call, the rest would take too long."""
FAR_FUTURE = 4_102_444_800.0
NOT_RETAINED = {"taken", "skipped", "watermark", "joined", "memory"}


def some_queries(*, finite: bool) -> st.SearchStrategy[Query]:
    """What they read and publish has no cycle: S and R, then P, then T."""
    outside, first = ("S",) * 7 + ("R",), ("P", "P", "S")
    drawn = [
        queries("plain", streams=streams, publish=publish, most=3, finite=finite, easy=True)
        for streams, publish in (
            (outside, None),
            (outside, None),
            (outside, "P"),
            (first, None),
            (first, "T"),
            (("T", "T", "P"), None),
        )
    ]
    return st.one_of(*drawn, query_with_sub_query("plain", finite=finite))


any_query = st.one_of(some_queries(finite=True), some_queries(finite=False))
envelopes = st.tuples(
    st.sampled_from(["S", "S", "S", "S", "S", "R"]), st.integers(0, 2), st.integers(-3, 3)
)
"""Streams, numbers of texts, and times from now."""


class Live(RuleBasedStateMachine):
    """One engine and its model."""

    @initialize(
        way=st.just(USUAL) | st.sampled_from(WAYS),
        lateness=st.sampled_from([None, None, 0, 2, 5]),
        texts=st.lists(plain_documents(), min_size=2, max_size=3),
        first=st.lists(any_query, min_size=1, max_size=3),
        drawn=st.lists(envelopes, min_size=3, max_size=6),
    )
    def start(
        self,
        way: Way,
        lateness: float | None,
        texts: list[str],
        first: list[Query],
        drawn: list[tuple[str, int, int]],
    ) -> None:
        self.model = LiveModel(lateness)
        self.lateness = lateness
        with ExitStack() as stack:
            self.options = stack.enter_context(way.taken())
            self.make_engine(stack)
            self.open = stack.pop_all()
        self.texts = texts
        self.clock = 10.0
        self.ids: dict[str, str] = {}  # of documents → stream
        self.names = 0
        self.malformed = 0
        self.reported: list[Any] = []
        self.reporter = Reporter(self.ids.keys())
        self.queries: list[Query] = []
        self.matched: set[int] = set()
        self.empty = self.sizes()
        for query in first:
            self.add(f"q{self.names}", query, history=False)
        self.publish_batch([self.document(*each) for each in drawn])

    def make_engine(self, stack: ExitStack) -> None:
        """The engine, which is closed with a stack."""
        self.engine = stack.enter_context(xscl.Engine(lateness=self.lateness, **self.options))

    def teardown(self) -> None:
        if hasattr(self, "open"):
            self.open.close()

    # Queries.

    @precondition(lambda self: len(self.model.names) < MOST_QUERIES)
    @rule(
        query=any_query,
        history=st.booleans(),
        again=st.integers(0, 5),
    )
    def subscribe(self, query: Query, history: bool, again: int) -> None:
        gone = [n for n in range(self.names) if f"q{n}" not in self.model.names]
        self.add(f"q{gone[-1] if gone and again == 0 else self.names}", query, history=history)

    @precondition(lambda self: len(self.model.names) < MOST_QUERIES)
    @rule(place=st.integers(0, 9), again=st.booleans())
    def subscribe_again(self, place: int, again: bool) -> None:
        """An earlier query, preferably one that matched, over the retained documents; under its
        name if that is free."""
        numbers = sorted(self.matched) or range(len(self.queries))
        number = numbers[place % len(numbers)]
        name = f"q{number if again and f'q{number}' not in self.model.names else self.names}"
        self.add(name, self.queries[number], history=True)

    def add(self, name: str, query: Query, *, history: bool) -> None:
        if name == f"q{self.names}":
            self.names += 1
            self.queries.append(query)
        in_loops = query_in_loops(name, query, {})
        try:
            rows = self.model.subscribe(in_loops, history=history)
        except Undecided:
            if name in self.model.names:
                reject()
            history = False
            rows = self.model.subscribe(in_loops, history=False)
        if history:
            event("history: matches" if rows else "history: none")
        subscription = self.engine.subscribe(
            xscl_text(query), name=name, on_match=self.reported.append, history=history
        )
        assert [each.name for each in self.engine.subscriptions] == self.model.names
        assert [m for m in subscription.found if m.query == name] == [
            m for m in self.reported if m.query == name
        ]
        self.compare(rows)

    @precondition(lambda self: self.model.names)
    @rule(place=st.integers(0, MOST_QUERIES))
    def cancel(self, place: int) -> None:
        name = self.model.names[place % len(self.model.names)]
        self.model.cancel(name)
        self.engine.cancel(name)
        self.compare([])

    @precondition(lambda self: self.model.names)
    @rule()
    def cancel_all(self) -> None:
        for name in self.model.names:
            self.cancel(self.model.names.index(name))
        assert self.sizes() == self.empty

    # Documents.

    def document(self, stream: str, text: int, later: int) -> patterns.Document:
        """A new document, about now."""
        name = f"d{len(self.ids)}"
        self.ids[name] = stream
        xml = self.texts[text % len(self.texts)]
        return patterns.Document(stream, name, self.clock + later, xml)

    @rule(drawn=envelopes, passed=st.integers(0, 2))
    def publish(self, drawn: tuple[str, int, int], passed: int) -> None:
        self.clock += passed
        self.publish_one(self.document(*drawn))

    @rule(drawn=envelopes, passed=st.integers(0, 2))
    def publish_another(self, drawn: tuple[str, int, int], passed: int) -> None:
        self.publish(drawn, passed)

    @rule(
        drawn=st.lists(envelopes, min_size=2, max_size=4),
        passed=st.sampled_from([0, 1, 2, 9]),
        form=st.sampled_from(FORMS),
    )
    def publish_many(self, drawn: list[tuple[str, int, int]], passed: int, form: str) -> None:
        self.clock += passed
        self.publish_batch([self.document(*each) for each in drawn], form)

    @precondition(lambda self: self.model.watermark is not None)
    @rule(drawn=envelopes)
    def publish_late(self, drawn: tuple[str, int, int]) -> None:
        assert self.model.watermark is not None
        self.publish_one(self.document(*drawn), self.model.watermark - 1)

    @precondition(lambda self: self.model.watermark is not None)
    @rule(drawn=envelopes)
    def publish_just_in_time(self, drawn: tuple[str, int, int]) -> None:
        assert self.model.watermark is not None
        self.publish_one(self.document(*drawn), self.model.watermark)

    @precondition(lambda self: self.ids)
    @rule(place=st.integers(0, 30), drawn=envelopes)
    def publish_again(self, place: int, drawn: tuple[str, int, int]) -> None:
        """The id of an earlier document, retained or not."""
        _, text, later = drawn
        name = list(self.ids)[place % len(self.ids)]
        if self.model.holds(self.ids[name], name) is not None:
            xml = self.texts[text % len(self.texts)]
            self.publish_one(patterns.Document(self.ids[name], name, self.clock + later, xml))

    @rule(drawn=envelopes)
    def publish_from_the_future(self, drawn: tuple[str, int, int]) -> None:
        self.publish_one(self.document(*drawn), FAR_FUTURE)

    @rule(drawn=envelopes)
    def publish_what_cannot_be_read(self, drawn: tuple[str, int, int]) -> None:
        stream, _, later = drawn
        self.malformed += 1
        bad = {"stream": stream, "id": "bad", "timestamp": self.clock + later + 50, "xml": "<a"}
        assert self.engine.publish_many([bad]) == []
        self.compare([])

    @rule()
    def look(self) -> None:
        least, most = self.model.retained
        assert least <= self.sizes()["documents"] <= most

    # What must be so.

    def sizes(self) -> dict[str, Any]:
        """All sizes that the engine reports."""
        reported = self.engine.stats(exact=True)
        # DuckDB's memory beyond its rows varies, and matches refer to bodies.
        return {key: reported[key] for key in reported.keys() - NOT_RETAINED}

    def publish_one(self, document: patterns.Document, timestamp: float | None = None) -> None:
        if timestamp is not None:
            document = replace(document, timestamp=timestamp)
        rows = self.expected([document])
        found = self.engine.publish(
            document.stream, document.xml, id=str(document.id), timestamp=document.timestamp
        )
        assert found == self.reported
        self.compare(rows)

    def publish_batch(self, documents: list[patterns.Document], form: str = "matches") -> None:
        rows = self.expected(documents)
        if form == "counts" and self.engine.published:
            # Later matches have results of these among their documents, and are identified by them.
            form = "groups"
        counts = self.publish_to_engine(documents, form)
        if form == "counts":
            # No match is built, so no callback is called.
            assert not self.reported
            if len(rows) > MOST_MATCHES:
                reject()
            assert counts == Counter(row.query for row in rows)
            return
        assert counts == Counter(one.query for one in self.reported)
        self.compare(rows)

    def publish_to_engine(
        self, documents: list[patterns.Document], form: str = "matches"
    ) -> Counter[str]:
        """How many matches a query has; callbacks have them, and a list of them or groups."""
        envelopes = [
            {"stream": d.stream, "id": d.id, "timestamp": d.timestamp, "xml": d.xml}
            for d in documents
        ]
        counts, found = published(self.engine, envelopes, form)
        assert found is None or {one.id for one in found} == {one.id for one in self.reported}
        return counts

    def expected(self, documents: list[patterns.Document]) -> list[Row]:
        try:
            return self.model.publish(documents)
        except Undecided:
            reject()

    def compare(self, rows: list[Row]) -> None:
        if len(rows) > MOST_MATCHES:
            reject()
        if rows:
            event("matches")
            self.matched |= {int(row.query.removeprefix("q")) for row in rows}
        if any(not isinstance(document, str) for row in rows for document in row.documents):
            event("matches of results")
        assert self.reporter.reported(self.reported) == reported_by_oracle(rows)
        skipped = self.engine.skipped
        assert (skipped.late, skipped.duplicate, skipped.malformed) == (
            self.model.late,
            self.model.duplicates,
            self.malformed,
        )
        self.reported.clear()


SETTINGS = drawn(
    24,
    stateful_step_count=14,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=list(HealthCheck),
)

LiveTest = Live.TestCase
LiveTest.settings = SETTINGS


def test_a_member_of_a_composite_is_known_again() -> None:
    """Its own window has passed, and that of what it is part of has not."""
    query = "S//a->x JOIN {x = y, 2} S//b->y FOLLOWED BY {x = z, 9} S//c->z"
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(query)
        for root, time in (("a", 0), ("b", 1), ("x", 10)):
            engine.publish("S", f"<{root}>1</{root}>", id=root, timestamp=time)
        engine.publish("S", "<a>1</a>", id="a", timestamp=10)
        assert engine.skipped.duplicate == 1
        (match,) = engine.publish("S", "<c>1</c>", id="c", timestamp=10)
        assert match.documents == ("a", "b", "c")
        engine.publish("S", "<x/>", id="y", timestamp=12)
        engine.publish("S", "<a>1</a>", id="a", timestamp=12)
        assert engine.skipped.duplicate == 1
