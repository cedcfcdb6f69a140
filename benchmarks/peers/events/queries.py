"""Events as lines of JSON, and queries over them as data that each peer puts into its own words."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

__all__ = ["EventQuery", "queries", "write", "xscl_text"]

KINDS = 20
PEOPLE = 100
TICK = 2
"""Seconds from one event to the next: windows are odd, so that no engine's bounds matter."""
SECONDS = (2_001, 5_001, 10_001, 20_001)
TOTALS = (500, 1_000, 2_000, 3_000)


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A sequence: after an event of kind `first` the next of kind `second`, of the same person and
    with a greater amount, within so many seconds.  Without `second`, a total: those amounts of kind
    `first` of a person in so many seconds that exceed `total`."""

    name: str
    first: str
    second: str | None
    seconds: int
    total: int


def queries(count: int) -> list[EventQuery]:
    """Sequences and totals in turn."""
    random = Random(7)
    result = []
    for number in range(count):
        first, second = random.sample(range(KINDS), 2)
        total = number % 2 == 1
        result.append(
            EventQuery(
                f"{'total' if total else 'sequence'}_{number}",
                f"k{first}",
                None if total else f"k{second}",
                random.choice(SECONDS),
                random.choice(TOTALS) if total else 0,
            )
        )
    return result


def write(folder: Path, events: int, count: int) -> None:
    """The events, and the queries as data and in XSCL."""
    random = Random(8)
    with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
        for number in range(events):
            event = {
                "id": f"e{number}",
                "key": f"e{number}",
                "time": number * TICK,
                "kind": f"k{random.randrange(KINDS)}",
                "who": f"p{random.randrange(PEOPLE)}",
                "amount": random.randrange(1_000),
            }
            file.write(json.dumps(event) + "\n")
    some = queries(count)
    (folder / "queries.json").write_text(json.dumps([asdict(one) for one in some]))
    (folder / "queries.xscl").write_text(";\n".join(map(xscl_text, some)))


def xscl_text(query: EventQuery) -> str:
    """A query in XSCL, over rows as documents.

    >>> print(xscl_text(queries(1)[0]))
    -- name: sequence_0
    PATTERN SEQ(S/json[kind = 'k10'] a, S/json[kind = 'k4'] b)
    WHERE skip_till_next_match { [who] AND b.amount > a.amount } WITHIN 20001 s
    """
    if query.second is not None:
        return (
            f"-- name: {query.name}\n"
            f"PATTERN SEQ(S/json[kind = '{query.first}'] a, S/json[kind = '{query.second}'] b)\n"
            "WHERE skip_till_next_match { [who] AND b.amount > a.amount } "
            f"WITHIN {query.seconds} s"
        )
    return (
        f"-- name: {query.name}\n"
        f"SELECT who, total FROM FILTER{{total > {query.total}}}(\n"
        f"  SELECT who, SUM(amount) AS total "
        f"FROM WINDOW{{{query.seconds} s}}(S/json[kind = '{query.first}']) GROUP BY who)"
    )
