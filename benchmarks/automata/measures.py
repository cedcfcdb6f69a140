"""How fast automata of the paper's queries go: in order, with arcs that are replaced, with
disorder, and many of them; and what they retain."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from benchmarks.automata.workloads import (
    MILLISECOND,
    Arrival,
    disordered,
    prices,
    q2,
    q3,
    query,
    staged,
    ticks,
    v_of,
)
from xscl.language.automata.description import Automaton
from xscl.pattern_stage.automata.program import Arc, Life
from xscl.pattern_stage.automata.query import AutomatonQuery

__all__ = [
    "RESTARTS",
    "WAYS",
    "WINDOW",
    "Speeds",
    "best",
    "changing",
    "in_order",
    "keyed",
    "late",
    "levels",
    "peak",
    "several",
    "state",
    "static",
]

BATCH = 1_000
WINDOW = 500
"""Milliseconds."""
FIRST = 10
RESTARTS = 300
"""A restart at each change is measured for so many changes."""

Speeds = dict[str, float]
"""Events a second of each way."""


def best(rounds: int, ways: dict[str, Callable[[], float]]) -> Speeds:
    """The greatest speed of each way, run in turns."""
    speeds = dict.fromkeys(ways, 0.0)
    for _ in range(rounds):
        for name, way in ways.items():
            speeds[name] = max(speeds[name], way())
    return speeds


# In order


def in_order(automaton: Automaton, events: Sequence[Any]) -> float:
    """Events a second."""
    of = query(automaton)
    began = time.process_time()
    _take(of, [(0, event) for event in events])
    return len(events) / (time.process_time() - began)


def static(events: Sequence[Any]) -> float:
    """Events a second of Q3."""
    return in_order(q3(ticks()), events)


def _take(of: AutomatonQuery, events: Sequence[tuple[int, Any]]) -> int:
    found = 0
    for at in range(0, len(events), BATCH):
        some = events[at : at + BATCH]
        of.take_all(some, forget=True)
        of.evict(some[-1][1][1])
        found += len(of.changes)
        of.changes.clear()
    return found


def keyed(events: Sequence[Any], keys: int) -> list[Any]:
    """The same events of so many symbols in turn."""
    return [(*one[:3], f"S{at % keys}", *one[4:]) for at, one in enumerate(events)]


def several(many: int, events: int, ignoring: bool) -> float:
    """Events a second of one stage with so many automata, each of one of so many symbols in
    turn: each event is of one of them, as where there is one only."""
    automata = (v_of(f"S{number}", ignoring) for number in range(many))
    stage, typed = staged(automata, keyed(prices(FIRST + many + events), many))

    def took(some: Sequence[Any]) -> int:
        stage.take(some)
        stage.advance(some[-1][1][1])
        return len(stage.found())

    # Automata are dormant after the first events, and are compiled with the first of their own.
    found = sum(took([one]) for one in typed[:FIRST]) + took(typed[FIRST:-events])
    # As in the commands, what lives on is not searched for garbage again and again.
    gc.collect()
    gc.freeze()
    began = time.process_time()
    found += sum(took(typed[at : at + BATCH]) for at in range(FIRST + many, len(typed), BATCH))
    seconds = time.process_time() - began
    gc.unfreeze()
    if many == 1 and not found:
        raise AssertionError("no matches")
    return events / seconds


# Arcs that come and go


def changing(every: int, events: Sequence[Any], rounds: int) -> Speeds:
    return best(
        rounds,
        {
            "arcs": lambda: _replacing(every, events),
            "restart": lambda: _restarting(every, events),
            "static": lambda: static(events),
        },
    )


def _replacing(every: int, events: Sequence[Any]) -> float:
    """An arc of Q3 is replaced every so many events; the changes of a batch of events are passed
    together, with their times, as an engine does with a batch of lines."""
    up = ticks()
    of, other = query(q3(up)), query(q3([not one for one in up]))
    ways: list[tuple[Arc, Arc]] = [
        (one, two) for (_, one), (_, two) in zip(of.arcs, other.arcs, strict=True)
    ]
    ever, never = float("-inf"), float("inf")
    living: list[tuple[float, Arc]] = [(ever, one) for one, _ in ways]
    ended: list[tuple[Life, Arc]] = []
    typed, turn = [(0, event) for event in events], 0
    began = time.process_time()
    for start in range(0, len(typed), BATCH):
        some, first = typed[start : start + BATCH], never
        for at in range(start - start % every + every, start + len(some) + 1, every):
            now, place = typed[at - 1][1][1] + 1, turn % len(ways)
            since, arc = living[place]
            ended.append(((since, now), arc))
            one, two = ways[place]
            living[place] = now, two if arc is one else one
            first, turn = min(first, now), turn + 1
        if first < never:
            of.rearrange([*ended, *(((since, never), arc) for since, arc in living)], first)
            of.catch_up()
        _take(of, some)
        oldest = some[-1][1][1] - WINDOW * MILLISECOND
        ended = [one for one in ended if one[0][1] > oldest]
    return len(typed) / (time.process_time() - began)


def _restarting(every: int, events: Sequence[Any]) -> float:
    """A new automaton takes the events of the window with each change; as far as some restarts."""
    up, typed = ticks(), [(0, event) for event in events][: max(every, every * RESTARTS)]
    began = time.process_time()
    for turn, at in enumerate(range(0, len(typed), every)):
        up[turn % len(up)] ^= True
        of = query(q3(up))
        if at:
            of.take_all(typed[max(0, at - WINDOW) : at], forget=True)
            of.changes.clear()
        _take(of, typed[at : at + every])
    return len(typed) / (time.process_time() - began)


# Disorder


def levels(arrivals: Sequence[Arrival], rounds: int) -> Speeds:
    """Events a second of each way; both find the same matches."""
    found = dict[str, int]()

    def went(way: str) -> float:
        began = time.process_time()
        found[way] = WAYS[way](arrivals)
        return len(arrivals) / (time.process_time() - began)

    speeds = best(rounds, {way: lambda way=way: went(way) for way in WAYS})  # type: ignore[misc]
    if len({*found.values()}) != 1:
        raise AssertionError(f"different matches: {found}")
    return speeds


def _as_they_come(arrivals: Sequence[Arrival]) -> int:
    of, found, watermark = query(q2()), 0, -1
    batch: list[tuple[int, Any]] = []
    newest = -1
    for event, mark in arrivals:
        if event[1] < newest and batch:
            # What is in order goes together.
            of.take_all(batch)
            batch = []
        newest = max(newest, event[1])
        batch.append((0, event))
        if event[1] < newest:
            of.take_all(batch)
            batch = []
        if mark > watermark:
            watermark = mark
            if batch:
                of.take_all(batch)
                batch = []
            of.evict(mark)
            found += sum(of.changes.values())
            of.changes.clear()
    if batch:
        of.take_all(batch)
    return found + sum(of.changes.values())


def _in_order_first(arrivals: Sequence[Arrival]) -> int:
    of, found, watermark = query(q2()), 0, -1
    buffered: list[tuple[int, tuple[Any, ...]]] = []
    for event, mark in arrivals:
        heappush(buffered, (event[1], event))
        if mark > watermark:
            watermark = mark
            due = list[tuple[int, Any]]()
            while buffered and buffered[0][0] <= mark:
                due.append((0, heappop(buffered)[1]))
            found += _take(of, due)
    return found + _take(of, [(0, event) for _, event in sorted(buffered)])


WAYS = {"AFA": _as_they_come, "AFA+O": _in_order_first}


def peak(way: str, arrivals: Sequence[Arrival]) -> float:
    """The most kilobytes that a tenth of the stream takes."""
    tracemalloc.start()
    try:
        WAYS[way](arrivals[: len(arrivals) // 10])
        return tracemalloc.get_traced_memory()[1] / 1024
    finally:
        tracemalloc.stop()


def late(arrivals: Sequence[Arrival]) -> tuple[float, float]:
    """Seconds for a late event, and for a replay of all epochs that are retained then."""
    of, newest, watermark = query(q2()), -1, -1
    mended = replayed = 0.0
    many = 0
    for event, mark in arrivals[:20_000]:
        began = time.process_time()
        of.take(event[1], [(0, event)])
        if event[1] < newest:
            ended = time.process_time()
            mended += ended - began
            for part in of.parts:
                part.rearranged(float("-inf"))
            replayed += time.process_time() - ended
            many += 1
        newest = max(newest, event[1])
        if mark > watermark:
            watermark = mark
            of.evict(mark)
            of.changes.clear()
    return mended / many, replayed / many


def state(many: int) -> tuple[int, int]:
    """The most runs and epochs in the first tenth of a long stream, and in the last."""
    of, watermark, size = query(q2()), -1, [0] * 10
    for at, (event, mark) in enumerate(disordered(prices(many, rises=0.7), 0.05)):
        of.take(event[1], [(0, event)])
        if at % 100 == 0 and event[1] > watermark:
            of.retract(event[1], 0, event)
        if mark > watermark:
            watermark = mark
            epochs = sum(len(part.epochs) for part in of.parts)
            tenth = at * 10 // many
            size[tenth] = max(size[tenth], of.runs + epochs)
            of.evict(mark)
            of.changes.clear()
    return size[0], size[-1]
