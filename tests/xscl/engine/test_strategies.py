"""Each strategy switched off alone, and all together: the same matches (docs/laws.md#definitions,
#signatures, #channel-tuples, #two-value-joins).

Over a sample of the conformance and property cases; over more of them by `make fuzz`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import cycle, islice
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

import xscl
from tests.conformance.runner import Case, Envelope, Feeding, matches_of, read_cases
from tests.conformance.test_conformance import OWN, SHARED_CASES
from tests.drawn import drawn, seeded, times
from tests.oracle.canonical import differences
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.terms import Document, Query
from tests.xscl.engine.drawing import TIMES, batches, expected, run
from tests.xscl.engine.ways import WAYS, Way
from xscl.join_stage.in_process import signatures

SAMPLE = times(4)
"""So many cases, drawn at random, in each way by one question that is drawn, too."""

TOGETHER = min(len(WAYS), times(5))
"""So many ways, drawn at random, take one drawn example."""

some_ways = st.permutations(WAYS).map(lambda ways: ways[:TOGETHER])


def cases() -> list[Case]:
    every = [case for path in (*SHARED_CASES, *OWN) if path.exists() for case in read_cases(path)]
    some = [case for case in every if "events" in case and case.get("expected")]
    return seeded("strategies").sample(some, min(SAMPLE, len(some)))


def in_threes(events: list[Envelope]) -> Iterator[list[Envelope]]:
    """In batches of one, two and three."""
    left = iter(events)
    for size in cycle((1, 2, 3)):
        batch = list(islice(left, size))
        if not batch:
            return
        yield batch


def by_matches(engine: Any, events: list[Envelope]) -> Iterator[Any]:
    for batch in in_threes(events):
        yield from engine.publish_many(batch)


def by_groups(engine: Any, events: list[Envelope]) -> Iterator[Any]:
    for batch in in_threes(events):
        groups = engine.publish_many(batch, grouped=True)
        found = [match for group in groups for match in group.matches()]
        assert groups.total == len(found)
        yield from found


def finds(feed: Feeding, case: Case, options: Mapping[str, Any]) -> None:
    # Results of JSON documents are left open, as in the conformance tests.
    results = {"result": None} if case["case"].startswith("json-") else {}
    matches = [match | results for match in case["expected"]]
    found = [match | results for match in matches_of(case, feed, **options)]
    difference = differences(matches, found)
    assert not difference, difference


def counts(case: Case, options: Mapping[str, Any]) -> None:
    with xscl.Engine(**options) as engine:
        engine.load_good(case["queries"])
        found = +engine.count(case["events"], batch=3)
    assert found == Counter(match["query"] for match in case["expected"])


QUESTIONS = (partial(finds, by_matches), partial(finds, by_groups), counts)


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["case"]))
def test_all_find_what_a_case_expects(case: Case) -> None:
    dice = seeded(case["case"])
    for way in WAYS:
        for question in dice.sample(QUESTIONS, min(len(QUESTIONS), times(1))):
            with way.taken() as options:
                question(case, options)


limits = drawn(
    6,
    phases=set(Phase) - {Phase.explain},
    suppress_health_check=list(HealthCheck),
)


@limits
@given(st.data(), some_ways, query_sets("plain"), documents("plain", times=TIMES))
def test_all_find_what_nested_loops_find(
    data: st.DataObject, ways: list[Way], queries: list[Query], published: list[Document]
) -> None:
    rows = expected(queries, published)
    fed = data.draw(batches(published))
    for way in ways:
        with way.taken() as options:
            assert run(queries, fed, **options) == rows, way


@limits
@given(some_ways, query_sets("plain", finite=True), documents("plain", times=TIMES, most=9))
def test_eviction_loses_nothing_that_matters(
    ways: list[Way], queries: list[Query], published: list[Document]
) -> None:
    in_order = sorted(published, key=lambda document: document.timestamp)
    rows = expected(queries, in_order)
    for way in ways:
        with way.taken() as options:
            assert run(queries, [[one] for one in in_order], lateness=0, **options) == rows, way


def test_places_are_dropped_wherever_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "_POSITIONS", 1)
    ordered = "S//a->x JOIN {x = y AND x < w, 5} S//d[./b->y][./c->w]"
    with xscl.Engine(strategies=xscl.Strategies(in_process=3)) as engine:
        engine.subscribe(ordered)
        # Joined in DuckDB, so that the slice is filled by the first of what follows, which is too
        # late for a match, and the leaves are looked up by the second.
        engine.publish_many([{"xml": "<a>1</a>", "timestamp": time} for time in range(4)])
        document = "<d><b>1</b><c>2</c></d>"
        found = [len(engine.publish("S", document, timestamp=time)) for time in (100, 3, 8)]
    assert found == [0, 4, 1]
