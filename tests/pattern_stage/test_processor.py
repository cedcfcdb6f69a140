"""The pattern stage against the evaluator that tries every run (tests/oracle/sequences.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import Block, Component, Event, Query, Test, evaluate
from tests.pattern_stage.staging import Staging
from xscl.pattern_stage.found import Found
from xscl.pattern_stage.layouts import END, NUMBER
from xscl.pattern_stage.layouts import Event as Staged
from xscl.pattern_stage.processor import PatternStage
from xscl.pattern_stage.switches import SWITCHES

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

Coming = list[tuple[int, Staged]]


def expected(scene: Scene) -> Counter[tuple[object, ...]]:
    """All matches, by definition."""
    return Counter(
        tuple(match) for query in scene.queries for match in evaluate(query, scene.select)
    )


def events_of(scene: Scene, staging: Staging) -> Coming:
    """All events with their types."""
    return [
        staging.event(type_, event)
        for block, type_ in staging.types.items()
        for event in scene.select(block)
    ]


def fed(
    stage: PatternStage,
    coming: Coming,
    size: int,
    advancing: bool,
    found_by: Callable[[PatternStage], list[Found]] = PatternStage.found,
) -> list[Found]:
    """What is found in events that come in steps of a size; the watermark is where it can be."""
    found = []
    for start in range(0, len(coming), size):
        stage.take(coming[start : start + size])
        rest = [event[END] for _, event in coming[start + size :]]
        if advancing and rest:
            stage.advance(min(rest))
        found += found_by(stage)
    stage.flush()
    return found + found_by(stage)


def ungrouped(stage: PatternStage) -> list[Found]:
    """The matches of all groups, each of which has as many as it says."""
    found = []
    for group in stage.groups():
        matches = [*group.matches()]
        assert group.count == len(matches)
        assert {match.events[-1] for match in matches} == {group.last}
        assert {(match.number, match.time) for match in matches} == {(group.number, group.time)}
        found += matches
    return found


ORDERS = ["by time", "shuffled", "reversed"]


@pytest.mark.drawn
@drawn(25, suppress_health_check=SLOW)
@given(
    scenes(),
    st.sets(st.sampled_from(sorted(SWITCHES))),
    st.integers(1, 40),
    st.sampled_from(ORDERS),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_agreement(
    scene: Scene, without: set[str], size: int, order: str, advancing: bool, dice: Random
) -> None:
    staging = Staging(scene.queries, without)
    coming = sorted(events_of(scene, staging), key=lambda one: one[1][0])
    if order == "shuffled":
        dice.shuffle(coming)
    elif order == "reversed":
        coming.reverse()
    found_by = dice.choice([PatternStage.found, ungrouped])
    found = fed(staging.stage, coming, size, advancing, found_by)
    assert Counter(map(staging.match, found)) == expected(scene), scene.text


@pytest.mark.drawn
@drawn(10, suppress_health_check=SLOW)
@given(scenes(), st.integers(1, 40))
def test_counts(scene: Scene, size: int) -> None:
    staging = Staging(scene.queries)
    counts = Counter[int]()

    def counted(stage: PatternStage) -> list[Found]:
        counts.update(stage.counts())
        return []

    fed(staging.stage, events_of(scene, staging), size, True, counted)
    named = Counter[str]()
    for number, count in counts.items():
        named[staging.queries[number].name] += count
    assert named == Counter(match[0] for match in expected(scene).elements())
    assert staging.stage.found() == []


@pytest.mark.drawn
@drawn(10, suppress_health_check=SLOW)
@given(scenes(), st.integers(1, 5), st.integers(0, 30))
def test_what_is_flushed_is_found_once(scene: Scene, size: int, cut: int) -> None:
    """Where the input continues after it has ended, nothing is found again; of a query to which
    events only add matches, nothing is lost, either."""
    staging = Staging(scene.queries)
    coming = sorted(events_of(scene, staging), key=lambda one: one[1][0])
    found = fed(staging.stage, coming[:cut], size, True) + fed(
        staging.stage, coming[cut:], size, True
    )
    seen = Counter(map(staging.match, found))
    assert max(seen.values(), default=1) == 1
    simple = {
        query.name
        for query in scene.queries
        if not query.non_overlapping and not any(one.negated for one in query.components)
    }
    missing = {match for match in expected(scene) - seen if match[0] in simple}
    assert not missing, scene.text


@pytest.mark.parametrize("length", [1, 16, 17, 40])
def test_sequences_of_any_length(length: int) -> None:
    block = Block("A")
    components = tuple(Component(f"x{place}", (block,)) for place in range(length))
    staging = Staging([Query("Q", components, tests=(Test("k"),), within=length + 0.5)])
    coming = [
        staging.event(staging.types[block], Event(f"d{time}", time, 0, values={"k": "u"}))
        for time in range(length + 2)
    ]
    found = fed(staging.stage, coming[::2] + coming[1::2], 1, False)
    events = [[event[NUMBER] for _, event in match.events] for match in found]
    assert len(events) == len({*map(tuple, events)})
    assert len(events) == 2 * length + 1
    assert all(match.time - match.start <= length * 1_000_000 for match in found)


def test_what_is_exponential_is_not_gone_through() -> None:
    """2^200 runs: they are counted, and the one that overlaps with none is reported."""
    block, other = Block("A"), Block("B")
    components = (Component("a", (block,), kleene=True), Component("b", (other,)))
    queries = [
        Query("all", components, "skip_till_any_match"),
        Query("apart", components, "skip_till_any_match", non_overlapping=True),
    ]
    counting, finding = Staging(queries[:1]), Staging(queries[1:])
    for staging in (counting, finding):
        events = [
            staging.event(staging.types[other if time == 200 else block], Event("d", time, 0))
            for time in range(201)
        ]
        staging.stage.take(events)
        staging.stage.flush()
    assert counting.stage.counts() == {0: 2**200 - 1}
    assert [match.start for match in finding.stage.found()] == [199 * 1_000_000]
