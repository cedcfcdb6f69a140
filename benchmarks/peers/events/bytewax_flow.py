"""Bytewax with dictionaries: for each query a step that is keyed by person, and keeps what may
still match as its state."""

import json
import sys
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bytewax.operators as op
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, run_main

Query = dict[str, Any]
Event = dict[str, Any]
State = deque[tuple[int, int]]
Step = Callable[[State | None, Event], tuple[State, list[str]]]


def main(folder: Path) -> None:
    queries = json.loads((folder / "queries.json").read_text())
    flow = Dataflow("peers")
    lines = op.input("lines", flow, FileSource(str(folder / "events.jsonl")))
    keyed = op.key_on("who", op.map("events", lines, json.loads), lambda event: event["who"])
    found: list[str] = []
    for query in queries:
        name = query["name"]
        step = sequence(query) if query["second"] else total(query)
        matches = op.stateful_flat_map(f"{name} step", keyed, step)
        names = op.map(f"{name} name", matches, lambda one: one[1])
        op.output(f"{name} out", names, TestingSink(found))
    run_main(flow)
    counts = Counter(found)
    print(json.dumps({query["name"]: counts[query["name"]] for query in queries}))


def sequence(query: Query) -> Step:
    name, first, second, window = (query[n] for n in ("name", "first", "second", "seconds"))

    def step(state: State | None, event: Event) -> tuple[State, list[str]]:
        pending = state if state is not None else deque()
        while pending and event["time"] - pending[0][0] > window:
            pending.popleft()
        found = []
        if event["kind"] == second:
            rest = deque(one for one in pending if one[1] >= event["amount"])
            found, pending = [name] * (len(pending) - len(rest)), rest
        elif event["kind"] == first:
            pending.append((event["time"], event["amount"]))
        return pending, found

    return step


def total(query: Query) -> Step:
    name, kind, window, bound = (query[n] for n in ("name", "first", "seconds", "total"))

    def step(state: State | None, event: Event) -> tuple[State, list[str]]:
        within = state if state is not None else deque()
        if event["kind"] != kind:
            return within, []
        within.append((event["time"], event["amount"]))
        while event["time"] - within[0][0] > window:
            within.popleft()
        return within, [name] * (sum(amount for _, amount in within) > bound)

    return step


main(Path(sys.argv[1]))
