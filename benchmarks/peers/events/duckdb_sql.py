"""DuckDB by hand: for each sequence a self-join, for each total a window function; all events in
one run, as nothing is incremental."""

import json
import sys
from pathlib import Path
from typing import Any

import duckdb

SEQUENCE = """
    SELECT count(*) FROM (
        SELECT a.id FROM event a JOIN event b ON a.who = b.who AND b.amount > a.amount
            AND b.time > a.time AND b.time <= a.time + $seconds
        WHERE a.kind = $first AND b.kind = $second GROUP BY a.id)
"""
TOTAL = """
    SELECT count(*) FROM (
        SELECT sum(amount) OVER (
            PARTITION BY who ORDER BY time RANGE BETWEEN {seconds} PRECEDING AND CURRENT ROW
        ) AS total FROM event WHERE kind = $first)
    WHERE total > $total
"""

Query = dict[str, Any]


def main(folder: Path) -> None:
    database = duckdb.connect()
    database.execute(
        f"CREATE TABLE event AS FROM read_json('{folder / 'events.jsonl'}', format = 'nd')"
    )
    queries = json.loads((folder / "queries.json").read_text())
    print(json.dumps({query["name"]: count(database, query) for query in queries}))


def count(database: duckdb.DuckDBPyConnection, query: Query) -> int:
    if query["second"]:
        names, sql = ("first", "second", "seconds"), SEQUENCE
    else:
        names, sql = ("first", "total"), TOTAL.format(seconds=query["seconds"])
    found: int = database.execute(sql, {name: query[name] for name in names}).fetchall()[0][0]
    return found


main(Path(sys.argv[1]))
