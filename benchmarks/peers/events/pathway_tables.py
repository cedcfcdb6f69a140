"""Pathway: an interval join for each query over the table of the file's lines, grouped by its
earlier event (a sequence) or its later one (a total), and their number."""

import json
import sys
from pathlib import Path
from typing import Any

import pathway as pw

Query = dict[str, Any]


class Event(pw.Schema):
    key: str
    time: int
    kind: str
    who: str
    amount: int


def main(folder: Path) -> None:
    event = pw.io.jsonlines.read(str(folder / "events.jsonl"), schema=Event, mode="static")
    queries = json.loads((folder / "queries.json").read_text())
    counts = {query["name"]: 0 for query in queries}
    for query in queries:
        count(event, query, counts)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    print(json.dumps(counts))


def count(event: pw.Table, query: Query, counts: dict[str, int]) -> None:
    one = event.filter(event.kind == query["first"])
    found = sequence(event, one, query) if query["second"] else total(one, query)

    def take(key: Any, row: Query, time: int, is_addition: bool) -> None:
        counts[query["name"]] = row["count"] if is_addition else counts[query["name"]]

    pw.io.subscribe(found.reduce(count=pw.reducers.count()), take)


def sequence(event: pw.Table, first: pw.Table, query: Query) -> pw.Table:
    second = event.filter(event.kind == query["second"])
    interval = pw.temporal.interval(1, query["seconds"])
    pairs = first.interval_join(
        second, first.time, second.time, interval, first.who == second.who
    ).select(first=first.key, less=first.amount, more=second.amount)
    pairs = pairs.filter(pairs.more > pairs.less)
    return pairs.groupby(pairs.first).reduce(pairs.first)


def total(earlier: pw.Table, query: Query) -> pw.Table:
    later = earlier.copy()
    interval = pw.temporal.interval(-query["seconds"], 0)
    pairs = later.interval_join(
        earlier, later.time, earlier.time, interval, later.who == earlier.who
    ).select(later=later.key, amount=earlier.amount)
    sums = pairs.groupby(pairs.later).reduce(pairs.later, total=pw.reducers.sum(pairs.amount))
    return sums.filter(sums.total > query["total"])


main(Path(sys.argv[1]))
