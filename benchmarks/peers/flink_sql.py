"""Flink SQL, local: an interval join for each query, all in one statement set, over a table of the
file's lines with a watermark."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

ITEMS = """
    CREATE TABLE item (
        id STRING, `time` BIGINT, item_url STRING, channel_url STRING, title STRING,
        description STRING,
        moment AS TO_TIMESTAMP_LTZ(`time`, 0), WATERMARK FOR moment AS moment
    ) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json')
"""
MATCHES = """
    CREATE TABLE found (name STRING, earlier STRING, later STRING)
    WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')
"""

Query = dict[str, Any]


def main(folder: Path) -> None:
    configuration = Configuration().set_string("parallelism.default", "1")
    for bound in ("min", "max"):
        # By default 64 MB, which is too little for the joins of a thousand queries.
        configuration.set_string(f"taskmanager.memory.network.{bound}", "1gb")
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    tables = TableEnvironment.create(settings.with_configuration(configuration).build())
    tables.execute_sql(ITEMS.format(folder / "items.jsonl"))
    found = folder / "found"
    tables.execute_sql(MATCHES.format(found))
    queries = json.loads((folder / "queries.json").read_text())
    statements = tables.create_statement_set()
    for query in queries:
        statements.add_insert_sql(f"INSERT INTO found {joined(query)}")
    statements.execute().wait()
    counts = Counter(
        line.partition(",")[0].strip('"')
        for file in found.rglob("*")
        if file.is_file()
        for line in file.read_text().splitlines()
    )
    print(json.dumps({query["name"]: counts[query["name"]] for query in queries}))


def joined(query: Query) -> str:
    equal = [f"a.{leaf} = b.{leaf}" for leaf in query["equal"]]
    differ = [f"a.{leaf} <> b.{leaf}" for leaf in query["differ"]]
    channel = [f"a.channel_url = '{query['channel']}'"] if query["channel"] else []
    days = query["seconds"] // 86_400
    time = [f"b.moment > a.moment AND b.moment <= a.moment + INTERVAL '{days}' DAY(3)"]
    conditions = " AND ".join([*equal, *differ, *channel, *time])
    return f"SELECT '{query['name']}', a.id, b.id FROM item a JOIN item b ON {conditions}"


main(Path(sys.argv[1]))
