"""What the pattern stage remembers: over a restart, for as long as a window, and no longer."""

from __future__ import annotations

import gc
import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import (
    STRATEGIES,
    Arithmetic,
    Block,
    Comparison,
    Component,
    Event,
    Number,
    Query,
    Read,
    Test,
    Text,
)
from tests.pattern_stage.staging import Staging
from tests.pattern_stage.test_processor import SLOW, events_of, expected, fed
from xscl.pattern_stage.cells import Cell, chains, joined, pruned
from xscl.pattern_stage.layouts import END
from xscl.pattern_stage.processor import FOREVER, PatternStage
from xscl.pattern_stage.switches import SWITCHES

A, B = Block("A"), Block("B")
SECOND = 1_000_000


@pytest.mark.drawn
@drawn(10, suppress_health_check=SLOW)
@given(scenes(), st.integers(0, 20), st.integers(1, 5), st.booleans())
def test_over_a_restart(scene: Scene, cut: int, size: int, flushes: bool) -> None:
    """A new stage that takes the events again that are still in reach continues as the old one
    would have, whatever was reported early."""
    staging, other = Staging(scene.queries), Staging(scene.queries)
    coming = sorted(events_of(scene, staging), key=lambda one: one[1][0])
    events_of(scene, other)  # The same numbers.
    cut = min(cut, len(coming))
    watermark = coming[cut][1][0] if cut < len(coming) else None
    staging.stage.take(coming[:cut])
    staging.stage.advance(watermark)
    if flushes:
        staging.stage.flush()
    found = staging.stage.found()
    retained = [
        (type_, event)
        for type_, event in coming[:cut]
        if watermark is None or event[END] >= watermark - staging.stage.reach(type_)
    ]
    before, after = (retained, []) if flushes else ([], retained)
    other.stage.rebuild(before, after, watermark, staging.stage.memories)
    later = fed(other.stage, coming[cut:], size, True)
    if flushes:
        # What the end of the input decided stays; what comes then may add other matches.
        early = Counter(map(staging.match, found))
        assert max((early + Counter(map(staging.match, later))).values(), default=1) == 1
        assert not expected(scene) - early - Counter(map(staging.match, later)), scene.text
    else:
        assert Counter(map(staging.match, found + later)) == expected(scene), scene.text


@pytest.mark.drawn
@drawn(10, suppress_health_check=SLOW)
@given(scenes(), st.integers(1, 5))
def test_weak_is_as_strong_in_order(scene: Scene, size: int) -> None:
    """Where nothing is late all is found, and as soon as it is decided."""
    queries = [replace(query, non_overlapping=False) for query in scene.queries]
    staging = Staging([])
    for number, query in enumerate(queries):
        staging.queries.append(query)
        staging.add(number, query, weak=True)
    coming = sorted(events_of(scene, staging), key=lambda one: one[1][0])
    found = []
    for start in range(0, len(coming), size):
        staging.stage.take(coming[start : start + size])
        found += staging.stage.found()
        assert all(match.time <= coming[start : start + size][-1][1][0] for match in found)
    staging.stage.flush()
    found += staging.stage.found()
    assert Counter(map(staging.match, found)) == expected(replace(scene, queries=queries))
    assert staging.stage.stats()["dropped"] == 0


def test_weak_drops_what_is_late() -> None:
    staging = Staging([])
    staging.queries.append(Query("Q", (Component("a", (A,)), Component("b", (B,)))))
    staging.add(0, staging.queries[0], weak=True)
    late, others = Event("a", 1, 0), [Event("b", 2, 0), Event("a2", 2, 0), Event("b3", 3, 0)]
    staging.stage.take([staging.event(staging.types[B], others[0])])
    staging.stage.take([staging.event(staging.types[A], late)])
    staging.stage.take([staging.event(staging.types[A], others[1])])
    staging.stage.take([staging.event(staging.types[B], others[2])])
    assert [match.start for match in staging.stage.found()] == [2 * SECOND]
    assert staging.stage.stats()["dropped"] == 1


def test_an_absence_is_found_when_time_has_passed() -> None:
    """Of a stream that is quiet, by a watermark alone; not before the window has ended."""
    query = Query("Q", (Component("a", (A,)), Component("b", (B,), negated=True)), within=5)
    staging = Staging([query])
    staging.stage.take([staging.event(staging.types[A], Event("a", 1, 0))])
    for time in (1, 5, 6 - 0.000001):
        staging.stage.advance(round(time * SECOND))
        assert staging.stage.found() == []
    staging.stage.advance(6 * SECOND)
    assert [match.time for match in staging.stage.found()] == [6 * SECOND]


def test_reach() -> None:
    seq = (Component("a", (A,)), Component("b", (B,)))
    staging = Staging([Query("Q", seq, within=5), Query("R", seq[::-1], within=9)])
    assert [staging.stage.reach(staging.types[one]) for one in (A, B)] == [9 * SECOND] * 2
    staging.stage.remove(1)
    staging.add(1, Query("alone", seq[:1], within=9))
    assert [staging.stage.reach(staging.types[one]) for one in (A, B)] == [5 * SECOND] * 2
    staging.add(2, Query("S", (*seq[1:], *seq[:1])))
    assert staging.stage.reach(staging.types[B]) == FOREVER
    staging.stage.remove(2)
    assert staging.stage.reach(staging.types[B]) == 5 * SECOND


KLEENE = (Component("a", (A,), kleene=True), Component("b", (B,)))
RISING = ((Comparison(">", Read("a", "p", "i"), Read("a", "p", "i-1")),),)
WINDOWED = {
    "sequence": Query("Q", (Component("a", (A,)), Component("b", (B,)), Component("c", (B,)))),
    "negated": Query(
        "Q", (Component("a", (A,)), Component("n", (A,), negated=True), Component("b", (B,)))
    ),
    "absent": Query("Q", (Component("a", (A,)), Component("n", (B,), negated=True))),
    "apart": Query("Q", KLEENE, "skip_till_next_match", RISING, non_overlapping=True),
    **{f"kleene {name}": Query("Q", KLEENE, name) for name in STRATEGIES},
    **{f"rising {name}": Query("Q", KLEENE, name, RISING) for name in STRATEGIES[:3]},
}
ONE_VALUE = {f"kleene {name}" for name in STRATEGIES[2:]}


@pytest.mark.parametrize("kind", WINDOWED)
def test_state_is_bounded_by_the_window(kind: str) -> None:
    """However long the input, and however many values a test has."""
    query = replace(WINDOWED[kind], within=20.0, tests=(Test("k"),))
    staging = Staging([query])
    others = cells()
    for time in range(900):
        block = (A, A, B)[time % 3]
        key = "u" if kind in ONE_VALUE else str(time // 30)
        event = Event(f"d{time}", time, 0, values={"k": key, "p": str(time * 7 % 10)})
        staging.stage.take([staging.event(staging.types[block], event)])
        staging.stage.advance(time * SECOND)
        staging.stage.counts()
    assert staging.stage.stats()["runs"] <= 60
    assert cells() - others <= 100


def cells() -> int:
    """How many there are, referenced or not."""
    gc.collect()
    return sum(isinstance(one, Cell) for one in gc.get_objects())


@pytest.mark.drawn
@drawn(50)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40), st.integers(0, 40)), max_size=30))
def test_pruning_leaves_what_begins_in_time(steps: list[tuple[bool, int, int]]) -> None:
    """And of what retains nothing else not a cell is made again."""
    cells = [Cell((0, 0, 0), 0, None)]
    for time, (joining, one, other) in enumerate(steps, 1):
        left, right = cells[one % len(cells)], cells[other % len(cells)]
        if joining and set(chains(left, None)).isdisjoint(chains(right, None)):
            left = joined(left, right)
        cells += [Cell((time, time, time), 0, left), Cell((time, time, -time), 0, None)]
    for cell, floor in itertools.product(cells, (-1, 0, len(steps) // 2, len(steps))):
        live = {one for one in chains(cell, None) if one[0][1][0] > floor}
        kept = pruned(cell, floor, {})
        assert live == (set() if kept is None else set(chains(kept, None)))
        assert kept is None or kept.least == min(one[0][1][0] for one in live)
        assert (kept is cell) == (len(live) == len([*chains(cell, None)]))


def test_runs_that_have_ended_go_without_a_window_too() -> None:
    query = Query("Q", KLEENE, "partition_contiguity", RISING, tests=(Test("k"),))
    staging = Staging([query])
    for time in range(5000):
        values = {"k": str(time // 2), "p": str(-time)}
        event = Event(f"d{time}", time, 0, values=values)
        staging.stage.take([staging.event(staging.types[A], event)])
        staging.stage.advance(time * SECOND)
    assert staging.stage.stats()["runs"] < 4500


def test_unknown_switches_are_refused() -> None:
    with pytest.raises(ValueError, match="warp: no technique of patterns; there are AI, "):
        PatternStage(["warp", "PAIS"])
    PatternStage(SWITCHES)


def test_constants_are_compared_as_numbers_or_texts() -> None:
    """Each operator with each constant, for all queries together."""
    texts = ["", "1", "1.0", " 2 ", "10", "9", "a", "NaN", "-INF", "b"]
    constants: list[Number | Text] = [*map(Number, (-1, 1, 2, 9.5, math.inf)), *map(Text, texts)]
    queries = [
        Query(
            f"{operator} {constant!r}",
            (Component("a", (A,)),),
            conjuncts=((Comparison(operator, Read("a", "p"), constant),),),
        )
        for operator in ("=", "!=", "<", "<=", ">", ">=")
        for constant in constants
    ]
    staging = Staging(queries)
    assert staging.stage.stats()["automata"] == 12
    events = [Event(f"d{i}", i, 0, values={"p": text}) for i, text in enumerate(texts)]
    staging.stage.take([staging.event(staging.types[A], event) for event in events])
    scene = Scene(queries, [], lambda block: events)
    assert Counter(map(staging.match, staging.stage.found())) == expected(scene)


def test_constants_in_arithmetic() -> None:
    """On each side of each sign, for all queries together, which are of one automaton."""
    numbers = [-math.inf, -2.0, -1.0, -0.0, 0.5, 1.0, 3.0, math.inf, math.nan]
    texts = ["-INF", "-2", "-0", "0", "1", "2.5", "INF", "NaN", "odd"]
    p, q = Read("a", "p"), Read("a", "q")
    queries = [
        Query(
            f"{operator} {sign} {turned} {number}",
            (Component("a", (A,)),),
            conjuncts=((Comparison(operator, term, q),),),
        )
        for operator in ("<", "<=", ">", ">=", "=")
        for sign in "+-*/%"
        for number in numbers
        for turned, term in enumerate(
            [Arithmetic(sign, Number(number), p), Arithmetic(sign, p, Number(number))]
        )
    ]
    staging = Staging(queries)
    assert staging.stage.stats()["automata"] == 50
    events = [
        Event(f"d{i}", i, 0, values={"p": one, "q": other})
        for i, (one, other) in enumerate(itertools.product(texts, texts))
    ]
    found = fed(staging.stage, [staging.event(0, event) for event in events], 81, True)
    assert Counter(map(staging.match, found)) == expected(Scene(queries, [], lambda _: events))
    for number in range(len(queries)):
        staging.stage.remove(number)
    assert staging.stage.stats()["automata"] == 0
