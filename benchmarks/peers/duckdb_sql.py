"""DuckDB by hand: a SELECT for each query, or one for each form of query, with a table of their
constants; all items in one run, as nothing is incremental."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb

PAIRS = "a.time < b.time AND b.time <= a.time + {window}"

Query = dict[str, Any]


def main(folder: Path, way: str) -> None:
    database = duckdb.connect()
    database.execute(
        f"CREATE TABLE item AS FROM read_json('{folder / 'items.jsonl'}', format = 'nd')"
    )
    queries = json.loads((folder / "queries.json").read_text())
    find = by_statement if way == "statements" else by_table
    print(json.dumps(find(database, queries)))


def joined(query: Query, window: str) -> str:
    equal = [f"a.{leaf} = b.{leaf}" for leaf in query["equal"]]
    differ = [f"a.{leaf} <> b.{leaf}" for leaf in query["differ"]]
    return " AND ".join([*equal, *differ, PAIRS.format(window=window)])


def by_statement(database: duckdb.DuckDBPyConnection, queries: list[Query]) -> dict[str, int]:
    counts = {}
    for query in queries:
        channel = "AND a.channel_url = ?" if query["channel"] else ""
        sql = f"""SELECT count(*) FROM item a JOIN item b
            ON {joined(query, str(query["seconds"]))} {channel}"""
        parameters = [query["channel"]] if query["channel"] else []
        counts[query["name"]] = database.execute(sql, parameters).fetchall()[0][0]
    return counts


def by_table(database: duckdb.DuckDBPyConnection, queries: list[Query]) -> dict[str, int]:
    forms = defaultdict[str, list[Query]](list)
    for query in queries:
        forms[str((query["equal"], query["differ"], bool(query["channel"])))].append(query)
    counts = {query["name"]: 0 for query in queries}
    for some in forms.values():
        database.execute("CREATE OR REPLACE TABLE query (name TEXT, channel TEXT, seconds BIGINT)")
        rows = [(q["name"], q["channel"], q["seconds"]) for q in some]
        database.executemany("INSERT INTO query VALUES (?, ?, ?)", rows)
        channel = "q.channel = a.channel_url" if some[0]["channel"] else "true"
        sql = f"""SELECT q.name, count(*) FROM item a JOIN query q ON {channel}
            JOIN item b ON {joined(some[0], "q.seconds")} GROUP BY q.name"""
        counts.update(database.execute(sql).fetchall())
    return counts


main(Path(sys.argv[1]), sys.argv[2])
