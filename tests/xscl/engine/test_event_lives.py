"""Event queries come and go while documents flow, in and out of order, with advances, ends of the
input and restarts: after each step the engine has reported what the brute force has.

The model takes a query's sight literally: the documents that come after it was subscribed, and the
results of others that are reported from then on.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, event, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import xscl
from tests.drawn import drawn
from tests.oracle.event_algebra.drawn_documents import STREAMS, arrivals
from tests.oracle.event_algebra.drawn_queries import numbers, queries, with_number
from tests.oracle.event_algebra.model import Match, Model
from tests.oracle.event_algebra.reported import RULES, reported_by_engine, reported_by_model
from tests.oracle.event_algebra.schemas import Refused
from tests.oracle.event_algebra.syntax import Declared, Query
from tests.oracle.event_algebra.writing import query_text
from tests.xscl.engine.three_ways import WAYS, published

MOST_QUERIES = 6
PARAMETER = 987654.0
"""Represents a parameter in a text."""


class EventLives(RuleBasedStateMachine):
    """One engine and its model."""

    @initialize(
        lateness=st.sampled_from([None, 0, 0, 2, 5]),
        without=st.sampled_from([frozenset[str](), frozenset[str](), RULES]),
        kept=st.one_of(st.just({*STREAMS, "N"}), st.sets(st.sampled_from([*STREAMS, "N"]))),
        data=st.data(),
    )
    def start(
        self, lateness: float | None, without: frozenset[str], kept: set[str], data: st.DataObject
    ) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.options: dict[str, Any] = {
            "lateness": lateness,
            "without": without,
            "state": Path(self.folder.name) / "state.xscl",
        }
        self.engine = xscl.Engine(**self.options)
        self.model = Model(None if lateness is None else round(lateness * 10**6))
        self.ids: set[str] = set()
        self.before: list[Query] = []
        self.names = 0
        self.clock = 4.0
        self.kept = set[str]()
        for stream in sorted(kept):
            self.keep(stream)
        # Where joins hold all documents, their ids are known for good.
        self.knows = kept == {*STREAMS, "N"}
        for _ in range(2):
            self.subscribe(data)
        self.publish(data, 1)

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()
            self.folder.cleanup()

    # Queries.

    @precondition(lambda self: len(self.model.subscribed) < MOST_QUERIES)
    @rule(data=st.data())
    def subscribe(self, data: st.DataObject) -> None:
        query = self.drawn(data, weak=True)
        if self.taken([query]):
            note(query_text(query))
            self.engine.subscribe(query_text(query), name=query.name)

    def drawn(self, data: st.DataObject, *, weak: bool) -> Query:
        """A new query, or one that was there before."""
        new = queries(f"Q{self.names}", self.model, {}, weak)
        before = [one for one in self.before if weak or not one.weak]
        again = before and data.draw(st.booleans())
        query = data.draw(st.sampled_from(before) if again else new)
        if not again:
            self.before.append(query)
        self.names += 1
        return replace(query, name=f"Q{self.names}")

    @precondition(lambda self: len(self.model.subscribed) < MOST_QUERIES)
    @rule(data=st.data(), values=st.lists(st.sampled_from([1.0, 2.0, 3.5]), min_size=1, max_size=3))
    def subscribe_many(self, data: st.DataObject, values: list[float]) -> None:
        """One text for rows that differ in a number of a condition."""
        query = data.draw(queries(f"Q{self.names}", self.model, {}, False))
        count = len(list(numbers(query)))
        self.names += 1
        if not count:
            return
        place = data.draw(st.integers(0, count - 1))
        text = query_text(with_number(query, place, PARAMETER)).replace(f"{PARAMETER:g}", " :k")
        rows = [{"name": f"{query.name}_{i}", "k": value} for i, value in enumerate(values)]
        named = [replace(with_number(query, place, row["k"]), name=row["name"]) for row in rows]
        if self.taken(named):
            note(f"{text} {rows}")
            self.engine.subscribe_many(text, rows)

    def taken(self, some: list[Query]) -> bool:
        """Whether the model takes queries in."""
        try:
            self.model.subscribe(Declared({}, tuple(some)))
        except Refused:
            for query in some:
                self.model.cancel(query.name)
            return False
        return True

    def keep(self, stream: str) -> None:
        """A join that never matches retains all documents of a stream, from now on."""
        note(f"keep {stream}")
        self.kept.add(stream)
        self.engine.subscribe(f"{stream}/*->x JOIN {{x = y}} Never/none->y", name=f"keep {stream}")

    @precondition(lambda self: not self.knows)
    @rule(stream=st.sampled_from([*STREAMS, "N"]))
    def keep_or_not(self, stream: str) -> None:
        if stream in self.kept:
            note(f"keep {stream} no longer")
            self.kept.remove(stream)
            self.engine.cancel(f"keep {stream}")
        else:
            self.keep(stream)

    @precondition(lambda self: len(self.model.subscribed) < MOST_QUERIES)
    @rule(data=st.data())
    def subscribe_with_history(self, data: st.DataObject) -> None:
        """Results published by others are not retained."""
        query = replace(self.drawn(data, weak=False), publish=None)
        text = query_text(query)
        if "PUBLISH" in text or self.model.reads_published(query):
            return
        self.engine.stats(exact=True)
        retained = {(str(one["stream"]), str(one["id"])) for one in self.engine.held()}
        note(f"with history {sorted(retained)}: {text}")
        expected = self.model.subscribe(Declared({}, (query,)), retained=retained)
        found = self.engine.subscribe(text, name=query.name, history=True).found
        self.compare(expected, found)

    @precondition(lambda self: self.model.subscribed)
    @rule(place=st.integers(0, MOST_QUERIES))
    def cancel(self, place: int) -> None:
        name = self.model.subscribed[place % len(self.model.subscribed)]
        note(f"cancel {name}")
        self.model.cancel(name)
        self.engine.cancel(name)

    # Documents.

    @rule(
        data=st.data(),
        passed=st.sampled_from([0, 1, 1, 3]),
        way=st.sampled_from(["matches", *WAYS]),
    )
    def publish(self, data: st.DataObject, passed: float, way: str = "matches") -> None:
        self.clock += passed
        times = [self.clock + offset for offset in (0, 0.5, 1, -1, -3)]
        envelopes = data.draw(arrivals(times, 5, len(self.ids), again=self.knows))
        note(str(envelopes))
        self.ids |= {one["id"] for one in envelopes}
        expected = self.model.publish(envelopes)
        counts, found = published(self.engine, envelopes, way)
        assert counts == Counter(one.query for one in expected)
        if found is not None:
            self.compare(expected, found)

    @rule(data=st.data(), way=st.sampled_from(WAYS))
    def publish_more(self, data: st.DataObject, way: str) -> None:
        self.publish(data, 1, way)

    @rule(later=st.sampled_from([-1, 0, 0.5, 2, 9]))
    def advance(self, later: float) -> None:
        time = self.clock + later
        note(f"advance {time}")
        self.compare(self.model.advance(round(time * 10**6)), self.engine.advance(time))

    @rule()
    def flush(self) -> None:
        """What comes afterwards is later than all before, so that what was reported stays true."""
        note("flush")
        self.compare(self.model.flush(), self.engine.flush())
        self.clock += 9

    @rule()
    def restart(self) -> None:
        note("restart")
        self.engine.close()
        self.engine = xscl.Engine(**self.options)

    # What must be so.

    def compare(self, expected: list[Match], found: Iterable[xscl.Match]) -> None:
        reported = Counter(reported_by_engine(one.to_dict(), self.ids) for one in found)
        assert reported == Counter(map(reported_by_model, expected))
        if reported:
            event("matches")


EventLivesTest = EventLives.TestCase
EventLivesTest.settings = drawn(
    10,
    stateful_step_count=12,
    phases=set(Phase) - {Phase.explain, Phase.shrink},
    suppress_health_check=list(HealthCheck),
)


def test_events_that_nobody_reads_any_more_are_not_kept(tmp_path: Path) -> None:
    state = tmp_path / "state.xscl"
    with xscl.Engine(state=state) as engine:
        engine.subscribe("FILTER{}(S)", name="a")
        engine.subscribe("S NEXT T", name="b")
        engine.publish("S", {"n": 1}, id="s", timestamp=1)
    with xscl.Engine(state=state) as engine:
        engine.cancel("b")
        engine.publish("S", {"n": 2}, id="s2", timestamp=2)
        engine.cancel("a")
    with xscl.Engine(state=state) as engine:
        assert not engine.subscriptions
