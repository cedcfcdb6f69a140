"""Pathway: an interval join for each query over the table of the file's lines, and its count."""

import json
import sys
from pathlib import Path
from typing import Any

import pathway as pw

Query = dict[str, Any]


class Item(pw.Schema):
    time: int
    item_url: str
    channel_url: str
    title: str


def main(folder: Path) -> None:
    item = pw.io.jsonlines.read(str(folder / "items.jsonl"), schema=Item, mode="static")
    queries = json.loads((folder / "queries.json").read_text())
    counts = {query["name"]: 0 for query in queries}
    for query in queries:
        count(item, query, counts)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    print(json.dumps(counts))


def count(item: pw.Table, query: Query, counts: dict[str, int]) -> None:
    earlier, later = item, item.copy()
    if query["channel"]:
        earlier = earlier.filter(earlier.channel_url == query["channel"])
    equal = [earlier[leaf] == later[leaf] for leaf in query["equal"]]
    interval = pw.temporal.interval(1, query["seconds"])
    found = earlier.interval_join(later, earlier.time, later.time, interval, *equal)
    differ = query["differ"]
    columns = {
        f"{side}_{leaf}": table[leaf]
        for leaf in differ
        for side, table in (("a", earlier), ("b", later))
    }
    pairs = found.select(a=earlier.time, b=later.time, **columns)
    for leaf in differ:
        pairs = pairs.filter(pairs[f"a_{leaf}"] != pairs[f"b_{leaf}"])

    def take(key: Any, row: Query, time: int, is_addition: bool) -> None:
        counts[query["name"]] = row["count"] if is_addition else counts[query["name"]]

    pw.io.subscribe(pairs.reduce(count=pw.reducers.count()), take)


main(Path(sys.argv[1]))
