"""The synthetic benchmark of the thesis' section 5.5: two streams of ten integers, and queries for
an event of one that is followed by one of the other.

Events of `S` come at even seconds and those of `T` at odd ones, with attributes `a0` to `a9`,
uniform below 1,000.  Queries differ in windows of 1 to 1,000 s, of which large ones are likelier,
and in constants, both drawn by Zipf (table 5.3).  Everything is the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Literal

from .cayuga_benchmark import zipfian

__all__ = ["rumor_benchmark", "rumor_events"]

ATTRIBUTES = tuple(f"a{place}" for place in range(10))
VALUES = 1_000
WINDOWS = 1_000
ZIPF = 1.5

Row = dict[str, str | int]

_DECLARED = "".join(
    f"DECLARE STREAM {stream} ({', '.join(ATTRIBUTES)});\n" for stream in ("{stream}", "T")
)
_TEXTS = {
    1: "FILTER{{a0 = :first}}({stream}) NEXT{{DUR <= :window AND $2.a0 = :second}} T",
    2: "{stream} NEXT{{$1.a0 = $2.a0 AND DUR <= :window}} T",
    3: "{stream} FOLD{{$2.a0 = $1.a0 AND DUR <= :window, $2.a1 > $.a1}} T",
}


def rumor_benchmark(
    workload: Literal[1, 2, 3],
    count: int,
    *,
    values: int = VALUES,
    windows: int = WINDOWS,
    zipf: float = ZIPF,
    capacity: int = 0,
    seed: int = 12,
) -> Iterator[tuple[str, list[Row]]]:
    """Queries of a workload: texts, each with the rows of its parameters, for `subscribe_many`.

    Workload 1 compares an attribute of both events with constants (figure 5.8), 2 with each other
    (5.9a), 3 iterates (5.9b).  With a `capacity` they read that many streams, `S1`, `S2`, …, in
    turn, in place of `S` (5.9c, d).

    >>> [(text, rows)] = rumor_benchmark(2, 3)
    >>> text.splitlines()[-1], [row["window"] for row in rows]
    ('S NEXT{$1.a0 = $2.a0 AND DUR <= :window} T', [999, 996, 996])
    """
    random = Random(seed)
    lengths = zipfian(random, windows, zipf, count)
    rows: list[Row] = [{"window": windows - length} for length in lengths]
    if workload == 1:
        for name in ("first", "second"):
            for row, value in zip(rows, zipfian(random, values, zipf, count), strict=True):
                row[name] = str(value)
    text = _DECLARED + _TEXTS[workload]
    if not capacity:
        yield text.format(stream="S"), rows
    for place in range(capacity):
        yield text.format(stream=f"S{place + 1}"), rows[place::capacity]


def rumor_events(
    count: int, *, values: int = VALUES, capacity: int = 0, seed: int = 13
) -> Iterator[dict[str, Any]]:
    """Events as envelopes, at seconds 0, 1, …; with a `capacity` each of `S` comes in that many
    streams, equal and at one time.

    >>> [event["stream"] for event in rumor_events(3)]
    ['S', 'T', 'S']
    >>> [event["stream"] for event in rumor_events(2, capacity=2)]
    ['S1', 'S2', 'T']
    """
    dice = Random(seed).random
    copies = [f"S{place + 1}" for place in range(capacity)] or ["S"]
    for time in range(count):
        drawn = {name: int(dice() * values) for name in ATTRIBUTES}
        for stream in ("T",) if time % 2 else copies:
            yield {"stream": stream, "id": f"{stream}-{time}", "timestamp": time, "json": drawn}
