"""Runs a conformance case by the Python API, fed in one of several ways.

A case is one line of JSON: `case` its name, `queries` the text of a query file, `events` a list of
document envelopes, `expected` the matches with query, documents, nodes, bindings and result.  The
order of arrival must not matter, so cases are fed as one batch, one by one, and shuffled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import xscl
from tests.drawn import seeded

Case = dict[str, Any]
Envelope = dict[str, Any]
Feeding = Callable[[Any, list[Envelope]], Iterator[Any]]


def read_cases(path: Path) -> list[Case]:
    """The cases of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def matches_of(case: Case, feed: Feeding, **options: Any) -> list[dict[str, Any]]:
    """What an engine with these options says to a case that is fed in this way, in the members of
    the JSON form; no query of it is bad.

    The id of a document that was published by a query is `*`.
    """
    with xscl.Engine(**options) as engine:
        _, errors = engine.load_good(case["queries"])
        assert not errors, case["case"]
        found = [match.to_dict() for match in feed(engine, list(case["events"]))]
        assert engine.skipped.malformed == 0, case["case"]
    # The id of a result that is a document is that of its match.
    results = {match["id"] for match in found}
    for match in found:
        match["documents"] = ["*" if one in results else one for one in match["documents"]]
    return found


def errors_of(case: Case) -> list[xscl.QueryError]:
    """What is said of a case's bad queries."""
    with xscl.Engine() as engine:
        return engine.load_good(case["queries"])[1]


def one_batch(engine: Any, events: list[Envelope]) -> Iterator[Any]:
    yield from engine.publish_many(events)


def one_by_one(engine: Any, events: list[Envelope]) -> Iterator[Any]:
    for event in events:
        document = event["json"] if "json" in event else event["xml"]
        if isinstance(document, str) and "json" in event:
            # `publish` takes text for XML.
            yield from engine.publish_many([event])
        else:
            yield from engine.publish(
                event["stream"], document, id=event["id"], timestamp=event["timestamp"]
            )


def shuffled(number: int) -> Feeding:
    """One by one, in another order."""

    def feed(engine: Any, events: list[Envelope]) -> Iterator[Any]:
        seeded(number).shuffle(events)
        yield from one_by_one(engine, events)

    return feed


def shuffled_batches(number: int) -> Feeding:
    """In another order, in batches of random size."""

    def feed(engine: Any, events: list[Envelope]) -> Iterator[Any]:
        dice = seeded(number)
        dice.shuffle(events)
        while events:
            size = dice.randint(1, len(events))
            batch, events = events[:size], events[size:]
            yield from engine.publish_many(batch)

    return feed


FEEDINGS: dict[str, Feeding] = {
    "one batch": one_batch,
    "shuffled": shuffled(1),
    "shuffled batches": shuffled_batches(4),
}
"""What the many cases are fed by, each by one of them; by all with `make fuzz`."""

MORE_FEEDINGS: dict[str, Feeding] = {
    "one by one": one_by_one,
    **FEEDINGS,
    "shuffled otherwise": shuffled(2),
    "shuffled batches, otherwise": shuffled_batches(5),
}
"""For the few cases of our own."""
