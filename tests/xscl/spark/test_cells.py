"""Each match is found in the one cell that owns it, whatever its documents; and a stream's cell is
the same for every process that has to build it again."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from time import time_ns
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xscl
from tests.drawn import times
from tests.oracle.canonical import differences
from xscl.spark.joins import live_cells
from xscl.spark.joins.cells import Cells, Subsets, TimeSlices
from xscl.spark.joins.documents import Part, parts_of
from xscl.spark.joins.live_cells import (
    LiveCell,
    Portion,
    PortionId,
    Revision,
    packed,
    steps_of,
)
from xscl.spark.joins.matches import CellRows
from xscl.spark.joins.needs import Needs
from xscl.spark.joins.plan import Queries, groups_of
from xscl.spark.joins.stream import stream_cells, stream_kind

SECOND = 1_000_000
HOUR = 3_600 * SECOND

documents = st.lists(
    st.tuples(st.tuples(st.sampled_from("SR"), st.text(max_size=3)), st.integers(-50, 50)),
    min_size=1,
    max_size=4,
)


def check(cells: Cells, match: list[tuple[tuple[str, str], int]]) -> None:
    """One cell owns a match, and each of its documents goes there."""
    owner = cells.owner([place for place, _ in match], max(time for _, time in match))
    assert 0 <= owner < cells.count
    for place, time in match:
        to = cells.of(place, time)
        assert owner in to
        assert len({*to}) == len(to)
        assert set(to) <= set(range(cells.count))


@given(documents, st.integers(0, 100), st.lists(st.integers(-60, 60), max_size=5, unique=True))
def test_slices_of_time(
    match: list[tuple[tuple[str, str], int]], reach: int, bounds: list[int]
) -> None:
    latest = max(time for _, time in match)
    within = [(place, time) for place, time in match if latest - time <= reach]
    check(TimeSlices(tuple(sorted(bounds)), reach), within)


@given(documents, st.integers(0, 4))
def test_subsets(match: list[tuple[tuple[str, str], int]], more: int) -> None:
    check(Subsets(len(match) + more, len(match)), match)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("tasks", [1, 2, 8, 100])
def test_subsets_take_no_longer_than_one_cell(width: int, tasks: int) -> None:
    cells = Subsets.for_tasks(tasks, width)
    rounds = -(-cells.count // tasks)
    assert rounds * cells.width <= cells.classes
    assert tasks == 1 or width > 1 or cells.count == tasks


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ("S//a->x", [Needs(1, 0, False)]),
        ("S//a->x JOIN {x = y, 5 s} S//b->y", [Needs(2, 5 * SECOND, False)]),
        ("S//a->x JOIN {x = y} S//b->y", [Needs(2, None, False)]),
        (
            "S//a->x JOIN {x = y, 5 s} S//b->y FOLLOWED BY {y = z, 7 s} R//c->z",
            [Needs(3, 12 * SECOND, False)],
        ),
        (
            "S//a->x JOIN {x = y, 5 s} S//b->y PUBLISH P; P//a->x JOIN {x = y, 1 s} R//b->y;",
            [Needs(3, 6 * SECOND, True)],
        ),
        (
            "(S//a->x JOIN {x = y, 5 s} S//b->y)//a->x JOIN {x = z, 1 s} R//c->z",
            [Needs(3, 6 * SECOND, True)],
        ),
        (
            "S//a->x JOIN {x = y, 5 s} S//b->y; R//a->x JOIN {x = y} R//b->y",
            [Needs(2, 5 * SECOND, False), Needs(2, None, False)],
        ),
    ],
)
def test_what_a_match_needs(queries: str, expected: list[Needs]) -> None:
    with Queries.of(queries).engine(0) as engine:
        assert [group.needs for group in groups_of(engine, lambda needs: needs.said)] == expected


def test_queries_that_read_what_others_publish_stay_together() -> None:
    text = """
    -- name: late
    Q//a->x JOIN {x = y} S//b->y;
    -- name: alone
    S//a->x;
    -- name: first
    S//a->x JOIN {x = y, 5 s} S//b->y PUBLISH P;
    -- name: second
    P//a->x JOIN {x = y, 5 s} R//b->y PUBLISH Q;
    """
    with Queries.of(text).engine(0) as engine:
        groups = groups_of(engine, lambda needs: needs.bounded)
    found = {group.kind: (group.queries, group.streams) for group in groups}
    assert found == {
        "bounded": ({"alone"}, {"S"}),
        "endless": ({"late", "first", "second"}, {"S", "R", "P", "Q"}),
    }


@cache
def part_of(*texts: str) -> Part:
    """What a single cell evaluates."""
    with Queries.of(texts).engine(0) as engine:
        (group,) = groups_of(engine, lambda needs: "all")
    (part,) = parts_of([group], lambda _: Subsets(1, 1))
    return part


@dataclass
class Store:
    """What a state store has of one cell."""

    portions: dict[PortionId, Portion] = field(default_factory=dict)
    clock: int | None = None


@dataclass
class Stream:
    """A stream of one cell, evaluated by several processes in turn, of which some batches are
    made twice."""

    revisions: list[Revision]
    lateness: int | None
    dice: random.Random
    store: Store = field(default_factory=Store)
    processes: list[LiveCell | None] = field(default_factory=lambda: [None, None])
    found: list[dict[str, Any]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def batch(self, events: list[dict[str, Any]]) -> None:
        if self.dice.random() < 0.3:
            self.attempt(events)  # and is lost
        live, rows, new, gone = self.attempt(events)
        for one in gone:
            del self.store.portions[one]
        self.store.portions.update((one, live.portions[one]) for one in new)
        self.store.clock = live.clock
        for row in rows:
            if row["skipped"] is None:
                self.found.append(row | {"bindings": dict(row["bindings"])})
            else:
                self.skipped[row["skipped"]] += row["count"]

    def attempt(self, events: list[dict[str, Any]]) -> Any:
        part = self.part
        index = self.dice.randrange(len(self.processes))
        live = self.processes[index]
        stored = {*self.store.portions}
        if live is None or live.made_for != (tuple(self.revisions), part, self.lateness):
            live = LiveCell(tuple(self.revisions), part, 0, self.lateness)
        if not live.follow(self.store.clock, stored, self.store.portions.__getitem__):
            live = LiveCell(tuple(self.revisions), part, 0, self.lateness)
            assert live.follow(self.store.clock, stored, self.store.portions.__getitem__)
        self.processes[index] = live
        rows = [
            (one["stream"], one["id"], one["timestamp"] * SECOND, None, one["xml"], None, None)
            for one in events
        ]
        found = CellRows(part, 0, grouped=False, results=True)
        clock = max((one["timestamp"] * SECOND for one in events), default=None)
        (rows,) = steps_of(packed([rows]))
        new, gone, batches = live.take(rows, clock, found)
        return live, [row for batch in batches for row in batch.to_pylist()], new, gone

    @property
    def part(self) -> Part:
        return part_of(*self.revisions[-1].queries.texts)


QUERIES = """
-- name: pairs
S//a->x FOLLOWED BY {x = y, 5 s} S//b->y;
-- name: chain
S//a->x JOIN {x = y, 4 s} S//b->y FOLLOWED BY {y = z, 6 s} S//c->z;
-- name: published
SELECT <p><a>{string(x)}</a></p> FROM S//b->x JOIN {x = y, 3 s} S//c->y PUBLISH P;
-- name: next
P//a->x JOIN {x = y, 8 s} S//a->y;
"""
CHANGED = (
    QUERIES.replace("x = y, 5 s", "x = y, 9 s")
    + "-- name: more\nS//c->x JOIN {x = y, 5 s} S//a->y;"
)
LATENESS = 6


def drawn_events(dice: random.Random) -> list[dict[str, Any]]:
    events = []
    for number in range(dice.randint(5, 40)):
        name, value = dice.choice("abc"), dice.choice("uvw")
        id = f"d{number}" if dice.random() < 0.9 else f"d{max(number - dice.randint(0, 4), 0)}"
        time = number + dice.randint(-10, 0)
        xml = f"<{name}>{value}</{name}>"
        events.append({"stream": "S", "id": id, "timestamp": time, "xml": xml})
    return events


@settings(max_examples=times(8))
@given(st.randoms(use_true_random=False), st.sampled_from([2, 256]))
def test_a_stream_finds_what_an_engine_finds(dice: random.Random, portions: int) -> None:
    """An engine that gets the same batches in order of time, with those that are late left out; and
    that a change of queries meets between the same batches."""
    with patch.object(live_cells, "_PORTIONS", portions):
        check_stream(dice)


def check_stream(dice: random.Random) -> None:
    events = drawn_events(dice)
    revisions = [Revision(Queries.of(QUERIES))]
    stream = Stream(revisions, LATENESS * SECOND, dice)
    expected: list[dict[str, Any]] = []
    skipped: Counter[str] = Counter()
    change = dice.randrange(2 * len(events))
    with xscl.Engine(lateness=LATENESS) as engine:
        engine.load(QUERIES)
        clock, given = None, 0
        ids: dict[str, int] = {}
        while given < len(events):
            if given >= change and len(revisions) == 1:
                revisions.append(Revision(Queries.of(CHANGED), frozenset({"pairs"})))
                engine.cancel("pairs")
                engine.load_good(CHANGED)
            size = dice.randint(1, 8)
            batch, given = events[given : given + size], given + size
            stream.batch(batch)
            good = []
            for one in sorted(batch, key=lambda one: (one["timestamp"], one["stream"], one["id"])):
                if clock is not None and one["timestamp"] < clock - LATENESS:
                    skipped["late"] += 1
                elif one["id"] in ids:
                    skipped["duplicate"] += 1
                else:
                    good.append(one)
                    ids[one["id"]] = one["timestamp"]
            expected += [match.to_dict() for match in engine.publish_many(good)]
            latest = max(one["timestamp"] for one in batch)
            clock = latest if clock is None else max(clock, latest)
    assert not differences(expected, stream.found)
    assert stream.skipped == skipped


def test_a_time_far_ahead_makes_nothing_late_in_the_cells_of_later_runs() -> None:
    """It is less far ahead for them, and the clock of the stream has not seen it."""
    text = "S//a->x JOIN {x = y, 1 hour} S//b->y"
    part, revisions, lateness = part_of(text), (Revision(Queries.of(text)),), HOUR

    def rows(*of: tuple[str, int, str]) -> list[Any]:
        return [("S", id, time, None, xml, None, None) for id, time, xml in of]

    first = time_ns() // 1_000 - 18 * HOUR
    live = LiveCell(revisions, part, 0, lateness)
    found = CellRows(part, 0, grouped=False, results=True)
    some = rows(("d", first, "<a>u</a>"), ("f", first + 36 * HOUR, "<a>u</a>"))
    new, _, _ = live.take(some, first, found)
    again = LiveCell(revisions, part, 0, lateness)
    assert again.follow(live.clock, {*new}, live.portions.__getitem__)
    later = first + 18 * HOUR
    some = rows(("p", later - HOUR // 6, "<a>v</a>"), ("q", later, "<b>v</b>"))
    _, _, batches = again.take(some, later, found)
    matches = [row["documents"] for batch in batches for row in batch.to_pylist()]
    assert matches == [["p", "q"]]


def test_a_batch_that_brings_time_alone_is_made_again_whole() -> None:
    """What it let pass has been reported to nobody, where its first attempt was lost."""
    queries = Queries.of("EVENT SEQ(S/i a, !T/i b) WITHIN 5 s")
    with queries.engine(0) as engine:
        groups = groups_of(engine, lambda needs: stream_kind(needs, 1))
    (part,) = parts_of(groups, lambda group: stream_cells(group, 1))
    live: LiveCell | None = None
    store: dict[PortionId, Portion] = {}

    def attempt(before: int | None, rows: list[Any], clock: int) -> tuple[list[PortionId], int]:
        nonlocal live
        if live is None or not live.follow(before, {*store}, store.__getitem__):
            live = LiveCell((Revision(queries),), part, 0, 0)
            assert live.follow(before, {*store}, store.__getitem__)
        found = CellRows(part, 0, grouped=False, results=True)
        new, _, batches = live.take(rows, clock, found)
        rows = [row for batch in batches for row in batch.to_pylist()]
        return new, sum(row["skipped"] is None for row in rows)

    first: list[Any] = [("S", "a", SECOND, None, "<i/>", None, None)]
    new, many = attempt(None, first, SECOND)
    assert many == 0
    assert live is not None
    store.update((one, live.portions[one]) for one in new)
    # Twice from where it was: to a time that decides nothing, and to one that does.
    for clock in (2 * SECOND, 20 * SECOND):
        assert [attempt(SECOND, [], clock)[1] for _ in range(2)] == [clock // (20 * SECOND)] * 2


def one_cell(text: str, *, lateness: int = LATENESS) -> Stream:
    return Stream([Revision(Queries.of(text))], lateness * SECOND, random.Random(7))


def document(number: int, xml: str, time: int) -> list[dict[str, Any]]:
    return [{"stream": "S", "id": f"d{number}", "timestamp": time, "xml": xml}]


def test_what_weak_queries_drop_is_dropped_where_portions_are_merged() -> None:
    with patch.object(live_cells, "_PORTIONS", 4):
        stream = one_cell("EVENT SEQ(S//a x, S//b y) CONSISTENCY weak", lateness=100)
        for number, (name, time) in enumerate([("b", 10), ("a", 5), *[("c", 11)] * 8]):
            stream.batch(document(number, f"<{name}/>", time))
        assert len(stream.store.portions) < 8
        stream.processes = [None, None]
        stream.batch(document(20, "<b/>", 20))
    assert stream.found == []


def test_portions_are_merged_around_large_ones_and_revisions() -> None:
    with patch.object(live_cells, "_PORTIONS", 4), patch.object(live_cells, "_LARGE", 15_000):
        stream = one_cell("S//a->x JOIN {x = y} S//b->y")
        text = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=20_000))
        for number in range(60):
            if number == 30:
                stream.revisions.append(Revision(Queries.of("S//a->x JOIN {x = y} S//b->y")))
            body = text if number in (1, 40) else "t"
            name = "a" if number % 2 else "b"
            stream.batch(document(number, f"<{name}>{body}</{name}>", number))
        # Behind the first small one, and behind the last before the revisions, too.
        assert len(stream.store.portions) < 15
