"""Patterns come and go while documents flow, in and out of order, with advances, ends of the input,
queries that look back and restarts: each has reported what the brute force finds in the documents
that it has seen, and that once.

A query sees the documents that come after it was subscribed, and where it looks back those that the
engine retained; one that is weak sees no document behind the newest that it has seen.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, event, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import xscl
from tests.drawn import drawn
from tests.oracle.drawn_sequences import (
    STREAMS,
    Node,
    drawn_document,
    drawn_query,
    selecting,
    text_of,
)
from tests.oracle.sequences import Query, evaluate
from xscl.pattern_stage.switches import SWITCHES

MOST_QUERIES = 4
AFTERWARDS = 9.0
"""After so long no pattern reaches back any more that has a window."""

Found = tuple[Any, ...]


@dataclass
class Seen:
    """A query, what it has seen, and what it has reported."""

    query: Query
    weak: bool
    documents: list[str] = field(default_factory=list)
    newest: float | None = None
    found: Counter[Found] = field(default_factory=Counter)


class PatternLives(RuleBasedStateMachine):
    """One engine, and what its queries have seen."""

    @initialize(
        lateness=st.sampled_from([None, 0, 2, 2, 5]),
        without=st.sampled_from([frozenset[str](), frozenset[str](), frozenset(SWITCHES)]),
        weak=st.sampled_from([False, False, True]),
        keeps=st.sampled_from([False, False, True]),
        data=st.data(),
    )
    def start(
        self,
        lateness: float | None,
        without: frozenset[str],
        weak: bool,
        keeps: bool,
        data: st.DataObject,
    ) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.options: dict[str, Any] = {
            "lateness": lateness,
            "without": without,
            "state": Path(self.folder.name) / "state.xscl",
        }
        self.engine = xscl.Engine(**self.options)
        self.lateness, self.weak = lateness, weak
        self.watermark: float | None = None
        self.nodes: dict[str, list[tuple[str, Node]]] = {}
        self.queries: dict[str, Seen] = {}
        self.names = 0
        self.times: set[float] = set()
        self.lifting: list[str] = []
        self.before: list[Query] = []
        self.clock = 4.0
        for stream in STREAMS if keeps else ():
            # Joins that never match retain all documents.
            self.engine.subscribe(f"{stream}/*->x JOIN {{x = y}} Never/none->y")
        self.subscribe(data, False)
        self.publish(data, 1)

    def teardown(self) -> None:
        if not hasattr(self, "engine"):
            return
        try:
            self.flush()
        finally:
            self.engine.close()
            self.folder.cleanup()

    # Queries

    @precondition(lambda self: len(self.queries) < MOST_QUERIES)
    @rule(data=st.data(), history=st.booleans())
    def subscribe(self, data: st.DataObject, history: bool) -> None:
        name = f"Q{self.names}"
        again = self.before and data.draw(st.booleans())
        query = data.draw(st.sampled_from(self.before) if again else drawn_query(name))
        self.before.append(query)
        query = replace(query, name=name)
        self.names += 1
        weak = self.weak and data.draw(st.booleans())
        text = text_of(query) + (" CONSISTENCY weak" if weak else "")
        note(f"{query.name}{' with history' if history else ''}: {text}")
        seen = self.queries[query.name] = Seen(query, weak)
        if history:
            self.engine.stats(exact=True)
            retained = [id for id, some in self.nodes.items() if self.holds(id, some)]
            note(f"retained: {retained}")
            seen.documents += retained
            times = [some[0][1].time for id in retained if self.reads(seen, some := self.nodes[id])]
            seen.newest = max(times, default=None)
        subscription = self.engine.subscribe(text, name=query.name, history=history)
        self.report(subscription.found)

    @precondition(lambda self: len(self.lifting) < 3)
    @rule(stream=st.sampled_from(STREAMS))
    def lift(self, stream: str) -> None:
        """What may publish to a stream puts all that read it onto a higher level."""
        name = f"lift{len(self.lifting)}"
        text = f"SELECT a.x AS x FROM EVENT Never a PUBLISH {stream}"
        note(f"{name}: {text}")
        self.lifting.append(name)
        self.engine.subscribe(text, name=name)

    @precondition(lambda self: self.queries)
    @rule(place=st.integers(0, MOST_QUERIES))
    def cancel(self, place: int) -> None:
        name = [*self.queries][place % len(self.queries)]
        note(f"cancel {name}")
        self.engine.cancel(name)
        seen = self.queries.pop(name)
        assert not seen.found - self.expected(seen)

    # Documents

    @rule(data=st.data(), passed=st.sampled_from([0, 1, 1, 3]))
    def publish(self, data: st.DataObject, passed: float) -> None:
        self.clock += passed
        coming = []
        for _ in range(data.draw(st.integers(1, 4))):
            number = len(self.nodes)
            time = self.clock + data.draw(st.sampled_from([0, 0.5, 1, -1, -3]))
            while self.weak and time in self.times:
                # Of simultaneous events that come one after another the order would matter.
                time += 1 / 64
            self.times.add(time)
            envelope, nodes = data.draw(drawn_document(f"d{number}", time))
            note(f"{envelope}")
            coming.append((envelope, nodes))
            self.nodes[envelope["id"]] = nodes
        late = [self.is_late(envelope["timestamp"]) for envelope, _ in coming]
        taken = [one for one, dropped in zip(coming, late, strict=True) if not dropped]
        for (envelope, _), dropped in zip(coming, late, strict=True):
            if dropped:
                del self.nodes[envelope["id"]]
                self.nodes[f"late {envelope['id']}"] = []
        for seen in self.queries.values():
            self.see(seen, [(envelope["id"], nodes) for envelope, nodes in taken])
        self.report(self.engine.publish_many([envelope for envelope, _ in coming]))

    @rule(data=st.data())
    def publish_more(self, data: st.DataObject) -> None:
        self.publish(data, 1)

    @rule(later=st.sampled_from([-1, 0, 0.5, 2, 9]))
    def advance(self, later: float) -> None:
        time = self.clock + later
        note(f"advance {time}")
        self.watermark = time if self.watermark is None else max(time, self.watermark)
        self.report(self.engine.advance(time))

    @rule()
    def flush(self) -> None:
        """What comes afterwards is later than all before, so that what was reported stays true."""
        note("flush")
        self.report(self.engine.flush())
        for name in self.queries:
            self.check(name)
        self.clock += AFTERWARDS + 4

    @rule()
    def restart(self) -> None:
        note("restart")
        self.engine.close()
        self.engine = xscl.Engine(**self.options)

    # What must be so

    def is_late(self, time: float) -> bool:
        if self.watermark is not None and time < self.watermark:
            return True
        if self.lateness is not None:
            mark = time - self.lateness
            self.watermark = mark if self.watermark is None else max(mark, self.watermark)
        return False

    def holds(self, id: str, nodes: list[tuple[str, Node]]) -> bool:
        return bool(nodes) and self.engine.holds(id)

    def reads(self, seen: Seen, nodes: list[tuple[str, Node]]) -> bool:
        """Whether a document is, or has, an event of any type of a query."""
        select = selecting(nodes)
        return any(select(block) for one in seen.query.components for block in one.blocks)

    def see(self, seen: Seen, coming: list[tuple[str, list[tuple[str, Node]]]]) -> None:
        before = seen.newest
        for id, nodes in coming:
            time = nodes[0][1].time
            if seen.weak:
                if not self.reads(seen, nodes) or (before is not None and time < before):
                    continue
                seen.newest = time if seen.newest is None else max(time, seen.newest)
            seen.documents.append(id)

    def expected(self, seen: Seen) -> Counter[Found]:
        nodes = [node for id in seen.documents for node in self.nodes[id]]
        return Counter(map(found_as, evaluate(seen.query, selecting(nodes))))

    def report(self, matches: Any) -> None:
        for one in matches:
            self.queries[one.query].found[found_as(one)] += 1

    def check(self, name: str) -> None:
        seen = self.queries[name]
        expected = self.expected(seen)
        assert seen.found == expected, f"{name}: {seen.found - expected} {expected - seen.found}"
        if expected:
            event("matches")


def found_as(one: Any) -> Found:
    return one.query, one.documents, one.variables, one.nodes, one.start, one.time


PatternLivesTest = PatternLives.TestCase
PatternLivesTest.settings = drawn(
    20,
    stateful_step_count=12,
    phases=set(Phase) - {Phase.explain, Phase.shrink},
    suppress_health_check=list(HealthCheck),
)
