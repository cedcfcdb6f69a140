"""The stage against the set definitions, for drawn plans, with and without rules and indexes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pattern_stage.algebra import Layout
from pattern_stage.algebra.identity import frozen
from pattern_stage.plan.rules import SWITCHES
from pattern_stage.plan.stage import EventStage
from tests.pattern_stage.plan.definitions import outputs
from tests.pattern_stage.plan.plans import drawn_constants, drawn_events, drawn_plan, tupled


def expected(queries: Any, events: Any) -> set[Any]:
    """What all queries tell of all events."""
    found = set()
    for number, (root, types, constants) in queries.items():

        def streams(layout: Layout, types: Any = types) -> dict[int, list[Any]]:
            return {
                place: [tupled(one, layout.slots(place))[1] for one in events if one[0] == type_]
                for place, type_ in enumerate(types)
            }

        found |= {(number, *one) for one in outputs(root, constants, streams)}
    return found


@pytest.mark.parametrize("seed", range(40))
def test_drawn_plans(seed: int) -> None:
    check(seed)


def check(seed: int) -> None:
    random = Random(seed)
    queries: dict[int, Any] = {}
    for _ in range(random.choice([1, 2, 3])):
        root, kinds = drawn_plan(random)
        types = random.sample(range(3), 2)
        for _ in range(random.choice([1, 3, 12])):
            queries[len(queries)] = root, types, drawn_constants(random, kinds)
    without = random.choice([(), SWITCHES, random.sample(sorted(SWITCHES), 4)])
    stage = EventStage(without)
    for number, (root, types, constants) in queries.items():
        stage.add(number, root, types, constants)
    events = drawn_events(random, random.choice([5, 12, 20]))
    told = set[Any]()
    rest = [*events]
    random.shuffle(rest)
    while rest:
        step = random.randrange(1, 8)
        batch, rest = rest[:step], rest[step:]
        stage.take([tupled(one, stage.slots(one[0])) for one in batch])
        stage.advance(min((one[2] for one in rest), default=None))
        told |= collected(stage, told)
    stage.flush()
    told |= collected(stage, told)
    stage.advance(1 << 40)
    assert not stage.found()
    assert told == expected(queries, events)
    for number in queries:
        stage.remove(number)
    assert stage.stats()["m-ops"] == 0


def collected(stage: EventStage, told: set[Any]) -> set[Any]:
    found = [
        (one.number, one.start, one.time, one.document, frozen(one.attributes))
        for one in stage.found()
    ]
    assert len(set(found)) == len(found)
    assert not told & set(found)
    return set(found)
