"""Queries that share an automaton: the same up to constants, coming and going while events flow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import (
    Arithmetic,
    Block,
    Comparison,
    Component,
    Event,
    Negative,
    Number,
    Query,
    Read,
    Term,
    Text,
    evaluate,
)
from tests.pattern_stage.staging import Staging
from tests.pattern_stage.test_processor import SLOW, events_of, fed

TEXTS = ["u", "w", "x", "1", "2", "3", "odd"]


def varied(query: Query, name: str, dice: Random) -> Query:
    """The same query with other constants."""

    def term(one: Term) -> Term:
        match one:
            case Number(value):
                return Number(value + dice.choice([-1, -0.5, 0, 0, 0.5, 1]))
            case Text(value):
                return Text(dice.choice([value, *TEXTS]))
            case Arithmetic(sign, left, right):
                return Arithmetic(sign, term(left), term(right))
            case Negative(operand):
                return Negative(term(operand))
        return one

    def constant(one: Number | Text | None) -> Number | Text | None:
        other = None if one is None else term(one)
        assert other is None or isinstance(other, Number | Text)
        return other

    return replace(
        query,
        name=name,
        conjuncts=tuple(
            tuple(Comparison(one.operator, term(one.left), term(one.right)) for one in conjunct)
            for conjunct in query.conjuncts
        ),
        tests=tuple(replace(test, constant=constant(test.constant)) for test in query.tests),
    )


@pytest.mark.drawn
@drawn(12, suppress_health_check=SLOW)
@given(scenes(), st.integers(1, 40), st.booleans(), st.randoms(use_true_random=False))
def test_similar_queries(scene: Scene, size: int, ordered: bool, dice: Random) -> None:
    similar = [
        varied(query, f"{query.name}-{number}", dice)
        for query in scene.queries
        for number in range(6)
    ]
    staging = Staging(similar)
    assert staging.stage.stats()["templates"] <= len(scene.queries)
    coming = sorted(events_of(scene, staging), key=lambda one: one[1][0])
    if not ordered:
        dice.shuffle(coming)
    found = Counter(map(staging.match, fed(staging.stage, coming, size, True)))
    assert found == Counter(
        tuple(match) for query in similar for match in evaluate(query, scene.select)
    )


@pytest.mark.drawn
@drawn(12, suppress_health_check=SLOW)
@given(scenes(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_queries_come_and_go(scene: Scene, size: int, dice: Random) -> None:
    """A query finds what is of events since it came, up to when it goes."""
    staging = Staging([])
    blocks = {block for query in scene.queries for one in query.components for block in one.blocks}
    events = [(block, event) for block in sorted(blocks, key=repr) for event in scene.select(block)]
    events.sort(key=lambda one: one[1].time)
    seen: dict[int, list[tuple[Block, Event]]] = {}
    ended: dict[int, float] = {}
    found = []
    for start in range(0, len(events) + size, size):
        step = events[start : start + size]
        first = len({staging.number(event) for _, event in events[:start]})
        for query in dice.sample(scene.queries, dice.randint(0, len(scene.queries))):
            number = len(staging.queries)
            staging.queries.append(varied(query, f"{query.name}-{number}", dice))
            staging.add(number, staging.queries[-1], since=first)
            seen[number] = []
        coming = []
        for block, event in step:
            if staging.number(event) < first:
                continue
            for number in seen.keys() - ended.keys():
                seen[number].append((block, event))
            if block in staging.types:
                coming.append(staging.event(staging.types[block], event))
        staging.stage.take(coming)
        rest = [event.time for _, event in events[start + size :]]
        watermark = min(rest, default=100.0)
        staging.stage.advance(round(watermark * 1_000_000))
        found += staging.stage.found()
        if seen.keys() - ended.keys() and dice.random() < 0.3:
            gone = dice.choice(sorted(seen.keys() - ended.keys()))
            ended[gone] = watermark
            staging.stage.remove(gone)
    expected = Counter[tuple[object, ...]]()
    for number, events in seen.items():
        query = staging.queries[number]
        by_block: dict[Block, list[Event]] = {block: [] for block in blocks}
        for block, event in events:
            by_block[block].append(event)
        for match in evaluate(query, by_block.__getitem__):
            until = ended.get(number)
            strong = query.non_overlapping and until is not None and match.time >= until
            late = until is not None and match.time > until
            if not strong and not late:
                expected[tuple(match)] += 1
    assert Counter(map(staging.match, found)) == expected, scene.text
    for number in seen.keys() - ended.keys():
        staging.stage.remove(number)
    assert staging.stage.stats()["automata"] == 0


def test_queries_that_go_leave_nothing() -> None:
    """However many come and go alongside one that stays."""
    block = Block("A")
    staging = Staging([])
    for number in range(500):
        read = Comparison(">", Read("a", "p"), Number(number))
        staging.queries.append(Query("Q", (Component("a", (block,)),), conjuncts=((read,),)))
        staging.add(number, staging.queries[-1])
        if number % 2:
            staging.stage.remove(number)
        elif number > 20:
            staging.stage.remove(number - 10)
    event = staging.event(staging.types[block], Event("d", 1, 0, values={"p": "495"}))
    staging.stage.take([event])
    found = [match.number for match in staging.stage.found()]
    assert found == [*range(0, 12, 2), *range(490, 495, 2)]
    assert staging.stage.stats()["automata"] <= 3
