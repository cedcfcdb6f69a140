"""Aggregates of drawn events over windows and channels, against their definition
(docs/semantics.md#aggregates-and-windows)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import groupby
from math import inf, isfinite, isnan
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.drawn import drawn
from xscl.pattern_stage.algebra import attributes
from xscl.pattern_stage.algebra.functions import as_json, exact
from xscl.pattern_stage.algebra.nodes import Aggregate, Source
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.accumulators import Total
from xscl.pattern_stage.plan.kinds.aggregates import AggregateOperator
from xscl.pattern_stage.plan.operators import Context, Design, Readers
from xscl.pattern_stage.plan.saved import plain, raised
from xscl.pattern_stage.values.terms import EVERYTHING, Arithmetic, Call, Column, Constant

X, Y = Column(0, "x"), Column(0, "y")
ITEMS = (
    ("key", Column(0, "k")),
    ("n", Call("count", ())),
    ("has", Call("count", (X,))),
    ("sum", Call("sum", (X,))),
    ("mean", Call("avg", (X,))),
    ("low", Call("min", (X,))),
    ("high", Call("max", (X,))),
    ("first", Call("argmin", (X, Y))),
    ("last", Call("argmax", (X, Y))),
    ("more", Arithmetic("*", Call("sum", (X,)), Constant(1, number=True))),
)

NUMBERS = st.sampled_from([1.0, 0.1, 0.2, 7.0, -2.5, 1e300, 1.5e308, -1.6e308, 1e-9, float("inf")])
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 12),  # time
        st.sampled_from(["p", "q", None]),  # key
        st.one_of(NUMBERS, st.none(), st.just(float("nan"))),  # x
        st.sampled_from(["u", "v", None]),  # y
        st.sampled_from([(0,), (1,), (0, 1)]),  # the streams that it is in
    ),
    max_size=14,
)


class Input:
    """The m-op of a source, as much of it as others look at."""

    rank = 0
    readers = Readers()


def operator(window: bool, design: Design) -> AggregateOperator:
    """The m-op over a channel of two streams; its layout is queried for the columns above."""
    node = Aggregate(0 if window else None, ("k",), ITEMS, Source(0, None))
    reads: Any = Input()
    return AggregateOperator(node, (reads,), Context(Layouts(), frozenset()), design)


def tuple_of(layout: Layouts, number: int, event: Any) -> Any:
    """A source's event as a tuple."""
    time, k, x, y, _ = event
    text = None if x is None else str(x)
    found = {"k": (k, None, k), "x": (text, x, text), "y": (y, None, y)}
    slots = [
        None
        if slot is None or slot == EVERYTHING
        else found[slot.attribute.steps[0]][slot.form.value - 1]
        for slot in layout.slots(0)
    ]
    return (time, time, number, *slots)


def exact_sum(numbers: list[float]) -> float:
    """Rounded once; inf where no double is as large."""
    try:
        return float(sum(map(Fraction, numbers)))
    except OverflowError:
        return float("inf")


def expected(events: Iterable[Any], stream: int, length: int | None, factor: float) -> Any:
    """The definition: by time and group."""
    mine = [event for event in events if stream in event[4]]
    for time, key in {(event[0], event[1]) for event in mine}:
        group = [
            event
            for event in mine
            if event[1] == key
            and (length is None or time - length <= event[0])
            and event[0] <= time
        ]
        numbers = [x for _, _, x, _, _ in group if x is not None and x == x]
        result: dict[str, Any] = {"key": key, "n": len(group)}
        result["has"] = sum(x is not None for _, _, x, _, _ in group)
        if numbers:
            result["low"], result["high"] = min(numbers), max(numbers)
            for name, best in (("first", min(numbers)), ("last", max(numbers))):
                result[name] = min((y for _, _, x, y, _ in group if x == best and y), default=None)
            if all(map(isfinite, numbers)):
                result["sum"] = exact_sum(numbers)
                mean = result["sum"] / len(numbers)
                exact = sum(map(Fraction, numbers)) / len(numbers)
                result["mean"] = mean if isfinite(mean) else float(exact)
                result["more"] = result["sum"] * factor
        kept = {
            name: as_json(value)
            for name, value in result.items()
            if value is not None and value not in (float("inf"), float("-inf"))
        }
        yield time, kept


def shown(pairs: Iterable[Any]) -> list[str]:
    """Times and attributes, in an order."""
    return sorted(json.dumps([time, sorted(one.items())]) for time, one in pairs)


def saved(one: AggregateOperator, _: AggregateOperator) -> None:
    """The state is dumped, and restored."""
    stored = one.retained.snapshot()
    feed(one, [(99, "p", 1.0, "u", (0, 1))], lambda *_: None)
    one.retained.restore(stored)


def written(one: AggregateOperator, other: AggregateOperator) -> None:
    """All goes to a state file and back, into another m-op with the same members."""
    state = one.retained.dump(lambda member: member)
    one._cohorts.by_member = {}
    if state is not None:
        one.retained.load(
            raised(json.loads(json.dumps(plain(state)))), lambda names: [int(str(n)) for n in names]
        )


def feed(one: AggregateOperator, events: list[Any], reported: Callable[..., None]) -> None:
    """Epoch by epoch."""
    layout = one.context.layout
    numbered = sorted(enumerate(events), key=lambda pair: pair[1][0])
    for _, epoch in groupby(numbered, key=lambda pair: pair[1][0]):
        channel = [(tuple_of(layout, n, event), event[4]) for n, event in epoch]
        # Equal events come twice, in one stream each.
        twice = [(event, (stream,)) for event, streams in channel for stream in streams]
        one.inputs[0].out = Channel(channel + twice)
        for event, members in one.take():
            reported(event, members)


DESIGNS = [
    Design("form", consed=True, indexed=indexed, channel=channel, buffered=channel)
    for indexed in (False, True)
    for channel in (False, True)
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: f"s_w={d.indexed} c_α={d.channel}")
@drawn(60)
@given(EVENTS, st.booleans(), st.sampled_from([saved, written, None]), st.integers(0, 12))
def test_aggregates(design: Design, events: list[Any], finite: bool, broken: Any, at: int) -> None:
    one = operator(finite, design)
    lengths = (0, 3, 5) if finite else (None,)
    factors = (2.0, 3.0)
    if finite:
        rows = [(length, factor) for length in lengths for factor in factors]
    else:
        rows = [(None, factor) for factor in factors]
    members = {
        one.add(stream, 0, row if finite else row[1:] * 2): (stream, *row)
        for stream in (0, 1)
        for row in rows
    }
    gather = attributes(one.node, one.context.layout)
    found: dict[int, list[Any]] = {member: [] for member in members}

    def reported(event: Any, here: Iterable[int]) -> None:
        for member in here:
            found[member].append((event[1], gather(event)))

    early = [event for event in events if event[0] < at]
    feed(one, early, reported)
    one.retained.evict(at)
    if broken is not None:
        broken(one, one)
    late = [event for event in events if event[0] >= at]
    feed(one, late, reported)
    for member, (stream, length, factor) in members.items():
        assert shown(found[member]) == shown(expected(events, stream, length, factor))
    one.retained.evict(1000)
    assert (one.retained.size() == 0) == (finite or not events)
    for member in members:
        assert one.remove(member)


def test_what_was_infinite_goes_with_its_event() -> None:
    total = Total(forever=False)
    for value in (inf, 0.5, -inf, 0.75):
        total.add(0, exact(value))
    assert isnan(total.total() or 0)
    total.drop(0, exact(inf))
    assert total.average() == -inf
    total.drop(0, exact(-inf))
    assert (total.total(), total.average()) == (1.25, 0.625)


def test_aggregates_of_one_stream_go_through_its_events_once() -> None:
    reads: Any = Input()
    context = Context(Layouts(), frozenset())
    design = Design("form", consed=True, buffered=True)
    read: list[object] = []
    nodes = [Aggregate(None, ("k",), (item,), Source(0, None)) for item in ITEMS[1:4]]
    made = [AggregateOperator(node, (reads,), context, design) for node in nodes]
    for one in made:
        one.add(0, 0, ())
    event = tuple_of(context.layout, 0, (7, "p", 2.5, "u", (0,)))
    reads.out = Channel([(event, (0,)), (event, (0,))])
    for one, node in zip(made, nodes, strict=True):
        gather = attributes(node, context.layout)
        read += [gather(point) for point, _ in one.take()]
    assert read == [{"n": 1}, {"has": 1}, {"sum": 2.5}]
    assert made[0]._distinct is made[2]._distinct
    alone = AggregateOperator(nodes[0], (reads,), context, Design("form", consed=True))
    assert alone._distinct is not made[0]._distinct
