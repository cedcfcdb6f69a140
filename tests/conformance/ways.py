"""Ways to feed the cases of patterns and event queries: the same matches, as multisets.

The input ends with each case (`flush`), so that pending matches are reported; a restart is between
two documents, drawn by the case's name.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import xscl
from tests.conformance.runner import Case
from tests.drawn import seeded, times

__all__ = ["Way", "agrees", "dice_of", "ways"]

Way = Callable[[Case, Path], Iterator[Any]]


def one_batch(case: Case, folder: Path, **options: Any) -> Iterator[Any]:
    with loaded(case, **options) as engine:
        yield from engine.publish_many(case["events"])
        yield from engine.flush()


def one_by_one(case: Case, folder: Path) -> Iterator[Any]:
    with loaded(case) as engine:
        for event in case["events"]:
            yield from engine.publish_many([event])
        yield from engine.flush()


def shuffled(case: Case, folder: Path) -> Iterator[Any]:
    """In another order, in batches, with a lateness that is as long as the case."""
    events = list(case["events"])
    dice = dice_of(case)
    dice.shuffle(events)
    lateness = 1 + max(event["timestamp"] for event in events)
    with loaded(case, lateness=lateness) as engine:
        while events:
            size = dice.randint(1, len(events))
            yield from engine.publish_many(events[:size])
            del events[:size]
        yield from engine.flush()


def in_order(case: Case, folder: Path) -> Iterator[Any]:
    """In order of time, without any lateness: most matches are reported immediately."""
    with loaded(case, lateness=0) as engine:
        for event in sorted(case["events"], key=lambda event: event["timestamp"]):
            yield from engine.publish_many([event])
        yield from engine.flush()


def over_a_restart(case: Case, folder: Path) -> Iterator[Any]:
    state, events, dice = folder / "state.xscl", list(case["events"]), dice_of(case)
    cut = dice.randint(0, len(events))
    late = dice.random() < 0.5
    if not late:
        events.sort(key=lambda event: event["timestamp"])
    options = {"lateness": 1 + max(e["timestamp"] for e in events) if late else 0}
    with loaded(case, state=state, **options) as engine:
        yield from engine.publish_many(events[:cut])
    with xscl.Engine(state=state, **options) as engine:
        yield from engine.publish_many(events[cut:])
        yield from engine.flush()


def without(*switches: str) -> Way:
    return lambda case, folder: one_batch(case, folder, without=set(switches))


def dice_of(case: Case) -> random.Random:
    return seeded(case["case"], times(1))


def loaded(case: Case, **options: Any) -> xscl.Engine:
    """An engine with a case's queries, none of which is bad."""
    engine = xscl.Engine(**options)
    try:
        engine.load(case["queries"])
    except BaseException:
        engine.close()
        raise
    return engine


def ways(switches: Iterable[str]) -> dict[str, Way]:
    """All ways by name, with each of some techniques off alone, and all."""
    names = sorted(switches)
    return {
        "one batch": one_batch,
        "one by one": one_by_one,
        "shuffled": shuffled,
        "in order": in_order,
        "over a restart": over_a_restart,
        "without any technique": without(*names),
        **{f"without {name}": without(name) for name in names},
    }


def agrees(
    case: Case,
    folder: Path,
    ways: dict[str, Way],
    said: Callable[[dict[str, Any]], object],
    some: int,
) -> None:
    """Asserts that a case's matches are the same in some of the ways, in all by `make fuzz`."""
    expected = Counter(map(said, case["expected"]))
    for way in dice_of(case).sample([*ways], min(len(ways), times(some))):
        within = folder / way.translate({ord(one): "_" for one in " ,()"})
        within.mkdir()
        found = Counter(said(match.to_dict()) for match in ways[way](case, within))
        missing, more = expected - found, found - expected
        assert not missing, f"{case['case']}, {way}: missing {dict(missing)}"
        assert not more, f"{case['case']}, {way}: not expected {dict(more)}"
