"""Bytewax with dictionaries: for each query a step that is keyed by the values that must be equal,
and keeps the earlier items of a key as its state."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import bytewax.operators as op
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, run_main

Query = dict[str, Any]
Item = dict[str, Any]


def main(folder: Path) -> None:
    queries = json.loads((folder / "queries.json").read_text())
    flow = Dataflow("peers")
    lines = op.input("lines", flow, FileSource(str(folder / "items.jsonl")))
    items = op.map("items", lines, json.loads)
    found: list[str] = []
    for query in queries:
        matched(flow, items, query, found)
    run_main(flow)
    counts = Counter(found)
    print(json.dumps({query["name"]: counts[query["name"]] for query in queries}))


def matched(flow: Dataflow, items: Any, query: Query, found: list[str]) -> None:
    name, equal, differ = query["name"], query["equal"], query["differ"]
    channel, window = query["channel"], query["seconds"]

    def key(item: Item) -> str:
        return "\0".join(item[leaf] for leaf in equal)

    def step(earlier: list[Item] | None, item: Item) -> tuple[list[Item], list[str]]:
        retained = [one for one in earlier or () if item["time"] - one["time"] <= window]
        pairs = [
            name
            for one in retained
            if one["time"] < item["time"] and all(one[leaf] != item[leaf] for leaf in differ)
        ]
        if channel is None or item["channel_url"] == channel:
            retained.append(item)
        return retained, pairs

    keyed = op.key_on(f"{name} key", items, key)
    joined = op.stateful_flat_map(f"{name} join", keyed, step)
    op.output(f"{name} out", op.map(f"{name} name", joined, lambda one: one[1]), TestingSink(found))


main(Path(sys.argv[1]))
