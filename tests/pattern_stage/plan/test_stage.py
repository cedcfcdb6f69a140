"""The stage against the set definitions, for drawn plans, with and without rules and indexes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from operator import eq, ge, gt, le, lt
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.pattern_stage.plan.definitions import outputs
from tests.pattern_stage.plan.plans import NAMES, drawn_constants, drawn_events, drawn_plan, tupled
from xscl.pattern_stage.algebra.identity import frozen
from xscl.pattern_stage.algebra.nodes import Iterate, Map, Node, Select, Sequence, Source
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.plan import members, memberships, operators
from xscl.pattern_stage.plan import outputs as outputs_of
from xscl.pattern_stage.plan import queries as queries_of
from xscl.pattern_stage.plan import stage as stage_of
from xscl.pattern_stage.plan.kinds import destinations, selects, states
from xscl.pattern_stage.plan.outputs import EventFound
from xscl.pattern_stage.plan.rules import SWITCHES
from xscl.pattern_stage.plan.stage import EventStage
from xscl.pattern_stage.values.terms import Age, Column, Comparison, Constant


def expected(queries: Any, events: Any) -> set[Any]:
    """The outputs of all queries for all events that they see."""
    found = set()
    for number, (root, types, constants, since) in queries.items():

        def streams(
            layout: Layouts, types: Any = types, since: int = since
        ) -> dict[int, list[Any]]:
            return {
                place: [
                    tupled(one, layout.slots(place))[1]
                    for one in events
                    if one[0] == type_ and one[3] >= since
                ]
                for place, type_ in enumerate(types)
            }

        found |= {(number, *one) for one in outputs(root, constants, streams)}
    return found


SMALL = (
    (members, "_FEW", 2), (members, "_WORN", 0), (memberships, "_SHORT", 1),
    (operators, "_CACHED", 1), (outputs_of, "_FEW", 2), (queries_of, "_PAGE", 2),
    (selects, "_LATELY", 2), (selects, "_MANY", 1), (states, "_CHECKED", 1),
    (destinations, "_CACHED", 1), (states, "_STALE", 0), (stage_of, "_BETWEEN", 4),
    (stage_of, "_PORTION", 8), (stage_of, "_ROUND", 1), (stage_of, "_SPARE", 0),
)  # fmt: skip
"""How many it takes until something is done otherwise."""


@contextmanager
def small() -> Iterator[None]:
    """Where a few are many."""
    with ExitStack() as stack:
        for module, name, number in SMALL:
            stack.enter_context(mock.patch.object(module, name, number))
        yield


@drawn(150)
@given(st.integers(0, 1 << 32))
def test_drawn_plans(seed: int) -> None:
    """Some queries come late, some go, the stage is flushed and reopened: the outputs stay the
    same, whichever way they are read, however many there are."""
    with small() if seed % 3 else nullcontext():
        check(seed)


def check(seed: int) -> None:
    random = Random(seed)
    queries: dict[int, Any] = {}
    for _ in range(random.choice([1, 2, 3])):
        root, kinds = drawn_plan(random)
        types = random.choice([[0, 1], [1, 0], [0, 1], [1, 2]])
        first = drawn_constants(random, kinds)
        for _ in range(random.choice([1, 3, 12, 40])):
            constants = drawn_constants(random, kinds, random.choice([None, first]))
            queries[len(queries)] = root, types, constants, 0
    options = (
        random.choice([(), SWITCHES, random.sample(sorted(SWITCHES), 4)]),
        random.choice([(), (), [{0, 1}]]),
    )
    stage = EventStage(*options)
    for number, query in queries.items():
        stage.add(number, *query[:3])
    events = drawn_events(random, random.choice([8, 20, 40]), twins=bool(options[1]))
    reported, gone, early = set[Any](), set[int](), set[Any]()
    grouped = random.random() < 0.5
    place = 0
    while place < len(events):
        step = random.choice([random.randrange(1, 8), len(events)])
        batch = events[place : place + step]
        place += len(batch)
        stage.take([tupled(one, stage.slots(one[0])) for one in batch])
        rest = events[place:]
        watermark = min((one[2] for one in rest), default=None)
        stage.advance(watermark)
        reported |= collected(stage, reported, grouped)
        change = random.random()
        if change < 0.1:
            stage.flush()
            early |= collected(stage, reported, grouped)
            reported |= early
        elif change < 0.2 and watermark is not None and not early:
            stage = reopened(
                stage, options, {one: queries[one] for one in queries if one not in gone}
            )
            stage.advance(watermark)
            again = [one for one in events[:place] if one[2] >= watermark]
            stage.take([tupled(one, stage.slots(one[0])) for one in again])
            stage.found()
        elif change < 0.3:
            for number in random.sample([*queries], random.choice([1, len(queries) // 2])):
                if number not in gone:
                    stage.remove(number)
                    gone.add(number)
        elif change < 0.45:
            root, types, constants, _ = queries[random.choice([*queries])]
            queries[len(queries)] = root, types, constants, place
            stage.add(len(queries) - 1, root, types, constants, place)
    stage.flush()
    reported |= collected(stage, reported, grouped)
    stage.advance(1 << 40)
    assert not stage.found()
    all_of = expected(queries, events)
    assert {one for one in all_of if one[0] not in gone} <= reported
    assert reported - early <= all_of
    for number in queries.keys() - gone:
        stage.remove(number)
    assert stage.stats()["m-ops"] == 0


def reopened(stage: EventStage, options: Any, queries: Any) -> EventStage:
    """Another stage that continues where one stopped; its attributes have other places."""
    state = json.loads(json.dumps(stage.state()))
    other = EventStage(*options)
    for number, (root, types, constants, since) in reversed(queries.items()):
        other.add(number, root, types, constants, since)
    other.restore(state)
    return other


def collected(stage: EventStage, reported: set[Any], grouped: bool) -> set[Any]:
    """What is new, one by one or by event."""
    found = []
    if grouped:
        outputs = stage.read()
        for place, (root, event, _) in enumerate(outputs):
            numbers = outputs.numbers(place)
            assert outputs.sizes[place] == len(numbers)
            found += [(number, *output(EventFound(number, event, root))) for number in numbers]
    else:
        found = [(one.number, *output(one)) for one in stage.found()]
    assert len(set(found)) == len(found)
    assert not reported & set(found)
    return set(found)


def output(one: EventFound) -> tuple[object, ...]:
    return one.start, one.time, one.document, frozen(one.attributes)


BOUND = (Comparison("<=", Age(None), Constant(0, True), "number"),)
WITHIN = Sequence(BOUND, True, Source(0, NAMES), Source(1, NAMES))
"""What comes first after a left event, within a bound of a query's own."""


@pytest.mark.parametrize("kind", ["next", "fold, skipping", "fold, ending"])
def test_what_no_event_can_meet_any_more_goes(kind: str) -> None:
    """However many events come, the pending instances are those that the widest bound reaches."""
    root: Node = WITHIN
    if kind != "next":
        theta, rho = (BOUND, ()) if kind == "fold, skipping" else ((), BOUND)
        root = Iterate(theta, rho, (), NAMES, (), NAMES, root.left, root.right)
    stage = EventStage()
    for bound in (3, 10):
        stage.add(bound, root, (0, 1), (bound,))
    most, one = 0, stage.slots(0)
    for time in range(3_000):
        kinds = (0,) if kind == "next" else (0, 1) if time % 7 == 0 else (0,)
        stage.take([tupled((type_, time, time, time, {"a": 1.0}), one) for type_ in kinds])
        stage.advance(time)
        if time % 100 == 0:
            # Reading does not evict.
            most = max(most, sum(len(retained[1]) for _, _, retained in stage.state()["operators"]))
    assert 10 <= most <= 200
    assert stage.stats()["instances"] <= 22


def test_instances_of_one_that_has_too_many_go() -> None:
    """Immediately, and others that share its operators find what they find without it."""
    stage, alone = EventStage(most=50), EventStage()
    for bound in (3, 10_000):
        stage.add(bound, WITHIN, (0, 1), (bound,))
    alone.add(3, WITHIN, (0, 1), (3,))
    for time in range(600):
        found = []
        for one in (stage, alone):
            slots = one.slots(0)
            kinds = (0, 1) if time > 300 and time % 7 == 0 else (0,)
            one.take([tupled((type_, time, time, time, {"a": 1.0}), slots) for type_ in kinds])
            one.advance(time)
            found.append([(each.start, each.time) for each in one.found() if each.number == 3])
        assert found[0] == found[1]
        assert stage.stats()["instances"] <= 60
    assert [*stage.stopped] == [10_000]


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "="])
def test_many_conditions_find_what_each_does(sign: Any) -> None:
    condition = (Comparison(sign, Column(0, "a"), Constant(0, True), "number"),)
    stage = EventStage()
    for number in range(60):
        stage.add(number, Select(condition, Source(0, NAMES)), (0,), (float(number % 30),))
    for value in range(-1, 31):
        stage.take([tupled((0, 1, 1, 1 + value, {"a": float(value)}), stage.slots(0))])
        holds = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}[sign]
        assert {one.number for one in stage.found()} == {
            number for number in range(60) if holds(value, number % 30)
        }


def test_an_instance_is_pending_until_its_bound_is_over() -> None:
    stage = EventStage()
    stage.add(0, WITHIN, (0, 1), (10,))
    stage.take([tupled((0, 0, 0, 0, {"a": 1.0}), stage.slots(0))])
    stage.advance(10)
    assert stage.stats()["instances"] == 1
    stage.take([tupled((1, 10, 10, 1, {"a": 1.0}), stage.slots(1))])
    stage.advance(11)
    assert len(stage.found()) == 1


def test_an_instance_is_pending_for_the_members_left() -> None:
    """Of many queries with bounds of their own most go, the widest among them."""
    stage = EventStage()
    for bound in range(1, 200):
        stage.add(bound, WITHIN, (0, 1), (bound,))
    stage.take([tupled((0, 0, 0, 0, {"a": 1.0}), stage.slots(0))])
    stage.advance(1)
    left = {bound for bound in range(1, 200) if bound % 6 == 0 and bound < 190}
    for bound in {*range(1, 200)} - left:
        stage.remove(bound)
    stage.take([tupled((1, 50, 50, 1, {"a": 1.0}), stage.slots(1))])
    stage.advance(51)
    assert {one.number for one in stage.found()} == {bound for bound in left if bound >= 50}


def test_who_comes_between_two_outputs_is_reported_and_counted() -> None:
    """The first output goes to no query, the second to the query as well as to the earlier ones."""
    stage = EventStage()
    for number in range(60):
        stage.add(number, WITHIN, (0, 1), (number + 1,))
    reported = set[Any]()
    for time in (0, 100):
        for type_ in (0, 1):
            event = type_, time + type_, time + type_, time + type_, {"a": 1.0}
            stage.take([tupled(event, stage.slots(type_))])
        stage.advance(time + 2)
        reported |= collected(stage, reported, grouped=True)
        stage.add(1000 + time, WITHIN, (0, 1), (30,))
    assert Counter(number for number, *_ in reported) == {**dict.fromkeys(range(60), 2), 1000: 1}


def test_what_is_equal_is_reported_to_those_who_came_between() -> None:
    """A computed event, while another that is equal may come."""
    root = Map(False, (("a", Column(0, "a")),), Source(0, NAMES))
    stage = EventStage()
    for number in (0, 1):
        stage.add(number, root, (0,), (), number)
        stage.take([tupled((0, 5, 5, number, {"a": 1.0}), stage.slots(0))])
        assert [one.number for one in stage.found()] == [number]
        stage.advance(5)


def test_outputs_are_counted_as_they_are_found() -> None:
    """Many windows, of which an event takes the widest: prefixes of an order."""
    condition = (
        Comparison("=", Column(0, "a"), Column(1, "a"), "number"),
        Comparison("<=", Age(None), Constant(0, True), "number"),
    )
    root = Sequence(condition, True, Source(0, NAMES), Source(1, NAMES))
    stages = [EventStage(), EventStage(), EventStage(["s_;"])]
    for stage in stages:
        for number in range(100):
            stage.add(number, root, (0, 1), (number // 2,))
        stage.remove(7)
    random = Random(5)
    for _ in range(3):
        for stage, kind in zip(stages, (random.getstate(),) * 3, strict=True):
            random.setstate(kind)
            events = drawn_events(random, 40, twins=False)
            stage.take([tupled(one, stage.slots(one[0])) for one in events])
            stage.flush()
    found = Counter(one.number for one in stages[0].found())
    assert found == stages[1].counts() == stages[2].counts()
    assert len(found) > 50
