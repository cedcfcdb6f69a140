"""IPM, the baseline of the automata's paper: partial matches are rows of a relation, which general
operators join with events and transitions, and whose results are fed back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.automata.workloads import MILLISECOND

__all__ = ["q1_by_relations"]

Values = dict[str, Any]


class _Transition(NamedTuple):
    source: str
    target: str
    fence: Callable[[Values], bool]
    transfer: Callable[[Values], Values]


def q1_by_relations(events: Sequence[Any], patterns: int, within: int, batch: int) -> int:
    """How many matches Q1 has: for each batch, events are joined with the transitions that they
    may make, these with partial matches on the sequence number and the state, and what comes of
    that is a partial match again, until there is nothing new."""
    moves: defaultdict[str, list[_Transition]] = defaultdict(list)
    for one in _transitions(patterns):
        moves[one.source].append(one)
    partial: list[Values] = []
    found = 0
    for at in range(0, len(events), batch):
        coming = [
            {"seq": serial, "time": time, "change": change}
            for _, time, serial, _, _, change in events[at : at + batch]
        ]
        by_number = {event["seq"]: event for event in coming}
        new = [*partial, *({"state": "q0", "next": event["seq"]} for event in coming)]
        partial = []
        while new:
            waiting = [row for row in new if row["next"] not in by_number]
            partial += [row for row in waiting if row["state"] != "q0"]
            joined = _join(new, by_number)
            made = [
                {**row, **one.transfer(row), "state": one.target, "next": row["seq"] + 1}
                for row in joined
                if row["state"] == "q0" or row["time"] - row["start"] < within * MILLISECOND
                for one in moves[row["state"]]
                if one.fence(row)
            ]
            found += sum(row["state"] == "q3" for row in made)
            new = [row for row in made if row["state"] != "q3"]
        newest = coming[-1]["time"]
        partial = [row for row in partial if newest - row["start"] < within * MILLISECOND]
    return found


def _join(rows: Iterable[Values], by_number: dict[int, Values]) -> list[Values]:
    return [{**row, **event} for row in rows if (event := by_number.get(row["next"])) is not None]


def _transitions(patterns: int) -> list[_Transition]:
    return [
        _Transition(
            "q0",
            "q1",
            lambda row: row["change"] < -0.25,
            lambda row: {"start": row["time"], "r1": 0, "r2": 0},
        ),
        *(
            _Transition(
                "q1", target, lambda row: row["change"] < 0, lambda row: {"r1": row["r1"] + 1}
            )
            for target in ("q1", "q2")
        ),
        _Transition("q2", "q2", lambda row: row["change"] > 0, lambda row: {"r1": row["r1"] - 1}),
        _Transition(
            "q2",
            "q1",
            lambda row: row["change"] > 0,
            lambda row: {"r1": row["r1"] - 1, "r2": row["r2"] + 1},
        ),
        _Transition(
            "q2",
            "q3",
            lambda row: row["change"] > 0 and row["r1"] == 1 and row["r2"] == patterns - 1,
            lambda row: {"r1": 0, "r2": patterns},
        ),
    ]
